"""What keeps accounts from serving: their holds, and what is known of their logins."""

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from routing.health import Standing
from routing.holds import (
    AccountHolds,
    Cure,
    Hold,
    after_acceptance,
    after_measuring,
    after_success,
    barring,
    by_answers,
    end_of,
    ended_login,
    placed,
    refused_login,
    taken_back,
    unrenewed,
    unsigned,
)
from routing.logins import Logins
from routing.observations import Answered, Checked, Dispatched, Measured, RenewalFailed
from routing.readings import Reading
from routing.remembered import Remembered
from routing.rules import Holds
from routing.trail import Trail
from routing.verdicts import FORBIDDEN_ROW, LOGIN_ROWS, AuthLadder
from routing.words import AccountId, ExchangeId


@dataclass(slots=True)
class Held:
    """All holds by account, ended ones included; every account that it is told of is there.

    unsigned: accounts whose secret is not at hand, and why. retested: by provider, when a request last went out on an account in
    spite of its hold.
    """

    rules: Holds
    holds: dict[AccountId, AccountHolds] = field(default_factory=dict)
    logins: Logins = field(default_factory=Logins)
    unsigned: Mapping[AccountId, str] = field(default_factory=dict)
    retested: dict[str, datetime] = field(default_factory=dict)

    def sign(self, missing: Mapping[AccountId, str]) -> None:
        """Hold who has no secret, for as long as that lasts."""
        for account in self.unsigned.keys() | missing.keys():
            others = (h for h in self.holds.get(account, ()) if h.cure is not Cure.SECRET)
            self._keep(account, (*others, unsigned(account, missing[account])) if account in missing else others)
        self.unsigned = dict(missing)

    def dispatched(self, told: Dispatched) -> None:
        """A request goes out on an account, perhaps in spite of its hold."""
        if barring(self.holds.get(told.account, ()), told.demand, told.at):
            self.retested[told.demand.provider] = told.at

    def served(self, told: Answered) -> None:
        """Lift what the answer disproves."""
        held = self.holds.get(told.account, ())
        if held:
            self._keep(told.account, after_success(held, told.demand, told.readings, told.sent_at))
        self.logins.accepted(told.account, told.sent_at, told.at)

    def refused(self, told: Answered, readings: Iterable[Reading]) -> None:
        """Set the hold that the verdict orders; readings: all of the account's."""
        order = told.verdict.hold
        if order is None:
            return
        ladder = None
        if isinstance(order.until, AuthLadder):
            ladder = self.logins.refused(told.account, told.sent_at, told.at)
        until = end_of(order.until, ladder, readings, self.rules, told.at)
        if until is not None:
            hold = Hold(
                account=told.account,
                family=order.family,
                row=told.verdict.as_row,
                until=until,
                because=told.verdict.because,
                windows=order.windows,
                set_at=told.at,
                by=told.exchange,
            )
            self._place(hold)

    def measured(self, told: Measured) -> None:
        """Lift what rests on windows that have room."""
        held = self.holds.get(told.account, ())
        self._keep(told.account, after_measuring(held, told.readings, told.sent_at))

    def ended(self, exchange: ExchangeId, trail: Trail) -> None:
        """Take back the holds of row 19 where the request is to blame."""
        if all_said_forbidden(trail):
            for account in {attempt.account for attempt in trail.attempts}:
                self._keep(account, taken_back(self.holds.get(account, ()), exchange))

    def renewed(self, account: AccountId) -> None:
        """It has a new credential: what the one before was refused for bars it no more."""
        self.logins.renew(account)
        self._keep(account, (h for h in self.holds.get(account, ()) if h.cure is not Cure.LOGIN))
        self._end(account, LOGIN_ROWS)

    def renewal_failed(self, told: RenewalFailed) -> None:
        """Hold the account whose access token serves no more; of another it is only to be told."""
        if not told.bars:
            self.logins.unrenewed[told.account] = told
            return
        self.logins.unrenewed.pop(told.account, None)
        if told.until is None:
            self._place(ended_login(told.account, told.because, told.at))
        else:
            self._place(unrenewed(told.account, told.because, told.at, told.until))

    def checked(self, told: Checked) -> None:
        """Take in what a check of a credential showed."""
        if told.standing is Standing.VALID:
            self._keep(told.account, after_acceptance(self.holds.get(told.account, ()), told.at))
            self.logins.accepted(told.account, told.at, told.at, is_certain=True)
        elif told.standing.is_refusal:
            self._lock(told)
        else:
            self.logins.undecided(told.account, told.at)

    def lifted(self, account: AccountId) -> frozenset[str]:
        """End an account's holds, and name the windows that they rest on."""
        windows = frozenset(key for hold in self.holds.get(account, ()) for key in hold.windows)
        self.logins.forgive(account)
        self._end(account)
        return windows

    def restore(self, old: Remembered) -> None:
        """Take in what was known before; what was met since stays."""
        for hold in (hold for holds in old.holds.values() for hold in holds):
            self._place(hold)
        self.logins.restore(old.ladders, old.checks, old.lifetimes)

    def lasting(self) -> dict[AccountId, AccountHolds]:
        """What outlives a restart: who has a secret then, and whose login has ended, is seen then."""
        told = {account: by_answers(held) for account, held in self.holds.items()}
        return {account: held for account, held in told.items() if held}

    def drop(self, account: AccountId) -> None:
        """The account is gone."""
        self.holds.pop(account, None)
        self.logins.drop(account)

    def _lock(self, told: Checked) -> None:
        """Hold it as an answer would; the ladder says for how long."""
        ladder = self.logins.refused(told.account, told.at, told.at)
        if ladder is not None:
            until = told.at + ladder.span(self.rules)
            self._place(refused_login(told.account, told.because or "its credential is not accepted", told.at, until))

    def _end(self, account: AccountId, rows: Container[int] | None = None) -> None:
        """End an account's holds of these rows, or all; not where only a secret or a new login cures it."""
        held = self.holds.get(account, ())
        self._keep(account, (h for h in held if h.cure is not Cure.ANSWER or not (rows is None or h.row in rows)))

    def _place(self, hold: Hold) -> None:
        self.holds[hold.account] = placed(self.holds.get(hold.account, ()), hold)

    def _keep(self, account: AccountId, holds: Iterable[Hold]) -> None:
        kept = tuple(holds)
        if kept:
            self.holds[account] = kept
        else:
            self.holds.pop(account, None)


def all_said_forbidden(trail: Trail) -> bool:
    """Whether every account that the exchange asked answered, at last, with row 19: then the request is to blame."""
    last = {attempt.account: attempt.verdict.as_row for attempt in trail.attempts}
    return bool(last) and set(last.values()) == {FORBIDDEN_ROW}
