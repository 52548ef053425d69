"""What the Router was told, kept in the shape that its choices need."""

from collections.abc import Container, Iterable
from dataclasses import dataclass, field
from datetime import datetime

from routing.holds import (
    AccountHolds,
    Hold,
    Ladder,
    after_success,
    barring,
    by_answers,
    climbed,
    end_of,
    placed,
    taken_back,
    unsigned,
)
from routing.leases import Leases
from routing.observations import (
    AccountsChanged,
    Answered,
    CredentialChanged,
    Dispatched,
    Ended,
    HoldsLifted,
    Observation,
    Restored,
    Succeeded,
)
from routing.ramps import Ramps
from routing.readings import Reading, merge
from routing.remembered import Remembered, still_standing
from routing.rules import Holds
from routing.stickiness import Habits
from routing.trail import Trail
from routing.verdicts import FORBIDDEN_ROW, LOCKED_ROWS, AuthLadder, HoldOrder
from routing.windows import KNOWN_LINES
from routing.words import Account, AccountId, Demand, Family


@dataclass(slots=True)
class Memory:
    """All that was observed; everything but the lines' families is kept by account and goes with it.

    unsigned: accounts whose secret is not at hand. retested: by provider, when a request last went out on an account in spite of
    its hold.
    """

    rules: Holds
    accounts: dict[AccountId, Account] = field(default_factory=dict)
    readings: dict[AccountId, dict[str, Reading]] = field(default_factory=dict)
    holds: dict[AccountId, AccountHolds] = field(default_factory=dict)
    ladders: dict[AccountId, Ladder] = field(default_factory=dict)
    requests: dict[AccountId, int] = field(default_factory=dict)
    lines: dict[str, frozenset[Family]] = field(default_factory=dict)
    leases: Leases = field(default_factory=Leases)
    habits: Habits = field(default_factory=Habits)
    ramps: Ramps = field(default_factory=Ramps)
    unsigned: frozenset[AccountId] = frozenset()
    retested: dict[str, datetime] = field(default_factory=dict)
    revision: int = 0

    def learn(self, observation: Observation) -> None:
        """Take in one observation; what concerns an account that is gone changes nothing."""
        self.revision += 1
        match observation:
            case AccountsChanged():
                self._replace(observation.accounts)
                self._sign(observation.unsigned)
            case CredentialChanged():
                self._unlock(observation.account)
            case HoldsLifted():
                self._free(observation.account)
            case Restored():
                self._restore(still_standing(observation.remembered, self.accounts, observation.at))
            case Dispatched():
                self._dispatched(observation)
            case Answered():
                self._answered(observation)
            case Succeeded():
                self._succeeded(observation)
            case _:
                self._ended(observation)

    def counting(self, account: AccountId, family: Family) -> tuple[Reading, ...]:
        """List the readings of an account's windows that a request of the family uses up."""
        known = self.readings.get(account)
        if not known:
            return ()
        return tuple([r for r in known.values() if r.window.line is None or r.window.counts_for(family, self.lines)])

    def remembered(self) -> Remembered:
        """Draw what outlives a restart."""
        return Remembered(
            readings={(account, key): r for account, known in self.readings.items() for key, r in known.items()},
            holds=self._holds_by_answers(),
            ladders=self.ladders.copy(),
            sticks=self.habits.sticks(),
            lines=self.lines.copy(),
        )

    def _replace(self, accounts: tuple[Account, ...]) -> None:
        now = {account.id: account for account in accounts}
        for gone in self.accounts.keys() - now.keys():
            for known in (self.readings, self.holds, self.ladders, self.requests):
                known.pop(gone, None)
            self.leases.drop(gone)
            self.ramps.drop(gone)
            self.habits.drop(gone)
        self.accounts = now

    def _sign(self, missing: frozenset[AccountId]) -> None:
        """Hold who has no secret, for as long as that lasts."""
        for account in self.unsigned | missing:
            want = (unsigned(account),) if account in missing and account in self.accounts else ()
            self._keep(account, (*by_answers(self.holds.get(account, ())), *want))
        self.unsigned = missing

    def _holds_by_answers(self) -> dict[AccountId, AccountHolds]:
        """What outlives a restart: who has a secret then is seen then."""
        told = {a: by_answers(held) if a in self.unsigned else held for a, held in self.holds.items()}
        return {account: held for account, held in told.items() if held}

    def _unlock(self, account: AccountId) -> None:
        self.ladders.pop(account, None)
        self._end(account, LOCKED_ROWS)

    def _end(self, account: AccountId, rows: Container[int] | None = None) -> None:
        """End an account's holds of these rows, or all; the want of a secret only a secret ends."""
        held = self.holds.get(account, ())
        self._keep(account, (h for h in held if h.ends is None or not (rows is None or h.row in rows)))

    def _free(self, account: AccountId) -> None:
        """End its holds; the readings that they rest on go too: still believed, they would put it behind all others."""
        known = self.readings.get(account, {})
        for hold in self.holds.get(account, ()):
            for key in hold.windows:
                known.pop(key, None)
        self.ladders.pop(account, None)
        self._end(account)

    def _restore(self, old: Remembered) -> None:
        """What was observed since the start is newer."""
        for (account, key), reading in old.readings.items():
            known = self.readings.setdefault(account, {})
            known[key] = merge(reading, known[key]) if key in known else reading
        for account, holds in old.holds.items():
            for hold in holds:
                self.holds[account] = placed(self.holds.get(account, ()), hold)
        self.ladders = {**old.ladders, **self.ladders}
        for line, families in old.lines.items():
            self.lines[line] = self.lines.get(line, frozenset()) | families
        self.habits.restore(old.sticks)

    def _dispatched(self, told: Dispatched) -> None:
        if told.account not in self.accounts:
            self.leases.end(told.exchange)
            return
        self.requests[told.account] = self.requests.get(told.account, 0) + 1
        if barring(self.holds.get(told.account, ()), told.demand, told.at):
            self.retested[told.demand.provider] = told.at
        if not told.demand.side:
            self.leases.move(told.exchange, told.account, told.demand)
            if told.is_move:
                self.ramps.dispatched(told.exchange, told.account, told.at)
            else:
                self.ramps.ended(told.exchange)
            self.habits.asked(told.demand, told.account)

    def _answered(self, told: Answered) -> None:
        if told.account not in self.accounts:
            return
        self._read(told.account, told.readings, told.demand)
        if told.demand.side:
            return
        if not told.verdict.is_refusal:
            self.ramps.answered(told.exchange)
            self._lift(told)
            return
        self.ramps.ended(told.exchange)  # it may wait here for this account, and must not wait for itself
        if told.verdict.hold is not None:
            self._hold(told, told.verdict.hold)

    def _read(self, account: AccountId, readings: tuple[Reading, ...], demand: Demand) -> None:
        known = self.readings.setdefault(account, {}) if readings else {}
        for reading in readings:
            window = reading.window
            held = known.get(window.key)
            known[window.key] = reading if held is None else merge(held, reading)
            if window.line is not None and window.line not in KNOWN_LINES:
                self.lines[window.line] = self.lines.get(window.line, frozenset()) | {demand.family}

    def _lift(self, told: Answered) -> None:
        held = self.holds.get(told.account, ())
        self._keep(told.account, after_success(held, told.demand, told.readings, told.sent_at))
        ladder = self.ladders.get(told.account)
        if ladder is not None and told.sent_at > ladder.set_at:
            del self.ladders[told.account]

    def _hold(self, told: Answered, order: HoldOrder) -> None:
        ladder = None
        if isinstance(order.until, AuthLadder):
            ladder = climbed(self.ladders.get(told.account), told.sent_at, told.at)
            if ladder is not None:
                self.ladders[told.account] = ladder
        until = end_of(order.until, ladder, self.readings.get(told.account, {}).values(), self.rules, told.at)
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
            self.holds[told.account] = placed(self.holds.get(told.account, ()), hold)

    def _succeeded(self, told: Succeeded) -> None:
        account = self.accounts.get(told.account)
        if account is not None and account.enabled and not told.demand.side:
            self.habits.served(told.demand, told.account, told.at)

    def _ended(self, told: Ended) -> None:
        self.leases.end(told.exchange)
        self.ramps.ended(told.exchange)
        if all_said_forbidden(told.trail):
            for account in {attempt.account for attempt in told.trail.attempts}:
                self._keep(account, taken_back(self.holds.get(account, ()), told.exchange))

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
