"""What a provider reported of its windows, and how two reports of one window become one."""

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum

from routing.moments import microseconds
from routing.windows import Window


class Status(StrEnum):
    """A provider's own word on a window."""

    ALLOWED = "allowed"
    ALLOWED_WARNING = "allowed_warning"
    REJECTED = "rejected"


class Source(StrEnum):
    """Where a reading came from."""

    ANSWER = "answer"
    USAGE = "usage"
    RESTORED = "restored"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """One report of one window, exactly as the provider made it.

    used: fraction of the limit, 0.0 empty to 1.0 full; providers may pass 1.0. None: not reported, which is not 0.
    resets_at: None when absent or implausible.
    sent_at: when the request went out whose answer carried it; taken_at: when that answer came.
    ends_us: resets_at in microseconds().
    """

    window: Window
    used: float | None
    resets_at: datetime | None
    status: Status | None
    sent_at: datetime
    taken_at: datetime
    source: Source = Source.ANSWER
    ends_us: int | None = field(
        init=False, repr=False, compare=False
    )  # told once: every choice asks it of every window

    def __post_init__(self) -> None:
        """Count to its reset."""
        object.__setattr__(self, "ends_us", None if self.resets_at is None else microseconds(self.resets_at))


JITTER = timedelta(seconds=5)  # the same reset is reported a few seconds apart


def lapsed(reading: Reading, now: datetime) -> bool:
    """Whether the window's reset has passed, so that it is empty whatever was read of it."""
    return reading.resets_at is not None and reading.resets_at <= now


def used_at(reading: Reading, now: datetime) -> float | None:
    """Tell the fraction used as it stands now: 0.0 once the window lapsed; None when it was never reported."""
    return 0.0 if lapsed(reading, now) else reading.used


def merge(held: Reading, incoming: Reading) -> Reading:
    """Make one reading out of two of the same window; answers overtake each other, so the later one is not always truer.

    Order of the rules, first match wins: sent after the held one came in; either reset unknown (the newest stands);
    later reset; earlier reset; same reset (use can only have grown, a rejection stands).
    """
    if incoming.sent_at > held.taken_at:
        return _filled(held, incoming)
    if held.resets_at is None or incoming.resets_at is None:
        return _filled(held, incoming) if incoming.taken_at >= held.taken_at else _filled(incoming, held)
    if incoming.resets_at > held.resets_at + JITTER:
        return incoming
    if incoming.resets_at < held.resets_at - JITTER:
        return held
    return _of_one_window(held, incoming)


def _of_one_window(held: Reading, incoming: Reading) -> Reading:
    """Both count the same span and their requests overlapped."""
    if incoming.used is not None and (held.used is None or incoming.used >= held.used):
        return incoming
    either_rejected = Status.REJECTED in (held.status, incoming.status)
    return replace(
        incoming,
        used=held.used,
        status=Status.REJECTED if either_rejected else held.status or incoming.status,
        sent_at=max(held.sent_at, incoming.sent_at),
        taken_at=max(held.taken_at, incoming.taken_at),
    )


def _filled(older: Reading, newer: Reading) -> Reading:
    """Take the newer reading; where it does not say how much is used, what the older said of the same span stands."""
    if newer.used is not None or lapsed(older, newer.taken_at) or not _may_be_one_window(older, newer):
        return newer
    return replace(newer, used=older.used, status=newer.status or older.status)


def _may_be_one_window(one: Reading, other: Reading) -> bool:
    if one.resets_at is None or other.resets_at is None:
        return True
    return abs(one.resets_at - other.resets_at) <= JITTER
