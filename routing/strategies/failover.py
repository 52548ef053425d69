"""One account at a time: the first, and after it refused the next, until that refuses in its turn.

The law:

    1. the account that got the latest free choice
    2. the person's order: rank, then the order in which the accounts were added

An account refuses when it may not serve any more, or is so nearly full that it comes after all others (switch_at). Then the first
in the person's order takes over, whichever that is by now. Unlike priority it does not return just because the first recovered,
so that new conversations move only when they must. After a restart it begins at the first.
"""

from dataclasses import dataclass

from routing.strategies.contract import Free, Liking, Likings
from routing.strategies.steady import latest_of
from routing.strategies.turns import placed, turns


@dataclass(frozen=True, slots=True, kw_only=True)
class Failover:
    """The strategy."""

    reads_ranks: bool = True
    reads_windows: bool = False
    reads_pressure: bool = False

    def order(self, free: Free) -> Likings:
        """The latest, then the person's order."""
        found, latest = turns(free), latest_of(free)
        likings = {}
        for one in free.candidates:
            because = "it has not refused" if one is latest else placed(one.account)
            likings[one.account.id] = Liking((one is not latest, *found[one.account.id]), because)
        return likings
