"""Prefer the account whose week would lose the most unused room per hour if nobody used it.

The law, for each weekly window that counts for the demand:

    score = (1 - used - reserve) / max(hours to its reset, 1)        in fractions of the limit per hour
    score = (1 - reserve) / 168                                      once its reset has passed: a new week begins

An account's score is the lowest among its weekly windows, because the tightest one decides what can still be used.
No weekly window with a known use and reset: no score.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from routing.readings import Reading
from routing.strategies.contract import Score
from routing.windows import WEEK

_HOUR = timedelta(hours=1)
_WEEK_HOURS = WEEK / _HOUR


@dataclass(frozen=True, slots=True, kw_only=True)
class Perishing:
    """The strategy; reserve: the fraction of each window that is held back."""

    reserve: float = 0.0
    reason: str = "{window} perishes soonest ({value:.3f}/h)"

    def score(self, readings: Iterable[Reading], now: datetime) -> Score | None:
        """Find the lowest loss per hour among the weekly windows; None when none is known."""
        lowest, window = math.inf, ""
        for reading in readings:
            if reading.window.length == WEEK:
                loss = self._loss(reading, now)
                if loss < lowest:
                    lowest, window = loss, reading.window.key
        return Score(lowest, window) if window else None

    def _loss(self, reading: Reading, now: datetime) -> float:
        """Compute what one window loses per hour; infinite when that is not known."""
        room = 1 - self.reserve
        if reading.resets_at is None:
            return math.inf
        hours = (reading.resets_at - now) / _HOUR
        if hours <= 0:  # its reset has passed
            return room / _WEEK_HOURS
        if reading.used is None:
            return math.inf
        left = room - reading.used
        if left <= 0:
            return 0.0
        return left / hours if hours > 1 else left
