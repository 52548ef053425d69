"""What one request, and those at work beside it, will want of each account, and how much a window of it holds.

Nothing is computed before it is asked for: a strategy that does not look pays nothing. Costs are those of routing.spent.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from routing.capacities import Capacities
from routing.load import Costs, Load, Sums
from routing.words import AccountId, Demand, Family


@dataclass(slots=True)
class Forecast:
    """The outlook for one demand; good until something else is observed."""

    load: Load
    capacities: Capacities
    demand: Demand
    now: datetime
    _gone: Sums | None = field(default=None, init=False)

    @property
    def cold(self) -> float:
        """What the request costs where no cache of its conversation is warm."""
        return self.load.paces.cold_cost(self.demand, self.load.find(self.demand))

    @property
    def pace(self) -> float:
        """What its conversation will cost per hour after that."""
        return self.load.paces.pace(self.demand, self.load.find(self.demand))

    @property
    def pledges(self) -> Mapping[AccountId, int]:
        """What the other conversations at work on each account cost per hour; an account without any may be absent."""
        gone, known = self._uncounted(), self.load.pledged.totals
        if not gone.totals:
            return known
        return {account: total - gone.totals.get(account, 0) for account, total in known.items()}

    def pledged(self, account: AccountId, families: Iterable[Family]) -> int:
        """The same, of some families and one account."""
        return _sum(self.load.pledged.of(account), families) - _sum(self._uncounted().of(account), families)

    def flying(self, account: AccountId, families: Iterable[Family] | None = None) -> int:
        """What the requests in flight on an account will cost, which no reading shows yet; families: None for all."""
        if families is None:
            return self.load.flying.totals.get(account, 0)
        return _sum(self.load.flying.of(account), families)

    @property
    def holds(self) -> Mapping[str, Mapping[AccountId, float]]:
        """What windows hold, by key and account; an account is absent while too little is known."""
        return self.capacities.known

    def _uncounted(self) -> Sums:
        """What stands in the sums but is not to be counted: conversations that rest by now, and the demand's own."""
        if self._gone is None:
            self._gone = Sums()
            for talk in self.load.uncounted(self.demand, self.now):
                if talk.account is not None:
                    self._gone.add(talk.account, talk.family, talk.pledge)
        return self._gone


def _sum(costs: Costs, families: Iterable[Family]) -> int:
    return sum([costs.get(family, 0) for family in families])
