"""The Router: told what happened, it answers who serves a request next. It is the package's one mutable object."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from types import MappingProxyType

from routing.chains import Again, Onward, asked, next_step
from routing.decisions import Answer, Choice, GiveUp, Use, Wait
from routing.gates import bar
from routing.memory import Memory
from routing.observations import Observation
from routing.outage import Outage, outage
from routing.outcomes import Dead, may_wait, outcome
from routing.ramps import PAUSE
from routing.readings import Reading
from routing.remembered import Remembered
from routing.retest import candidate, is_due
from routing.rules import Rules
from routing.scoring import STRATEGIES, Place, best, place, reason
from routing.snapshot import ANY_FAMILY, Snapshot, picture
from routing.trail import Attempt, Trail
from routing.verdicts import PAID_ROW, Left
from routing.windows import KNOWN_FAMILIES
from routing.words import Account, AccountId, Demand, Family

type Eligible = Mapping[AccountId, Account]

CLOCK_STEP = timedelta(minutes=1)  # now went back further than this: a pause is not made longer by it


class Router:
    """Two verbs: observe what happened, choose who serves. Choosing changes nothing."""

    def __init__(self, rules: Rules) -> None:
        if rules.routing.strategy not in STRATEGIES:
            raise ValueError(f"no strategy is called {rules.routing.strategy!r}; there are {', '.join(STRATEGIES)}")
        self._rules = rules
        self._memory = Memory(rules=rules.hold)

    def observe(self, observation: Observation) -> None:
        """Take in one observation."""
        self._memory.learn(observation)

    def choose(self, demand: Demand, trail: Trail, now: datetime) -> Choice:
        """Who serves the demand, given what its exchange met so far.

        After a Wait, ask again: with the same trail when it names an account, with trail.renewed() when it names none.
        """
        last = trail.last
        if last is None or not last.verdict.is_refusal:
            return self._afresh(demand, trail, now)
        step = next_step(trail, demand, self._rules)
        if isinstance(step, Again):
            return self._again(step, last, demand, trail, now)
        if step is Onward.HOP:
            return self._hop(f"refused: {last.verdict.because}", last, demand, trail, now)
        return self._stop(last, demand, trail, now)

    def snapshot(self, now: datetime, *, provider: str = "anthropic") -> Snapshot:
        """Draw the picture for people; provider: whose families `next` speaks of."""
        memory = self._memory
        return Snapshot(
            at=now,
            accounts=tuple(picture(memory, account, now) for account in memory.accounts.values()),
            next=MappingProxyType({f: self._next(f, provider, now) for f in (*KNOWN_FAMILIES, Family(ANY_FAMILY))}),
            conversations=memory.habits.count_warm(now),
        )

    def to_check(self, now: datetime) -> tuple[AccountId, ...]:
        """List the accounts whose credential was refused for sure, and is to be checked again now; told as Checked."""
        return self._memory.logins.to_check(self._memory.accounts, self._memory.holds, now)

    def outage(self, now: datetime, *, provider: str = "anthropic") -> Outage | None:
        """Find whether no account of the provider can sign in."""
        return outage(self._memory, provider, now)

    @property
    def revision(self) -> int:
        """How many observations were taken in: while it stands, so does what is remembered."""
        return self._memory.revision

    def remembered(self) -> Remembered:
        """Draw what outlives a restart: told as Restored, it makes the next Router choose as this one would."""
        return self._memory.remembered()

    def readings(self, account: AccountId) -> tuple[Reading, ...]:
        """What is known of an account's windows, shortest first."""
        known = self._memory.readings.get(account, {}).values()
        return tuple(sorted(known, key=lambda reading: (reading.window.length, reading.window.key)))

    def _next(self, family: Family, provider: str, now: datetime) -> AccountId | None:
        demand = Demand(provider=provider, model=family, family=family)
        eligible = self._eligible(demand, now)
        return self._best(demand, eligible, now).account if eligible else None

    def _eligible(self, demand: Demand, now: datetime) -> Eligible:
        holds = self._memory.holds
        accounts = self._memory.accounts
        return {i: account for i, account in accounts.items() if bar(account, demand, holds.get(i, ()), now) is None}

    def _afresh(self, demand: Demand, trail: Trail, now: datetime) -> Choice:
        eligible = self._eligible(demand, now)
        if eligible:
            return self._pick(demand, eligible, trail, now)
        return self._retest(demand, now) or self._nobody(demand, trail, now)

    def _retest(self, demand: Demand, now: datetime) -> Use | None:
        """Let one request a minute see whether an old hold still stands."""
        memory = self._memory
        every = timedelta(seconds=self._rules.hold.retest_s)
        if demand.side or not is_due(memory.retested.get(demand.provider), every, now):
            return None
        account = candidate(memory.accounts.values(), memory.holds, demand, now)
        return None if account is None else Use(account=account, because="to see whether its hold still stands")

    def _again(self, step: Again, last: Attempt, demand: Demand, trail: Trail, now: datetime) -> Choice:
        account = self._memory.accounts.get(step.account)
        if account is None:
            return self._hop("was removed", last, demand, trail, now)
        barred = bar(account, demand, self._memory.holds.get(account.id, ()), now)
        if barred is not None:
            return self._hop(f"may no longer serve: {barred.because}", last, demand, trail, now)
        because = f"again: {last.verdict.because}"
        if not step.wait or now >= step.at or step.at - now > step.wait + CLOCK_STEP:
            return Use(account=account.id, because=because)
        return Wait(until=step.at, account=account.id, because=because)

    def _hop(self, why: str, last: Attempt, demand: Demand, trail: Trail, now: datetime) -> Choice:
        tried = asked(trail)
        eligible = {i: account for i, account in self._eligible(demand, now).items() if i not in tried}
        if not eligible:
            return self._stop(last, demand, trail, now)
        choice = self._pick(demand, eligible, trail, now)
        if isinstance(choice, Wait):
            return choice
        return replace(choice, because=f"hop: {self._name(last.account)} {why}")

    def _stop(self, last: Attempt, demand: Demand, trail: Trail, now: datetime) -> Choice:
        """Nobody else may be asked: the last answer, or one of our own. What was paid for already is never held back."""
        if last.verdict.left is Left.RELAY or last.verdict.as_row == PAID_ROW:
            barred = self._dead(demand, trail, now).passed_over()
            return GiveUp(answer=Answer.RELAY, because=last.verdict.because, barred=barred)
        return self._nobody(demand, trail, now)

    def _nobody(self, demand: Demand, trail: Trail, now: datetime) -> Choice:
        return outcome(self._dead(demand, trail, now))

    def _dead(self, demand: Demand, trail: Trail, now: datetime) -> Dead:
        accounts = tuple(a for a in self._memory.accounts.values() if a.provider == demand.provider)
        return Dead(accounts=accounts, holds=self._memory.holds, demand=demand, trail=trail, rules=self._rules, now=now)

    def _pick(self, demand: Demand, eligible: Eligible, trail: Trail, now: datetime) -> Use | Wait:
        if demand.side:
            return self._beside(demand, eligible, now)
        habit = self._by_habit(demand, eligible, trail, now)
        if habit is not None:
            return habit
        if not self._was_moved(demand, trail, now):
            return self._best(demand, eligible, now)
        room = {i: account for i, account in eligible.items() if not self._memory.ramps.is_full(i, now)}
        if not room and may_wait(PAUSE, demand, trail, self._rules, now):
            return Wait(until=now + PAUSE, account=None, because="others are moving there just now", is_for_room=True)
        return replace(self._best(demand, room or eligible, now), is_move=True)

    def _was_moved(self, demand: Demand, trail: Trail, now: datetime) -> bool:
        """Whether a refusal brings the request here: one that it met itself, or the hold of where its conversation lives."""
        refused = any(attempt.verdict.is_refusal for attempt in trail.attempts)
        return refused or self._memory.habits.warm(demand, now) is not None

    def _by_habit(self, demand: Demand, eligible: Eligible, trail: Trail, now: datetime) -> Use | None:
        """Where the conversation already is: in flight with this model, warm, or in flight with another model."""
        refused = {attempt.account for attempt in trail.attempts}
        leases = [lease for lease in self._memory.leases.of(demand.conversation) if lease.account not in refused]
        here = [(lease.account, "in flight here") for lease in leases if lease.model == demand.model]
        warm = self._memory.habits.warm(demand, now)
        if warm is not None:
            here.append((warm, "sticky"))
        here += [(lease.account, "in flight here") for lease in leases]
        return next((Use(account=account, because=why) for account, why in here if account in eligible), None)

    def _best(self, demand: Demand, eligible: Eligible, now: datetime) -> Use:
        spots = [(self._place(account, demand, now), i) for i, account in eligible.items()]
        spot, account = best(spots, demand.conversation)
        strategy = STRATEGIES[self._rules.routing.strategy]
        score = strategy.score(self._memory.counting(account, demand.family), now)
        return Use(account=account, because=reason(eligible[account], spot, score, strategy))

    def _beside(self, demand: Demand, eligible: Eligible, now: datetime) -> Use:
        """Pick for a side call: the session's latest, else the best measured one, else any."""
        latest = self._memory.habits.latest(demand)
        if latest is not None and latest in eligible:
            return Use(account=latest, because="the session's latest")
        measured = {i: a for i, a in eligible.items() if self._memory.counting(i, demand.family)}
        return self._best(demand, measured or eligible, now)

    def _place(self, account: Account, demand: Demand, now: datetime) -> Place:
        return place(
            account,
            self._memory.counting(account.id, demand.family),
            leases=self._memory.leases.count(account.id),
            rules=self._rules.routing,
            now=now,
        )

    def _name(self, account: AccountId) -> str:
        known = self._memory.accounts.get(account)
        return account if known is None else known.name
