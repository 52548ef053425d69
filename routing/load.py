"""Who is at work where, and what those of one account will want of it.

A conversation that was heard of within the last ACTIVE is at work; its pace is pledged to it on the account that it was sent to last.
That shows 24 subagents which start within one second, before any reading can.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from routing.paces import REST, Paces, Talk
from routing.spent import Spent
from routing.words import AccountId, ConversationId, Demand, ExchangeId, Family

ACTIVE = REST
BOUND = 10_000  # conversations remembered; the one that was heard of longest ago goes first

type TalkKey = tuple[ConversationId, str]
"""A conversation and the model that it speaks with, which keeps a cache of its own."""
type Costs = Mapping[Family, int]
"""By family."""


@dataclass(frozen=True, slots=True)
class Flight:
    """A request that no reading shows yet."""

    account: AccountId
    family: Family
    cost: int


@dataclass(slots=True)
class Sums:
    """Costs by account and family, in whole numbers: what was added and is taken away leaves nothing."""

    _known: dict[AccountId, dict[Family, int]] = field(default_factory=dict)
    _totals: dict[AccountId, int] = field(default_factory=dict)

    def add(self, account: AccountId, family: Family, cost: int) -> None:
        """Add a cost; one below 0 takes away."""
        families = self._known.setdefault(account, {})
        families[family] = families.get(family, 0) + cost
        self._totals[account] = self._totals.get(account, 0) + cost

    @property
    def totals(self) -> Mapping[AccountId, int]:
        """The sums over all families."""
        return self._totals

    def of(self, account: AccountId) -> Costs:
        """The sums of one account."""
        return self._known.get(account, {})

    def drop(self, account: AccountId) -> None:
        """The account is gone."""
        self._known.pop(account, None)
        self._totals.pop(account, None)


@dataclass(slots=True)
class Load:
    """The conversations, the one heard of last at the end; those at work; and the requests in flight.

    pledged: what the conversations at work cost per hour, as things stood when something was heard last. flying: what the requests in
    flight will cost.
    """

    bound: int = BOUND
    paces: Paces = field(default_factory=Paces)
    pledged: Sums = field(default_factory=Sums)
    flying: Sums = field(default_factory=Sums)
    _talks: dict[TalkKey, Talk] = field(default_factory=dict)
    _working: dict[TalkKey, Talk] = field(default_factory=dict)
    _flights: dict[ExchangeId, Flight] = field(default_factory=dict)

    def sent(self, exchange: ExchangeId, account: AccountId, demand: Demand, at: datetime) -> None:
        """A request goes out on an account: from now on its conversation is at work there."""
        self.ended(exchange)
        talk = self.find(demand)
        is_warm = talk is not None and talk.is_warm(account, demand.cache_ttl, at)
        cost = round((self.paces.warm_cost if is_warm else self.paces.cold_cost)(demand, talk))
        self._flights[exchange] = Flight(account, demand.family, cost)
        self.flying.add(account, demand.family, cost)
        if demand.conversation is None:
            return
        if talk is None:
            talk = Talk(family=demand.family, at=at, weight=demand.weight, ratio=self.paces.ratio)
        talk.context = self.paces.length(demand, talk)
        key = (demand.conversation, demand.model)
        if talk.account != account:
            self._stop(key, talk)
            talk.account = account
        self._go(key, talk, at)

    def refused(self, exchange: ExchangeId, demand: Demand) -> None:
        """The account did not take the request: its conversation wants nothing there."""
        self.ended(exchange)
        talk = self.find(demand)
        if talk is not None and demand.conversation is not None:
            self._stop((demand.conversation, demand.model), talk)
            talk.account = None

    def answered(self, demand: Demand, spent: Spent, at: datetime) -> None:
        """A request was answered to its end: its conversation's size and pace are known better."""
        talk = self.find(demand)
        if talk is not None and demand.conversation is not None and spent.prompt:
            self.paces.learn(talk, demand, spent, at)
            self._go((demand.conversation, demand.model), talk, at)

    def ended(self, exchange: ExchangeId) -> None:
        """The request is in flight no longer."""
        flight = self._flights.pop(exchange, None)
        if flight is not None:
            self.flying.add(flight.account, flight.family, -flight.cost)

    def drop(self, account: AccountId) -> None:
        """The account is gone, and what was at work there."""
        for exchange in [exchange for exchange, flight in self._flights.items() if flight.account == account]:
            self.ended(exchange)
        for key in [key for key, talk in self._talks.items() if talk.account == account]:
            self._talks.pop(key)
            self._working.pop(key, None)
        self.pledged.drop(account)
        self.flying.drop(account)

    def __len__(self) -> int:
        """How many conversations are remembered."""
        return len(self._talks)

    def at_work(self) -> tuple[Talk, ...]:
        """List the conversations whose paces are pledged, the one heard of longest ago first."""
        return tuple(self._working.values())

    def in_flight(self) -> tuple[Flight, ...]:
        """List the requests in flight."""
        return tuple(self._flights.values())

    def find(self, demand: Demand) -> Talk | None:
        """Find the demand's conversation."""
        return None if demand.conversation is None else self._talks.get((demand.conversation, demand.model))

    def uncounted(self, demand: Demand, now: datetime) -> list[Talk]:
        """List those whose paces are pledged, but are nothing to the demand: its own, and those that rest by now."""
        found = []
        for talk in self._working.values():
            if now - talk.at <= ACTIVE:
                break
            found.append(talk)
        own = None if demand.conversation is None else self._working.get((demand.conversation, demand.model))
        return [*found, own] if own is not None and own not in found else found

    def _go(self, key: TalkKey, talk: Talk, at: datetime) -> None:
        """Count its pace where it is, instead of what was counted of it there."""
        talk.at = at
        self._talks.pop(key, None)
        self._talks[key] = talk
        if talk.account is not None:
            before = 0 if self._working.pop(key, None) is None else talk.pledge
            talk.pledge = self.paces.pledge(talk)
            self.pledged.add(talk.account, talk.family, talk.pledge - before)
            self._working[key] = talk
        self._sweep(at)

    def _stop(self, key: TalkKey, talk: Talk) -> None:
        """Count it no longer."""
        if self._working.pop(key, None) is not None and talk.account is not None:
            self.pledged.add(talk.account, talk.family, -talk.pledge)

    def _sweep(self, now: datetime) -> None:
        """Take those that rest out of the sums, and the oldest over the bound out of all."""
        while len(self._talks) > self.bound:
            oldest = next(iter(self._talks))
            self._stop(oldest, self._talks[oldest])
            del self._talks[oldest]
        while self._working:
            key, talk = next(iter(self._working.items()))
            if now - talk.at <= ACTIVE:
                return
            self._stop(key, talk)
