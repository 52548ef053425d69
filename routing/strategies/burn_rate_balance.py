"""Keep the accounts' use in step with time: change over when another one has clearly more left for the time to its resets.

The law, in the terms of routing.strategies.balance; for each window that counts and whose use is known:

    rate   = (1 - used - reserve) / (time to its reset / its length)     1 when use and time go in step, more when time goes faster
    score  = the lowest rate among the account's windows                 no window with a known use: no score
    margin = 1.1 times as high

Where the reset is not known, or is passed and the window so a fresh one, all of its length is to come. The last hour counts as an
hour: what is left can hardly be used faster.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from routing.readings import Reading, lapsed, used_at
from routing.strategies.alone import Score
from routing.strategies.balance import Balance
from routing.strategies.contract import Candidate
from routing.strategies.steady import SLACK

_MARGIN = 1.1
_HOUR = timedelta(hours=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class BurnRateBalance(Balance):
    """The strategy."""

    def score(self, one: Candidate, now: datetime, more: float = 0.0) -> Score | None:
        """Find the lowest rate among the windows."""
        rates = [
            (max(1 - one.reserve(r.window) - used - more, 0.0) / _to_come(r, now), r.window.key)
            for r in one.readings
            if (used := used_at(r, now)) is not None
        ]
        return Score(*min(rates)) if rates else None

    def is_better(self, other: float, own: float) -> bool:
        """By a tenth of the rate."""
        return other > own and other >= _MARGIN * own - SLACK

    def reason(self, score: Score) -> str:
        """The rate."""
        return f"{score.window} has {score.value:.2f} times the room that the time to its reset needs"


def _to_come(reading: Reading, now: datetime) -> float:
    """Which fraction of a window's length is to come, as if it were an hour at least."""
    if reading.resets_at is None or lapsed(reading, now):
        return 1.0
    length = reading.window.length
    return min(max(reading.resets_at - now, min(_HOUR, length)) / length, 1.0)
