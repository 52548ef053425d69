"""What an answer's headers say about use and limits."""

import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import lru_cache

from providers import times
from routing.readings import Reading, Status
from routing.windows import Window

UNIFIED = "anthropic-ratelimit-unified-"
MOST_USED = (
    100.0  # times the limit; paid use passes 1.0 by a little, and a time or a count in the place of a fraction by far
)
# As docs/facts/anthropic.md#unified-headers says: Keys that name no span (overage, fallback) are labels, not windows.
_FIELD = re.compile(UNIFIED + r"(.+)-(utilization|reset|status)")
_CLASSIC = re.compile(r"anthropic-ratelimit-(?:requests|tokens|input-tokens|output-tokens)-(?:limit|remaining|reset)")
_CLAIM_SPANS = {"five_hour": "5h", "seven_day": "7d"}
_CLAIM_LINES = {"overage_included": "oi"}  # See docs/facts/anthropic.md#model-windows.


def readings(headers: Mapping[str, str], *, sent_at: datetime, now: datetime) -> tuple[Reading, ...]:
    """The windows that the headers report, shortest first; a field that cannot be read counts as not reported."""
    windows: dict[Window, dict[str, str]] = {}
    for name, value in headers.items():
        place = _place(name)
        if place is not None:
            windows.setdefault(place[0], {})[place[1]] = value
    found = (_reading(window, fields, sent_at, now=now) for window, fields in windows.items())
    return tuple(sorted(filter(None, found), key=lambda reading: (reading.window.length, reading.window.key)))


@lru_cache(maxsize=512)  # the same names come with every answer
def _place(name: str) -> tuple[Window, str] | None:
    """Which field of which window a header is."""
    match = _FIELD.fullmatch(name.lower())
    window = Window.parse(match[1]) if match else None
    return None if match is None or window is None else (window, match[2])


def _reading(window: Window, fields: Mapping[str, str], sent_at: datetime, *, now: datetime) -> Reading | None:
    used = _used(fields.get("utilization", ""))
    resets_at = times.reset(fields.get("reset", ""), window.length, now)
    status = _status(fields.get("status", ""))
    if used is None and resets_at is None and status is None:
        return None
    return Reading(window=window, used=used, resets_at=resets_at, status=status, sent_at=sent_at, taken_at=now)


def _used(text: str) -> float | None:
    """A fraction, in whatever size it is believable; it is never rescaled."""
    used = times.number(text)
    return used if used is not None and used <= MOST_USED else None


def unified_status(headers: Mapping[str, str]) -> Status | None:
    """The provider's word on the request as a whole."""
    return _status(headers.get(UNIFIED + "status", ""))


def unified_reset(headers: Mapping[str, str], length: timedelta, now: datetime) -> datetime | None:
    """When the deciding window, of that length, resets."""
    return times.reset(headers.get(UNIFIED + "reset", ""), length, now)


def claim(headers: Mapping[str, str]) -> Window | None:
    """The window that the provider names as the deciding one; None when it names none."""
    text = headers.get(UNIFIED + "representative-claim", "").strip().lower()
    for name, key in _CLAIM_SPANS.items():
        if text == name:
            return Window.parse(key)
        if text.startswith(name + "_"):
            line = text.removeprefix(name + "_")
            return Window.parse(f"{key}_{_CLAIM_LINES.get(line, line)}")
    return None


def claim_name(window: Window) -> str:
    """The provider's name for a window, as a claim has it."""
    span, _, line = window.key.partition("_")
    names = {key: name for name, key in _CLAIM_SPANS.items()}
    lines = {short: long for long, short in _CLAIM_LINES.items()}
    head = names.get(span, span)
    return f"{head}_{lines.get(line, line)}" if line else head


def has_usage(headers: Mapping[str, str]) -> bool:
    """Whether the headers say anything about use, in the unified form or in the classic one."""
    return any(map(tells_usage, headers))


@lru_cache(maxsize=512)
def tells_usage(name: str) -> bool:
    """Whether a header of that name says anything about use."""
    low = name.lower()
    return low.startswith(UNIFIED) or _CLASSIC.fullmatch(low) is not None


def retry_after(headers: Mapping[str, str], now: datetime) -> timedelta | None:
    """How long the provider asks us to stay away; None when it does not say, or says nonsense."""
    return times.delay(headers.get("retry-after", ""), now)


def _status(text: str) -> Status | None:
    try:
        return Status(text.strip().lower())
    except ValueError:
        return None
