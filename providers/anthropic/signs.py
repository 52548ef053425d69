"""What one answer shows, each thing read once, so that the rows of the table only look."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cached_property

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


@dataclass(frozen=True, kw_only=True)
class Signs:
    """An answer, the request it answers, and the moment; what a row does not look at is never read."""

    answer: Answer
    demand: Demand
    rules: Rules
    now: datetime

    @property
    def status(self) -> int:
        """The status, or the one with which an error inside a stream would have been sent."""
        return self.answer.status

    @property
    def in_stream(self) -> bool:
        """Whether it is an error that a stream began with."""
        return self.answer.error_event is not None

    @cached_property
    def fault(self) -> Fault:
        """What the error says."""
        event = self.answer.error_event
        return read_fault(self.answer.body if event is None else event)

    @cached_property
    def readings(self) -> tuple[Reading, ...]:
        """The windows that the headers report, shortest first."""
        return headers.readings(self.answer.headers, sent_at=self.now, now=self.now)

    @cached_property
    def unified_status(self) -> Status | None:
        """The provider's word on the request as a whole."""
        return headers.unified_status(self.answer.headers)

    @cached_property
    def claim(self) -> Window | None:
        """The window that the provider names as the deciding one."""
        return headers.claim(self.answer.headers)

    @cached_property
    def unified_reset(self) -> datetime | None:
        """When the deciding window resets: plausible for the claimed one, or for a week where none is claimed."""
        return headers.unified_reset(self.answer.headers, self.claim.length if self.claim else _WEEK, self.now)

    @cached_property
    def retry_after(self) -> timedelta | None:
        """How long the provider asks us to stay away."""
        return headers.retry_after(self.answer.headers, self.now)

    @cached_property
    def has_usage(self) -> bool:
        """Whether the headers say anything about use."""
        return headers.has_usage(self.answer.headers)

    @property
    def retry_forbidden(self) -> bool:
        """Whether the provider says that another try is in vain."""
        return self.answer.headers.get("x-should-retry", "").strip().lower() == "false"

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


def outside_stream(signs: Signs) -> Signs:
    """The error of a stream as if it had come as an answer; a stream's own headers tell of its start only."""
    status = _EVENT_STATUS.get(signs.fault.type, _OTHER_EVENT_STATUS)
    kept = {name: value for name, value in signs.answer.headers.items() if not headers.tells_usage(name)}
    return replace(signs, answer=replace(signs.answer, status=status, headers=kept))


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
