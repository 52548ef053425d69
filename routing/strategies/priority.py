"""Always the first of the person's accounts that may serve.

The law:

    1. the lowest rank; without one, after all that have one
    2. the order in which the accounts were added

A new conversation returns to the first as soon as that may serve again; failover is the strategy that stays.
"""

from dataclasses import dataclass

from routing.strategies.contract import Free, Liking, Likings
from routing.strategies.turns import placed, turns


@dataclass(frozen=True, slots=True, kw_only=True)
class Priority:
    """The strategy."""

    reads_ranks: bool = True
    reads_windows: bool = False
    reads_pressure: bool = False

    def order(self, free: Free) -> Likings:
        """The person's order."""
        found = turns(free)
        return {one.account.id: Liking(found[one.account.id], placed(one.account)) for one in free.candidates}
