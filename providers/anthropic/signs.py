"""What one answer shows, read once, so that the rows of the table only look."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from providers import times
from providers.anthropic import headers
from providers.anthropic.errors import Fault, read_fault
from providers.contract import Answer
from routing.readings import Reading, Status
from routing.rules import Rules
from routing.windows import Window
from routing.words import Demand

_CLOCKS_DIFFER = timedelta(seconds=5)
_WEEK = timedelta(days=7)
_GOOD = range(200, 300)

# The status with which the vendor would have sent an error that it sent inside a stream.
_EVENT_STATUS = {
    "overloaded_error": 529,
    "api_error": 500,
    "timeout_error": 504,
    "rate_limit_error": 429,
    "authentication_error": 401,
    "permission_error": 403,
}
_OTHER_EVENT_STATUS = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class Signs:
    """An answer, the request it answers, and the moment.

    unified_reset: plausible for the claimed window, or for a week where none is claimed.
    retry_forbidden: the provider says that another try is in vain.
    """

    status: int
    fault: Fault
    readings: tuple[Reading, ...]
    unified_status: Status | None
    claim: Window | None
    unified_reset: datetime | None
    retry_after: timedelta | None
    has_usage: bool
    retry_forbidden: bool
    in_stream: bool
    demand: Demand
    rules: Rules
    now: datetime

    @property
    def is_good(self) -> bool:
        """Whether the status is a 2xx."""
        return self.status in _GOOD

    @property
    def rejected(self) -> tuple[Window, ...]:
        """The windows that the provider calls rejected, shortest first."""
        return tuple(reading.window for reading in self.readings if reading.status is Status.REJECTED)

    @property
    def is_rejected(self) -> bool:
        """Whether the answer holds a rejection: overage fields and classic remainders are none."""
        return self.unified_status is Status.REJECTED or bool(self.rejected)

    @property
    def is_of_one_line(self) -> bool:
        """Whether a model line's window alone is the cause of the rejection."""
        if any(window.is_shared for window in self.rejected):
            return False
        return bool(self.rejected) or (self.claim is not None and not self.claim.is_shared)

    @property
    def throttle_s(self) -> float:
        """How many seconds a throttled account asks to be left alone."""
        return self.rules.retry.throttle_default_s if self.retry_after is None else self.retry_after.total_seconds()

    def after(self, seconds: float) -> datetime:
        """The moment so many seconds from now."""
        return self.now + timedelta(seconds=seconds)


def read(answer: Answer, demand: Demand, rules: Rules, *, now: datetime) -> Signs:
    """Everything about an answer that a row may look at."""
    claim = headers.claim(answer.headers)
    event = answer.error_event
    return Signs(
        status=answer.status,
        fault=read_fault(answer.body if event is None else event),
        readings=headers.readings(answer.headers, sent_at=now, now=now),
        unified_status=headers.unified_status(answer.headers),
        claim=claim,
        unified_reset=headers.unified_reset(answer.headers, claim.length if claim else _WEEK, now),
        retry_after=headers.retry_after(answer.headers, now),
        has_usage=headers.has_usage(answer.headers),
        retry_forbidden=answer.headers.get("x-should-retry", "").strip().lower() == "false",
        in_stream=event is not None,
        demand=demand,
        rules=rules,
        now=now,
    )


def outside_stream(signs: Signs) -> Signs:
    """The error of a stream as if it had come as an answer; a stream's own headers tell of its start only."""
    status = _EVENT_STATUS.get(signs.fault.type, _OTHER_EVENT_STATUS)
    return replace(signs, status=status, readings=(), unified_status=None, claim=None, has_usage=False)


def _just_past(signs: Signs) -> timedelta:
    """How long to stay away when a window is rejected whose reset, by our clock, is a moment ago."""
    return min(signs.retry_after or _CLOCKS_DIFFER, times.EARLY)


def limit_end(signs: Signs, windows: tuple[Window, ...], measure: Window | None) -> datetime:
    """When a limit ends: the latest reset of its windows, else what the answer says, else a short time from now.

    measure: the window that bounds what the answer says; None is a week.
    """
    resets = [r.resets_at for r in signs.readings if r.window in windows and r.resets_at is not None]
    if resets:
        return max(resets) if max(resets) > signs.now else signs.now + _just_past(signs)
    longest = (measure.length if measure else _WEEK) + times.LATE
    if signs.unified_reset is not None:
        return min(signs.unified_reset, signs.now + longest)
    if signs.retry_after is not None:
        return signs.now + min(signs.retry_after, longest)
    return signs.after(signs.rules.hold.unknown_s)
