"""Prefer the account whose fullest window has the most room.

The law, over every window that counts for the demand:

    score = 1 - the highest use        0 when a window is used up, 1 when its reset has passed

No window with a known use: no score.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from routing.readings import Reading, used_at
from routing.strategies.alone import Alone, Score


@dataclass(frozen=True, slots=True, kw_only=True)
class LeastUsed(Alone):
    """The strategy."""

    reason: str = "{window} is its fullest window, with {value:.0%} left"

    def score(self, readings: Iterable[Reading], now: datetime, more: float = 0.0) -> Score | None:
        """Find what is left of the fullest window; None when no use is known."""
        known = [(used, reading.window.key) for reading in readings if (used := used_at(reading, now)) is not None]
        if not known:
            return None
        used, window = max(known)
        return Score(max(1 - used - more, 0.0), window)
