"""Times as services write them in headers."""

import re
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from math import isfinite

_NUMBER = re.compile(r"[0-9]{1,30}(?:\.[0-9]{0,30})?(?:[eE][+-]?[0-9]{1,3})?")
_MILLISECONDS = 1e11  # as seconds this is the year 5138, so a larger number counts milliseconds
_LAST_SECOND = 253402300799  # the end of the year 9999, where datetime ends
EARLY = timedelta(minutes=1)  # clocks differ: a reset this little in the past is believed
LATE = timedelta(minutes=10)  # windows reset on ten-minute marks
LONGEST_DELAY = timedelta(days=32)  # no limit counts over more than a month; a longer delay is a slip of units
_DECEMBER = 12


def number(text: str) -> float | None:
    """A finite number that is not negative; None for anything else, NaN and infinity included."""
    if _NUMBER.fullmatch(text.strip()) is None:
        return None
    value = float(text)
    return value if isfinite(value) else None


def instant(text: str) -> datetime | None:
    """A point in time written as unix seconds, unix milliseconds or ISO 8601 (without a zone: UTC)."""
    value = number(text)
    if value is not None:
        seconds = value / 1000 if value > _MILLISECONDS else value
        return datetime.fromtimestamp(seconds, UTC) if seconds <= _LAST_SECOND else None
    try:
        return _utc(datetime.fromisoformat(text.strip()))
    except (ValueError, OverflowError):
        return None


def reset(text: str, length: timedelta, now: datetime) -> datetime | None:
    """When a window of that length resets; None when absent or implausible."""
    at = instant(text)
    if at is None or not -EARLY <= at - now <= length + LATE:
        return None
    return at


def delay(text: str, now: datetime) -> timedelta | None:
    """A Retry-After: seconds, whole or not, or an HTTP date; None when absent, past or absurd."""
    value = number(text)
    if value is not None:
        return timedelta(seconds=value) if value <= LONGEST_DELAY.total_seconds() else None
    at = http_date(text)
    return at - now if at is not None and timedelta() <= at - now <= LONGEST_DELAY else None


def http_date(text: str) -> datetime | None:
    """A date as HTTP writes it; None for anything else."""
    try:
        return _utc(parsedate_to_datetime(text))
    except (ValueError, OverflowError, TypeError, IndexError):
        return None


def next_month(now: datetime) -> datetime:
    """The first moment of the next month, UTC."""
    at = _utc(now)
    year, month = (at.year + 1, 1) if at.month == _DECEMBER else (at.year, at.month + 1)
    return datetime(year, month, 1, tzinfo=UTC)


def _utc(at: datetime) -> datetime:
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
