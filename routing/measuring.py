"""Which accounts are measured now, and by what: their windows are read although no client asked anything of them.

Answers to clients come first: an account whose readings are fresh is left alone. The provider counts how often it is asked for use,
per account and for all programs together, so nobody is asked more than once in `every` seconds, and less often after failures.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from routing.gauges import LONGEST, LONGEST_OBEYED, Gauge
from routing.holds import WINDOW_ROWS
from routing.rules import Probing
from routing.snapshot import AccountPicture, State
from routing.words import Kind

CLOCK_STEP = timedelta(minutes=1)  # now went back further than this: what was noted before says nothing
SHORTEST_WINDOW = "5h"
UNASKED = {
    State.DISABLED: "it is disabled",
    State.BROKEN: "its secret is not at hand",
    State.AUTH_DEAD: "its login fails",
    State.ERROR: "its login could not be renewed",
}


class Way(StrEnum):
    """What an account is measured by."""

    USAGE = "usage"  # the provider's own account of it, which costs nothing
    REQUEST = "request"  # the least request there is, which is paid for


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is to be done about one account.

    by: None where no way is open. next_at: when it is measured next; None: not as things stand.
    """

    by: Way | None
    next_at: datetime | None
    because: str

    def is_due(self, now: datetime) -> bool:
        """Whether to measure it now."""
        return self.by is not None and self.next_at is not None and self.next_at <= now


def plan(picture: AccountPicture, gauge: Gauge, rules: Probing, now: datetime, *, may_ask_usage: bool) -> Plan:
    """Say when an account is measured, and by what; may_ask_usage: whether its credential is one that may, as far as is known."""
    because = UNASKED.get(picture.state)
    if because is not None:
        return Plan(by=None, next_at=None, because=because)
    if rules.usage and may_ask_usage and not gauge.is_closed:
        return _timed(Way.USAGE, picture, gauge, rules, now)
    if not rules.paid or picture.account.kind is Kind.API_KEY:
        return Plan(by=None, next_at=None, because=_why_not(picture, rules))
    because = _against_request(picture, now)
    if because:
        return Plan(by=Way.REQUEST, next_at=None, because=because)
    return _timed(Way.REQUEST, picture, gauge, rules, now)


def _why_not(picture: AccountPicture, rules: Probing) -> str:
    if picture.account.kind is Kind.API_KEY:
        return "an API key has no windows"
    return "its token may not ask for use" if rules.usage else "probe.usage is off"


def _against_request(picture: AccountPicture, now: datetime) -> str:
    """Why a paid request is not wanted. It must not be what starts a window, so one has to be known to run."""
    if any(hold.row not in WINDOW_ROWS for hold in picture.holds):
        return "it is held"
    runs = any(w.key == SHORTEST_WINDOW and w.resets_at is not None and w.resets_at > now for w in picture.windows)
    return "" if runs else f"a request could start its {SHORTEST_WINDOW} window"


def _timed(way: Way, picture: AccountPicture, gauge: Gauge, rules: Probing, now: datetime) -> Plan:
    rest = timedelta(seconds=rules.every)  # how long nobody is asked again
    waits = [(window.taken_at + rest, "its readings are fresh", rest) for window in picture.windows]
    if gauge.asked_at is not None:
        waits.append((gauge.asked_at + rest, "it was asked just now", rest))
    if gauge.rest_until is not None:
        waits.append((gauge.rest_until, gauge.because, max(LONGEST, LONGEST_OBEYED, rest)))
    waits = [wait for wait in waits if now < wait[0] <= now + wait[2] + CLOCK_STEP]
    if not waits:
        known = "its readings are old" if picture.windows else "nothing is known of its windows"
        return Plan(by=way, next_at=now, because=known)
    until, because, _ = max(waits, key=lambda wait: wait[0])
    return Plan(by=way, next_at=until, because=because)
