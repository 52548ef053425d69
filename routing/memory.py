"""What the Router was told, kept in the shape that its choices need."""

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from routing.capacities import Capacities
from routing.given import Given
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
from routing.leases import Leases
from routing.load import Load
from routing.logins import Logins
from routing.observations import (
    AccountsChanged,
    Answered,
    Checked,
    CredentialChanged,
    Dispatched,
    Ended,
    HoldsLifted,
    Measured,
    Observation,
    Paused,
    Pinned,
    RenewalFailed,
    Restored,
    Succeeded,
)
from routing.pins import Pin, Pins
from routing.pressure import Pressures
from routing.queues import Queue
from routing.ramps import Ramps
from routing.readings import Reading, merge
from routing.remembered import Remembered, still_standing
from routing.rules import Holds
from routing.spent import Spent
from routing.stickiness import Habits
from routing.trail import Trail
from routing.verdicts import FORBIDDEN_ROW, LOGIN_ROWS, AuthLadder, HoldOrder
from routing.windows import KNOWN_LINES
from routing.words import Account, AccountId, Family


@dataclass(slots=True)
class Memory:
    """All that was observed; everything but the lines' families is kept by account and goes with it.

    unsigned: accounts whose secret is not at hand, and why. retested: by provider, when a request last went out on an account in
    spite of its hold. reserved: accounts of which something is held back.
    """

    rules: Holds
    accounts: dict[AccountId, Account] = field(default_factory=dict)
    readings: dict[AccountId, dict[str, Reading]] = field(default_factory=dict)
    holds: dict[AccountId, AccountHolds] = field(default_factory=dict)
    logins: Logins = field(default_factory=Logins)
    requests: dict[AccountId, int] = field(default_factory=dict)
    lines: dict[str, frozenset[Family]] = field(default_factory=dict)
    leases: Leases = field(default_factory=Leases)
    habits: Habits = field(default_factory=Habits)
    ramps: Ramps = field(default_factory=Ramps)
    given: Given = field(default_factory=Given)
    pressures: Pressures = field(default_factory=Pressures)
    pins: Pins = field(default_factory=Pins)
    queue: Queue = field(default_factory=Queue)
    reserved: tuple[Account, ...] = ()
    load: Load = field(default_factory=Load)
    capacities: Capacities = field(default_factory=Capacities)
    unsigned: Mapping[AccountId, str] = field(default_factory=dict)
    retested: dict[str, datetime] = field(default_factory=dict)
    revision: int = 0

    def learn(self, observation: Observation) -> None:
        """Take in one observation; what concerns an account that is gone changes nothing."""
        self.revision += 1
        match observation:
            case AccountsChanged():
                self._replace(observation.accounts)
                self._sign(observation.unsigned)
                self.logins.lifetimes |= {a: life for a, life in observation.lifetimes.items() if a in self.accounts}
            case CredentialChanged():
                self._unlock(observation.account)
            case RenewalFailed():
                self._renewal_failed(observation)
            case Checked():
                self._checked(observation)
            case Measured():
                self._measured(observation)
            case HoldsLifted():
                self._free(observation.account)
            case Restored():
                self._restore(still_standing(observation.remembered, self.accounts, observation.at))
            case Pinned():
                self._pin(observation)
            case _:
                self._follow(observation)

    def _follow(self, observation: Paused | Dispatched | Answered | Succeeded | Ended) -> None:
        """Take in what happened to one exchange."""
        match observation:
            case Paused():
                self._paused(observation)
            case Dispatched():
                self._dispatched(observation)
            case Answered():
                self._answered(observation)
            case Succeeded():
                self._succeeded(observation)
            case Ended():
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
            ladders=self.logins.ladders.copy(),
            checks=self.logins.checks.copy(),
            lifetimes=self.logins.lifetimes.copy(),
            sticks=self.habits.sticks(),
            lines=self.lines.copy(),
            pins=self.pins.kept(),
            capacities=self.capacities.remembered(),
        )

    def _replace(self, accounts: tuple[Account, ...]) -> None:
        now = {account.id: account for account in accounts}
        for gone in self.accounts.keys() - now.keys():
            for known in (self.readings, self.holds, self.requests):
                known.pop(gone, None)
            self.logins.drop(gone)
            self.leases.drop(gone)
            self.ramps.drop(gone)
            self.given.drop(gone)
            self.pressures.drop(gone)
            self.pins.drop(gone)
            self.queue.drop(gone)
            self.load.drop(gone)
            self.capacities.drop(gone)
            self.habits.drop(gone)
        self.accounts = now
        self.reserved = tuple(account for account in accounts if account.reserves)
        self.capacities.know(accounts)

    def _sign(self, missing: Mapping[AccountId, str]) -> None:
        """Hold who has no secret, for as long as that lasts."""
        for account in self.unsigned.keys() | missing.keys():
            others = (h for h in self.holds.get(account, ()) if h.cure is not Cure.SECRET)
            is_missing = account in missing and account in self.accounts
            self._keep(account, (*others, unsigned(account, missing[account])) if is_missing else others)
        self.unsigned = dict(missing)

    def _holds_by_answers(self) -> dict[AccountId, AccountHolds]:
        """What outlives a restart: who has a secret then, and whose login has ended, is seen then."""
        told = {account: by_answers(held) for account, held in self.holds.items()}
        return {account: held for account, held in told.items() if held}

    def _unlock(self, account: AccountId) -> None:
        self.logins.renew(account)
        self._keep(account, (h for h in self.holds.get(account, ()) if h.cure is not Cure.LOGIN))
        self._end(account, LOGIN_ROWS)

    def _end(self, account: AccountId, rows: Container[int] | None = None) -> None:
        """End an account's holds of these rows, or all; not where only a secret or a new login cures it."""
        held = self.holds.get(account, ())
        self._keep(account, (h for h in held if h.cure is not Cure.ANSWER or not (rows is None or h.row in rows)))

    def _renewal_failed(self, told: RenewalFailed) -> None:
        """Hold the account whose access token serves no more; of another it is only to be told."""
        if told.account not in self.accounts:
            return
        if not told.bars:
            self.logins.unrenewed[told.account] = told
            return
        self.logins.unrenewed.pop(told.account, None)
        if told.until is None:
            self._place(ended_login(told.account, told.because, told.at))
        else:
            self._place(unrenewed(told.account, told.because, told.at, told.until))

    def _checked(self, told: Checked) -> None:
        if told.account not in self.accounts:
            return
        if told.standing is Standing.VALID:
            self._keep(told.account, after_acceptance(self.holds.get(told.account, ()), told.at))
            self.logins.accepted(told.account, told.at, told.at, is_certain=True)
        elif told.standing.is_refusal:
            self._lock(told)
        else:
            self.logins.undecided(told.account, told.at)

    def _lock(self, told: Checked) -> None:
        """Hold it as an answer would; the ladder says for how long."""
        ladder = self.logins.refused(told.account, told.at, told.at)
        if ladder is not None:
            until = told.at + ladder.span(self.rules)
            self._place(refused_login(told.account, told.because or "its credential is not accepted", told.at, until))

    def _free(self, account: AccountId) -> None:
        """End its holds; the readings that they rest on go too: still believed, they would put it behind all others."""
        known = self.readings.get(account, {})
        for hold in self.holds.get(account, ()):
            for key in hold.windows:
                known.pop(key, None)
        self.logins.forgive(account)
        self._end(account)

    def _restore(self, old: Remembered) -> None:
        """What was observed since the start is newer."""
        for (account, key), reading in old.readings.items():
            known = self.readings.setdefault(account, {})
            known[key] = merge(reading, known[key]) if key in known else reading
        for hold in (hold for holds in old.holds.values() for hold in holds):
            self._place(hold)
        self.logins.restore(old.ladders, old.checks, old.lifetimes)
        for line, families in old.lines.items():
            self.lines[line] = self.lines.get(line, frozenset()) | families
        self.habits.restore(old.sticks)
        self.pins.restore(old.pins)
        self.capacities.restore(old.capacities)

    def _pin(self, told: Pinned) -> None:
        """Take in a wish, in the order of the accounts; one for accounts of which none is there changes nothing."""
        known = tuple(account for account in self.accounts if account in told.accounts)
        if known or not told.accounts:
            self.pins.told(Pin(accounts=known, at=told.at, moves=told.moves), told.session, forces=told.forces)

    def _paused(self, told: Paused) -> None:
        self.leases.end(told.exchange)
        if told.queue:
            self.queue.join(told.exchange, told.queue)
        else:
            self.queue.leave(told.exchange)

    def _dispatched(self, told: Dispatched) -> None:
        self.queue.leave(told.exchange)
        if told.account not in self.accounts:
            self.leases.end(told.exchange)
            return
        self.requests[told.account] = self.requests.get(told.account, 0) + 1
        if barring(self.holds.get(told.account, ()), told.demand, told.at):
            self.retested[told.demand.provider] = told.at
        if not told.demand.side:
            self.pins.dispatched(told.demand, told.account, self.habits.warm(told.demand, told.at), told.at)
            self.leases.move(told.exchange, told.account, told.demand)
            self.load.sent(told.exchange, told.account, told.demand, told.at)
            if told.is_free:
                self.given.to(self.accounts[told.account])
            if told.is_move:
                self.ramps.dispatched(told.exchange, told.account, told.at)
            else:
                self.ramps.ended(told.exchange)
            self.habits.asked(told.demand, told.account)

    def _answered(self, told: Answered) -> None:
        if told.account not in self.accounts:
            return
        self._read(told.account, told.readings, told.demand.family)
        if told.demand.side:
            return
        if not told.verdict.is_refusal:
            self.ramps.answered(told.exchange)
            self._lift(told)
            return
        self.load.refused(told.exchange, told.demand)
        self.ramps.ended(told.exchange)  # it may wait here for this account, and must not wait for itself
        if told.verdict.hold is not None:
            self._hold(told, told.verdict.hold)

    def _measured(self, told: Measured) -> None:
        if told.account in self.accounts:
            self._read(told.account, told.readings)
            held = self.holds.get(told.account, ())
            self._keep(told.account, after_measuring(held, told.readings, told.sent_at))

    def _read(self, account: AccountId, readings: tuple[Reading, ...], family: Family | None = None) -> None:
        """Merge what was read; family: whose request it was that showed it."""
        known = self.readings.setdefault(account, {}) if readings else {}
        for reading in readings:
            window = reading.window
            held = known.get(window.key)
            known[window.key] = reading if held is None else merge(held, reading)
            self.pressures.read(account, known[window.key])
            if family is not None and window.line is not None and window.line not in KNOWN_LINES:
                self.lines[window.line] = self.lines.get(window.line, frozenset()) | {family}

    def _lift(self, told: Answered) -> None:
        held = self.holds.get(told.account, ())
        self._keep(told.account, after_success(held, told.demand, told.readings, told.sent_at))
        self.logins.accepted(told.account, told.sent_at, told.at)

    def _hold(self, told: Answered, order: HoldOrder) -> None:
        ladder = None
        if isinstance(order.until, AuthLadder):
            ladder = self.logins.refused(told.account, told.sent_at, told.at)
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
            self._place(hold)

    def _succeeded(self, told: Succeeded) -> None:
        account = self.accounts.get(told.account)
        if account is not None and account.enabled and not told.demand.side:
            self.habits.served(told.demand, told.account, told.at)
            if told.spent is not None:
                self._charge(told, told.spent)

    def _charge(self, told: Succeeded, spent: Spent) -> None:
        """Learn what conversations cost, and what windows hold."""
        self.load.answered(told.demand, spent, told.at)
        readings = self.counting(told.account, told.demand.family)
        self.capacities.paid(told.account, readings, spent.cost * told.demand.weight, told.at)

    def _ended(self, told: Ended) -> None:
        self.queue.leave(told.exchange)
        self.leases.end(told.exchange)
        self.load.ended(told.exchange)
        self.ramps.ended(told.exchange)
        if all_said_forbidden(told.trail):
            for account in {attempt.account for attempt in told.trail.attempts}:
                self._keep(account, taken_back(self.holds.get(account, ()), told.exchange))

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
