"""Each account in its turn, for each provider by itself.

The law:

    1. the account whose latest free choice is longest ago; one that never had any before all others
    2. the order in which the accounts were added

Only free choices count: a warm conversation's turns and what a habit sends do not. An account that may not serve keeps its place
in the round. Nothing is read of use, so the next account is another one each time, by its nature.
"""

from dataclasses import dataclass

from routing.strategies.contract import Free, Liking, Likings


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundRobin:
    """The strategy."""

    reads_ranks: bool = False
    reads_windows: bool = False
    reads_pressure: bool = False

    def order(self, free: Free) -> Likings:
        """Whose turn is longest ago."""
        return {one.account.id: Liking((one.given_at, place), "its turn") for place, one in enumerate(free.candidates)}
