"""One choice that is to be made, and who may be its answer."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import NamedTuple

from routing.chains import asked
from routing.gates import bar, may_serve
from routing.holds import AccountHolds
from routing.memory import Memory
from routing.outcomes import Dead, may_wait
from routing.queues import full
from routing.reserves import with_bars
from routing.rules import Rules
from routing.trail import Trail
from routing.words import Account, AccountId, Demand

type Eligible = Mapping[AccountId, Account]
"""Accounts that may serve, in the order of the person's accounts."""


class Question(NamedTuple):
    """All that bears on one choice: what is known and set, what is asked for, what was met so far, and when it is asked."""

    memory: Memory
    rules: Rules
    demand: Demand
    trail: Trail
    now: datetime

    def eligible(self) -> Eligible:
        """Whom nothing bars; where there is nobody, whom nothing but a reserve bars, if it may be spent then."""
        return self._unbarred(self.holds()) or self._last_resort()

    def untried(self) -> Eligible:
        """Select of them those that a hop may still ask."""
        tried = asked(self.trail, self.now)
        return _without(self._unbarred(self.holds()), tried) or _without(self._last_resort(), tried)

    def holds(self) -> Mapping[AccountId, AccountHolds]:
        """What was met in answers, and the reserves that the demand may not spend."""
        memory = self.memory
        if not memory.reserved:
            return memory.held.holds
        spent = memory.pins.spent(self.demand)
        reserved = [account for account in memory.reserved if account.id not in spent]
        return with_bars(memory.held.holds, reserved, memory.meters.readings, memory.meters.lines, self.now)

    def is_barred(self, account: Account) -> str:
        """Why the account may not serve, reserves apart; empty when it may."""
        barred = bar(account, self.demand, self.memory.held.holds.get(account.id, ()), self.now)
        return "" if barred is None else barred.because

    def full(self, among: Eligible) -> frozenset[AccountId]:
        """Of these, those that have no place below their cap."""
        return full(among.values(), self.memory.traffic.leases, self.memory.traffic.queue, self.trail.exchange)

    def may_pause(self, pause: timedelta) -> bool:
        """Whether the exchange may pause for so long."""
        return may_wait(pause, self.demand, self.trail, self.rules, self.now)

    def was_refused(self) -> bool:
        """Whether the exchange met a refusal."""
        return any(attempt.verdict.is_refusal for attempt in self.trail.attempts)

    def warm(self) -> AccountId | None:
        """Find where the conversation's prompt cache is warm."""
        return self.memory.traffic.habits.warm(self.demand, self.now)

    def dead(self) -> Dead:
        """All that bears on what happens when nobody may serve."""
        there = tuple(a for a in self.memory.accounts.values() if a.provider == self.demand.provider)
        return Dead(
            accounts=there, holds=self.holds(), demand=self.demand, trail=self.trail, rules=self.rules, now=self.now
        )

    def name(self, account: AccountId) -> str:
        """What the person calls the account; its id once it is gone."""
        known = self.memory.accounts.get(account)
        return account if known is None else known.name

    def _last_resort(self) -> Eligible:
        if not (self.rules.routing.reserve_last_resort and self.memory.reserved):
            return {}
        return self._unbarred(self.memory.held.holds)

    def _unbarred(self, holds: Mapping[AccountId, AccountHolds]) -> Eligible:
        demand, now = self.demand, self.now
        return {
            i: account
            for i, account in self.memory.accounts.items()
            if may_serve(account, demand, holds.get(i, ()), now)
        }


def _without(among: Eligible, tried: frozenset[AccountId]) -> Eligible:
    return {i: account for i, account in among.items() if i not in tried}
