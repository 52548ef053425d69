"""The Router: told what happened, it answers who serves a request next. It is the package's one mutable object."""

from datetime import datetime
from types import MappingProxyType

from routing.candidates import free as drawn
from routing.chains import asked
from routing.choosing import chosen
from routing.decisions import Barred, Choice
from routing.explain import Explanation, Stood, likes
from routing.gauges import UNTRIED, Gauge
from routing.memory import Memory
from routing.observations import Observation
from routing.outage import Outage, outage
from routing.picking import best
from routing.question import Question
from routing.queues import why_full
from routing.readings import Reading
from routing.remembered import Remembered
from routing.rules import Rules
from routing.scoring import STRATEGIES
from routing.snapshot import ANY_FAMILY, Snapshot, picture, pins
from routing.trail import Trail
from routing.windows import KNOWN_FAMILIES
from routing.words import Account, AccountId, Demand, Family


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

        After a Wait, ask again with trail.resumed(that Wait).
        """
        return chosen(self._question(demand, trail, now))

    def explain(self, demand: Demand, trail: Trail, now: datetime, *, free: bool = True) -> Explanation:
        """Take down how each account stood for a choice: asked right after it, before anything else is observed.

        free: whether the strategy is to be asked what it thought, too.
        """
        question, habits = self._question(demand, trail, now), self._memory.traffic.habits
        tried, rules = asked(trail, now), self._rules.routing
        eligible = {i: account for i, account in question.eligible().items() if i not in tried}
        full = {i: why_full(eligible[i], self._memory.traffic.leases) for i in question.full(eligible)}
        room = {i: account for i, account in eligible.items() if i not in full}
        pinned = self._memory.pins.named(demand)
        room = {i: account for i, account in room.items() if i in pinned} or room
        there = [account for account in self._memory.accounts.values() if account.provider == demand.provider]
        passed = question.dead().passed_over() if len(eligible) < len(there) else ()
        return Explanation(
            at=now,
            strategy=rules.strategy,
            stood=tuple([self._stood(account, question) for account in there]),
            barred={its.account: its for its in passed if its.account not in eligible}
            | {account: Barred(account=account, because=why) for account, why in full.items()},
            liked=likes(drawn(question, room), STRATEGIES[rules.strategy], rules) if free else {},
            warm=habits.warm(demand, now),
            home=habits.home(demand),
            full=frozenset(full),
            pinned=pinned,
        )

    def _stood(self, account: Account, question: Question) -> Stood:
        """Take down one account; the request that asks may be in flight there still."""
        leases, readings = self._memory.traffic.leases, self._memory.meters.counting(question.demand.family)
        own = leases.account_of(question.trail.exchange)
        return Stood(account, readings[account.id], leases.count(account.id) - (account.id == own))

    def snapshot(self, now: datetime, *, provider: str = "anthropic") -> Snapshot:
        """Draw the picture for people; provider: whose families `next` speaks of."""
        memory = self._memory
        accounts = tuple(picture(memory, account, now) for account in memory.accounts.values())
        return Snapshot(
            at=now,
            accounts=accounts,
            next=MappingProxyType({f: self._next(f, provider, now) for f in (*KNOWN_FAMILIES, Family(ANY_FAMILY))}),
            conversations=memory.traffic.habits.count_warm(now),
            pins=pins(memory, accounts),
            queued=len(memory.traffic.queue),
        )

    def _next(self, family: Family, provider: str, now: datetime) -> AccountId | None:
        question = self._question(Demand(provider=provider, model=family, family=family), Trail(started_at=now), now)
        eligible = question.eligible()
        if not eligible:
            return None
        wish = self._memory.pins.wish(question.demand, eligible, None)
        among = {i: eligible[i] for i in wish.accounts} or eligible
        taken = question.full(among)
        return best(question, {i: account for i, account in among.items() if i not in taken} or among).account

    def why_not_pinned(self, account: AccountId) -> str:
        """Say why no wish for the account can be heeded until a person does something; empty when it can."""
        known = self._memory.accounts.get(account)
        if known is None:
            return "is not there"
        return "has no secret" if account in self._memory.held.unsigned else "" if known.enabled else "is disabled"

    def to_check(self, now: datetime) -> tuple[AccountId, ...]:
        """List the accounts whose credential was refused for sure, and is to be checked again now; told as Checked."""
        held = self._memory.held
        return held.logins.to_check(self._memory.accounts, held.holds, now)

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
        return self._memory.meters.of(account)

    def gauge(self, account: AccountId) -> Gauge:
        """What measuring an account met so far."""
        return self._memory.meters.gauges.get(account, UNTRIED)

    def _question(self, demand: Demand, trail: Trail, now: datetime) -> Question:
        return Question(self._memory, self._rules, demand, trail, now)
