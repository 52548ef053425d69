"""A moment as people read it in a reason, and as one whole number."""

from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
MINUTE_US = 60_000_000
_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")  # strftime's would be the locale's
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_SOON = timedelta(hours=20)  # an hour alone that is a day away would be read as now


def said(at: datetime, now: datetime) -> str:
    """A time in UTC: the hour alone when it is the next such hour, or nearly so; a naive one counts as UTC."""
    at = at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    clock = f"{at:%H:%M} UTC"
    if abs(at - now) < _SOON:
        return clock
    return f"{_DAYS[at.weekday()]} {at.day} {_MONTHS[at.month - 1]} {clock}"


def microseconds(at: datetime) -> int:
    """Count the microseconds since 1970: the same moments are the same numbers; a naive one counts as UTC."""
    return ((at if at.tzinfo is not None else at.replace(tzinfo=UTC)) - _EPOCH) // _MICROSECOND


def nearest_minute(moment_us: int) -> int:
    """Count the minutes since 1970 to the nearest whole one: a reset that is reported a few seconds apart is the same."""
    return round(moment_us / MINUTE_US)
