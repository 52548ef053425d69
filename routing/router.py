"""The Router: told what happened, it answers who serves a request next. It is the package's one mutable object."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from types import MappingProxyType

from routing.chains import Again, Onward, asked, next_step
from routing.decisions import Answer, Barred, Choice, GiveUp, Use, Wait
from routing.explain import Explanation, Stood, likes
from routing.forecast import Forecast
from routing.gates import bar
from routing.holds import AccountHolds
from routing.memory import Memory
from routing.observations import Observation
from routing.outage import Outage, outage
from routing.outcomes import Dead, may_wait, outcome
from routing.pins import Wish
from routing.pressure import SESSION
from routing.queues import SOON, full, why_full
from routing.ramps import PAUSE
from routing.readings import Reading
from routing.remembered import Remembered
from routing.reserves import by_length, is_reached, with_bars
from routing.retest import candidate, is_due
from routing.rules import Rules
from routing.scoring import PRESSURE_READERS, STRATEGIES, pick
from routing.snapshot import ANY_FAMILY, Snapshot, picture, pins
from routing.strategies.contract import NO_RESERVES, Candidate, Free
from routing.strategies.steady import POINT
from routing.trail import Attempt, Trail
from routing.verdicts import PAID_ROW, THROTTLE_ROW, Left
from routing.windows import KNOWN_FAMILIES
from routing.words import Account, AccountId, Demand, ExchangeId, Family

type Eligible = Mapping[AccountId, Account]

CLOCK_STEP = timedelta(minutes=1)  # now went back further than this: a pause is not made longer by it


class Router:
    """Two verbs: observe what happened, choose who serves. Choosing changes nothing."""

    def __init__(self, rules: Rules) -> None:
        if rules.routing.strategy not in STRATEGIES:
            raise ValueError(f"no strategy is called {rules.routing.strategy!r}; there are {', '.join(STRATEGIES)}")
        self._rules = rules
        self._looks_at_pressure = rules.routing.strategy in PRESSURE_READERS
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

    def explain(self, demand: Demand, trail: Trail, now: datetime, *, free: bool = True) -> Explanation:
        """Take down how each account stood for a choice: asked right after it, before anything else is observed.

        free: whether the strategy is to be asked what it thought, too.
        """
        tried, name, memory = asked(trail), self._rules.routing.strategy, self._memory
        eligible = self._eligible(demand, now) or self._last_resort(demand, now)
        eligible = {i: account for i, account in eligible.items() if i not in tried}
        full = {i: why_full(eligible[i], memory.leases) for i in self._full(eligible, trail.exchange)}
        there = [account for account in memory.accounts.values() if account.provider == demand.provider]
        own = memory.leases.account_of(trail.exchange)
        passed = self._dead(demand, trail, now).passed_over() if len(eligible) < len(there) else ()
        room = {i: account for i, account in eligible.items() if i not in full}
        return Explanation(
            at=now,
            strategy=name,
            stood=tuple([self._stood(account, demand, own) for account in there]),
            barred={its.account: its for its in passed if its.account not in eligible}
            | {account: Barred(account=account, because=why) for account, why in full.items()},
            liked=likes(self._free(demand, room, now), STRATEGIES[name], self._rules.routing) if free else {},
            warm=memory.habits.warm(demand, now),
            home=memory.habits.home(demand),
        )

    def _stood(self, account: Account, demand: Demand, own: AccountId | None) -> Stood:
        """Take down one account; own: where the request that asks is in flight still."""
        count = self._memory.leases.count(account.id) - (account.id == own)
        return Stood(account, self._memory.counting(account.id, demand.family), count)

    def snapshot(self, now: datetime, *, provider: str = "anthropic") -> Snapshot:
        """Draw the picture for people; provider: whose families `next` speaks of."""
        memory = self._memory
        accounts = tuple(picture(memory, account, now) for account in memory.accounts.values())
        return Snapshot(
            at=now,
            accounts=accounts,
            next=MappingProxyType({f: self._next(f, provider, now) for f in (*KNOWN_FAMILIES, Family(ANY_FAMILY))}),
            conversations=memory.habits.count_warm(now),
            pins=pins(memory, accounts),
            queued=len(memory.queue),
        )

    def why_not_pinned(self, account: AccountId) -> str:
        """Say why no wish for the account can be heeded until a person does something; empty when it can."""
        known = self._memory.accounts.get(account)
        if known is None:
            return "is not there"
        return "has no secret" if account in self._memory.unsigned else "" if known.enabled else "is disabled"

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
        eligible = self._eligible(demand, now) or self._last_resort(demand, now)
        if not eligible:
            return None
        wish = self._memory.pins.wish(demand, eligible, None)
        among = {i: eligible[i] for i in wish.accounts} or eligible
        taken = self._full(among, None)
        return self._best(demand, {i: a for i, a in among.items() if i not in taken} or among, now).account

    def _holds(self, demand: Demand, now: datetime) -> Mapping[AccountId, AccountHolds]:
        """What was met in answers, and the reserves that the demand may not spend."""
        memory = self._memory
        if not memory.reserved:
            return memory.holds
        spent = memory.pins.spent(demand)
        reserved = [account for account in memory.reserved if account.id not in spent]
        return with_bars(memory.holds, reserved, memory.readings, memory.lines, now)

    def _eligible(self, demand: Demand, now: datetime) -> Eligible:
        return self._unbarred(demand, self._holds(demand, now), now)

    def _last_resort(self, demand: Demand, now: datetime) -> Eligible:
        """Who is barred by nothing but a reserve, where it may be spent before nobody serves."""
        if not (self._rules.routing.reserve_last_resort and self._memory.reserved):
            return {}
        return self._unbarred(demand, self._memory.holds, now)

    def _unbarred(self, demand: Demand, holds: Mapping[AccountId, AccountHolds], now: datetime) -> Eligible:
        accounts = self._memory.accounts
        return {i: account for i, account in accounts.items() if bar(account, demand, holds.get(i, ()), now) is None}

    def _afresh(self, demand: Demand, trail: Trail, now: datetime) -> Choice:
        eligible = self._eligible(demand, now) or self._last_resort(demand, now)
        if eligible:
            return self._pick(demand, eligible, trail, now)
        return self._retest(demand, now) or self._nobody(demand, trail, now)

    def _retest(self, demand: Demand, now: datetime) -> Use | None:
        """Let one request a minute see whether an old hold still stands."""
        memory = self._memory
        every = timedelta(seconds=self._rules.hold.retest_s)
        if demand.side or not is_due(memory.retested.get(demand.provider), every, now):
            return None
        account = candidate(memory.accounts.values(), self._holds(demand, now), demand, now)
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
        eligible = eligible or {i: a for i, a in self._last_resort(demand, now).items() if i not in tried}
        if not eligible:
            return self._stop(last, demand, trail, now)
        choice = self._pick(demand, eligible, trail, now)
        if isinstance(choice, Wait):
            return choice
        if isinstance(choice, GiveUp):
            return self._stop(last, demand, trail, now) if last.verdict.left is Left.RELAY else choice
        of = "pin yields" if last.account in self._memory.pins.spent(demand) else "hop"
        return replace(choice, because=f"{of}: {self._name(last.account)} {why}")

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
        holds = self._holds(demand, now)
        return Dead(accounts=accounts, holds=holds, demand=demand, trail=trail, rules=self._rules, now=now)

    def _pick(self, demand: Demand, eligible: Eligible, trail: Trail, now: datetime) -> Choice:
        """Choose among those who may serve, in the order that routing/pins.py gives."""
        if demand.side:
            return self._beside(demand, eligible, now)
        taken = self._full(eligible, trail.exchange)
        habit = self._by_habit(demand, eligible, trail, now)
        wish = self._memory.pins.wish(demand, eligible, None if habit is None else habit.account)
        if wish.accounts:
            room = {i: eligible[i] for i in wish.accounts if i not in taken}
            choice = self._wished(wish, room, demand, trail, now)
            if choice is not None:
                return choice
            wish = wish if wish.is_move else replace(wish, yields=wish.yields or wish.accounts)
        if habit is not None and habit.account not in taken:
            return self._telling(habit, wish, demand, trail, now)
        warm = self._memory.habits.warm(demand, now)
        if warm is not None and warm in taken and may_wait(PAUSE, demand, trail, self._rules, now):
            return self._queued((warm,), now)
        return self._telling(self._freely(eligible, taken, demand, trail, now), wish, demand, trail, now)

    def _full(self, eligible: Eligible, exchange: ExchangeId | None) -> frozenset[AccountId]:
        return full(eligible.values(), self._memory.leases, self._memory.queue, exchange)

    def _wished(self, wish: Wish, room: Eligible, demand: Demand, trail: Trail, now: datetime) -> Use | Wait | None:
        """Choose among the pinned; None when none of them has room, and their turn is not waited for."""
        if not room:
            may_queue = wish.is_own and may_wait(PAUSE, demand, trail, self._rules, now)
            return self._queued(wish.accounts, now) if may_queue else None
        if wish.is_move:
            room = self._off_ramps(room, now)
            return replace(self._best(demand, room, now), because=wish.because, is_move=True) if room else None
        choice = self._freely(room, frozenset(), demand, trail, now, is_own=wish.is_own)
        if isinstance(choice, Use):
            return replace(choice, because=wish.because, is_free=choice.is_free and not wish.is_own)
        return choice if isinstance(choice, Wait) else None

    def _freely(
        self,
        eligible: Eligible,
        taken: frozenset[AccountId],
        demand: Demand,
        trail: Trail,
        now: datetime,
        *,
        is_own: bool = False,
    ) -> Choice:
        """Choose the best that has room; one that a refusal brings here comes by the ramp. is_own: a wish moves it, not a refusal."""
        free = {i: account for i, account in eligible.items() if i not in taken}
        if not free and may_wait(PAUSE, demand, trail, self._rules, now):
            return self._queued(tuple(eligible), now)
        if not free:
            return self._no_place(eligible, demand, trail, now)
        if not (_was_refused(trail) if is_own else self._was_moved(demand, trail, now)):
            return self._best(demand, free, now)
        room = self._off_ramps(free, now)
        if not room and may_wait(PAUSE, demand, trail, self._rules, now):
            return Wait(until=now + PAUSE, account=None, because="others are moving there just now", is_for_room=True)
        return replace(self._best(demand, room or free, now), is_move=True)

    def _off_ramps(self, eligible: Eligible, now: datetime) -> Eligible:
        return {i: account for i, account in eligible.items() if not self._memory.ramps.is_full(i, now)}

    def _queued(self, accounts: tuple[AccountId, ...], now: datetime) -> Wait:
        """Wait for a place on one of these accounts."""
        because = f"waits for a place on {', '.join(self._name(account) for account in accounts)}"
        return Wait(until=now + PAUSE, account=None, because=because, is_for_room=True, queue=accounts)

    def _no_place(self, eligible: Eligible, demand: Demand, trail: Trail, now: datetime) -> GiveUp:
        """Send a client away that cannot wait for a place: it is told as a throttle is, for no limit was met."""
        why = {i: why_full(account, self._memory.leases) for i, account in eligible.items()}
        barred = tuple(
            replace(b, because=why.get(b.account, b.because)) for b in self._dead(demand, trail, now).passed_over()
        )
        account, because = next(iter(why.items()))
        recovers = Barred(account=account, because=because, row=THROTTLE_ROW, until=now + SOON)
        return GiveUp(answer=Answer.LIMITED, because=because, recovers=recovers, barred=barred)

    def _telling(self, choice: Choice, wish: Wish, demand: Demand, trail: Trail, now: datetime) -> Choice:
        """Say of a choice which pin yields to it, and why."""
        if not wish.yields or not isinstance(choice, Use):
            return choice
        why = ", ".join(self._yielding(account, demand, trail, now) for account in wish.yields)
        return replace(choice, because=f"pin yields: {why}; {choice.because}")

    def _yielding(self, account: AccountId, demand: Demand, trail: Trail, now: datetime) -> str:
        name, known = self._name(account), self._memory.accounts.get(account)
        met = next((attempt for attempt in reversed(trail.attempts) if attempt.account == account), None)
        if met is not None:
            return f"{name} was refused ({met.verdict.because})"
        barred = known and bar(known, demand, self._memory.holds.get(account, ()), now)
        if barred:
            return f"{name} has no room ({barred.because})"
        if known and account in self._full({account: known}, trail.exchange):
            return f"{name} has no room ({why_full(known, self._memory.leases)})"
        return f"{name} until this conversation is cold"

    def _was_moved(self, demand: Demand, trail: Trail, now: datetime) -> bool:
        """Whether a refusal brings the request here: one that it met itself, or the hold of where its conversation lives."""
        return _was_refused(trail) or self._memory.habits.warm(demand, now) is not None

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
        free = self._free(demand, eligible, now)
        account, because = pick(free, STRATEGIES[self._rules.routing.strategy], self._rules.routing)
        return Use(account=account, because=because, is_free=True)

    def _free(self, demand: Demand, eligible: Eligible, now: datetime) -> Free:
        memory = self._memory
        return Free(
            demand=demand,
            candidates=tuple([self._candidate(account, demand, now) for account in eligible.values()]),
            now=now,
            home=memory.habits.home(demand),
            latest=memory.given.latest(demand.provider),
            forecast=Forecast(memory.load, memory.capacities, demand, now),
        )

    def _candidate(self, account: Account, demand: Demand, now: datetime) -> Candidate:
        memory = self._memory
        readings = memory.counting(account.id, demand.family)
        reserves = self._reserves(account, readings, demand, now) if account.reserves else NO_RESERVES
        return Candidate(
            account=account,
            readings=readings,
            reserves=reserves,
            leases=memory.leases.count(account.id),
            given_at=memory.given.at(account.id),
            pressed=self._looks_at_pressure and self._is_pressed(account, readings, reserves, now),
        )

    def _is_pressed(
        self, account: Account, readings: tuple[Reading, ...], reserves: Mapping[timedelta, float], now: datetime
    ) -> bool:
        """Whether its 5-hour window is out, or runs out before its reset; of the latest choice even with a point less used."""
        more = -POINT if self._memory.given.latest(account.provider) == account.id else 0.0
        reserve = reserves.get(SESSION, 0.0)
        return self._memory.pressures.is_pressed(account.id, readings, now, reserve=reserve, more=more)

    def _reserves(
        self, account: Account, readings: tuple[Reading, ...], demand: Demand, now: datetime
    ) -> Mapping[timedelta, float]:
        """What is held back from the demand: nothing of an account that is pinned, or that serves as the last resort."""
        is_spent = account.id in self._memory.pins.spent(demand) or is_reached(account, readings, now)
        return NO_RESERVES if is_spent else by_length(account)

    def _beside(self, demand: Demand, eligible: Eligible, now: datetime) -> Use:
        """Pick for a side call: where its session is pinned, the session's latest, else the best measured one, else any."""
        wish = self._memory.pins.wish(demand, eligible, None)
        if wish.is_own:
            return Use(account=wish.accounts[0], because=wish.because)
        latest = self._memory.habits.latest(demand)
        if latest is not None and latest in eligible:
            return Use(account=latest, because="the session's latest")
        pinned = {i: eligible[i] for i in wish.accounts} or eligible
        measured = {i: a for i, a in pinned.items() if self._memory.counting(i, demand.family)}
        return self._best(demand, measured or pinned, now)

    def _name(self, account: AccountId) -> str:
        known = self._memory.accounts.get(account)
        return account if known is None else known.name


def _was_refused(trail: Trail) -> bool:
    return any(attempt.verdict.is_refusal for attempt in trail.attempts)
