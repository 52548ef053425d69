"""Rows 8 to 24 of docs/verdicts.md as one table: the first line that fits an answer is its verdict.

A row with sub-cases takes several lines. Rows 16 and 17 are made of 18 where a newer token may mend it: routing/relogin.py.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from providers.anthropic import holds, phrases, signs
from providers.anthropic import signatures as sig
from providers.anthropic.signatures import on, says
from providers.anthropic.signs import Signs
from providers.contract import Answer
from routing.rules import Rules
from routing.verdicts import HoldOrder, Hop, Left, Verdict, VerdictKind
from routing.words import Demand


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table: what it takes, and what follows.

    same: seconds before each further try of the same account. unless_fits: the line that stands in for it when the
    first of those waits no longer fits the exchange. asks_renewal: whether a newer token may mend it.
    """

    number: int
    kind: VerdictKind
    fits: sig.Signature
    because: Callable[[Signs], str]
    hold: Callable[[Signs], HoldOrder] | None = None
    same: Callable[[Signs], tuple[float, ...]] | None = None
    hop: Hop = Hop.NO
    left: Left = Left.RELAY
    unless_fits: "Row | None" = None
    asks_renewal: bool = False

    def verdict(self, s: Signs) -> Verdict:
        """What the line makes of an answer that it fits."""
        return Verdict(
            row=self.number,
            kind=self.kind,
            because=self.because(s),
            same=tuple(timedelta(seconds=wait) for wait in self.same(s)) if self.same else (),
            hop=self.hop,
            left=self.left,
            hold=self.hold(s) if self.hold else None,
            unless_fits=self.unless_fits.verdict(s) if self.unless_fits else None,
            asks_renewal=self.asks_renewal,
        )


_K, _EACH, _ONE, _OWN = VerdictKind, Hop.EACH, Hop.ONE, Left.OWN


def _throttle_waits(s: Signs) -> tuple[float, ...]:
    return s.throttle_s, s.throttle_s


def _overloaded_waits(s: Signs) -> tuple[float, ...]:
    return s.rules.retry.overloaded


def _server_waits(s: Signs) -> tuple[float, ...]:
    return s.rules.retry.server_error


# fmt: off
_LONG_THROTTLE = Row(14, _K.THROTTLE, on(429, sig.is_throttle), phrases.throttled, hold=holds.throttle, hop=_ONE)

ROWS = (
    Row(8, _K.OK, sig.is_answered, phrases.answered),
    Row(9, _K.OVERAGE, sig.is_avoided, phrases.overage, hold=holds.limit, hop=_EACH, left=_OWN),
    # "Usage credits are required …" and "Extra usage is required …"
    Row(10, _K.CREDIT, on(429, says("required for long context")), phrases.quoted, hop=_ONE),
    Row(10, _K.CREDIT, on(429, says("fast mode")), phrases.quoted),
    Row(11, _K.CREDIT, on(429, sig.coded("credits_required")), phrases.no_credits, hold=holds.credit, hop=_EACH),
    Row(11, _K.CREDIT, on(429, sig.coded("enforced_spend_limit_reached")), phrases.spend_limit,
        hold=holds.month, hop=_EACH),
    Row(12, _K.MODEL_LIMIT, on(429, sig.is_line_limit), phrases.limit, hold=holds.limit, hop=_EACH, left=_OWN),
    Row(13, _K.LIMIT, on(429, sig.is_limit), phrases.limit, hold=holds.limit, hop=_EACH, left=_OWN),
    Row(14, _K.THROTTLE, on(429, sig.is_short_throttle), phrases.throttled,
        same=_throttle_waits, unless_fits=_LONG_THROTTLE),
    _LONG_THROTTLE,
    Row(15, _K.BARE, on(429, sig.is_startup), phrases.bare),
    Row(15, _K.BARE, on(429), phrases.bare, hop=_ONE),
    Row(18, _K.AUTH, on(401), phrases.locked_out, hold=holds.auth, hop=_EACH, left=_OWN, asks_renewal=True),
    Row(18, _K.AUTH, on(403, says("token has been revoked")), phrases.locked_out,
        hold=holds.auth, hop=_EACH, left=_OWN, asks_renewal=True),
    Row(18, _K.AUTH, on(403, says("currently not allowed for this organization")), phrases.locked_out,
        hold=holds.auth, hop=_EACH, left=_OWN),
    Row(18, _K.AUTH, on(403, sig.is_account_on_hold), phrases.locked_out, hold=holds.auth, hop=_EACH, left=_OWN),
    Row(18, _K.AUTH, on(400, says("organization has been disabled")), phrases.locked_out,
        hold=holds.auth, hop=_EACH, left=_OWN),
    Row(19, _K.FORBIDDEN, on(403), phrases.forbidden, hold=holds.forbidden, hop=_EACH, left=_OWN),
    Row(20, _K.CREDIT, on(402), phrases.quoted, hold=holds.balance, hop=_EACH, left=_OWN),
    Row(20, _K.CREDIT, on(400, says("credit balance is too low")), phrases.quoted, hold=holds.balance, hop=_EACH),
    Row(20, _K.CREDIT, on(400, says("out of extra usage")), phrases.quoted, hold=holds.soonest_reset, hop=_EACH),
    Row(20, _K.CREDIT, on(400, sig.is_usage_limit), phrases.quoted, hold=holds.soonest_reset, hop=_EACH),
    Row(21, _K.OVERLOADED, sig.on_server_error(sig.is_overloaded), phrases.overloaded,
        same=_overloaded_waits, hop=_ONE),
    Row(22, _K.SERVER, sig.on_server_error(sig.forbids_retry), phrases.server_error),
    Row(22, _K.SERVER, sig.on_server_error(), phrases.server_error, same=_server_waits, hop=_ONE),
    Row(23, _K.CLIENT_FAULT, lambda s: not s.is_good, phrases.client_fault),
)
# fmt: on

# Row 24: an error as the first event of a stream is judged by the row of its type; every other type is row 23.
EVENT_ROW = 24
EVENT_ROWS = {
    "overloaded_error": 21,
    "api_error": 22,
    "timeout_error": 22,
    "rate_limit_error": 15,
    "authentication_error": 18,
    "permission_error": 19,
}
OTHER_EVENT_ROW = 23


def classify(answer: Answer, demand: Demand, rules: Rules, now: datetime) -> Verdict:
    """The first line of the table that fits."""
    shown = Signs(answer=answer, demand=demand, rules=rules, now=now)
    row = next((row for row in ROWS if row.fits(shown)), None)
    return _event_verdict(shown) if row is None else row.verdict(shown)


def _event_verdict(shown: Signs) -> Verdict:
    """As the row of its type, but nothing replaces the stream when nothing is left, and its login was good for a 200."""
    apart = signs.outside_stream(shown)
    number = EVENT_ROWS.get(shown.fault.type, OTHER_EVENT_ROW)
    row = next(row for row in ROWS if row.number == number and row.fits(apart))
    verdict = row.verdict(apart)
    because = f"the stream began with an error: {verdict.because}"
    return replace(verdict, row=EVENT_ROW, left=Left.RELAY, because=because, asks_renewal=False)
