"""Keep the accounts' weeks equally full: change over when another one has at least a tenth of a week more left.

The law, in the terms of routing.strategies.balance:

    score  = 1 - the highest use among the weekly windows - reserve      in fractions of the limit; no week known: no score
    margin = 0.10 more

A week whose reset has passed is a fresh one.
"""

from dataclasses import dataclass
from datetime import datetime

from routing.readings import used_at
from routing.strategies.alone import Score
from routing.strategies.balance import Balance
from routing.strategies.contract import Candidate
from routing.strategies.steady import SLACK
from routing.windows import WEEK

_MARGIN = 0.1
BETTER = ", a better balance"  # after what is left of the one that is taken


@dataclass(frozen=True, slots=True, kw_only=True)
class WeeklyBalance(Balance):
    """The strategy."""

    def score(self, one: Candidate, now: datetime, more: float = 0.0) -> Score | None:
        """Find what is left of the fullest week."""
        weeks = [
            (max(1 - one.reserve(r.window) - used - more, 0.0), r.window.key)
            for r in one.readings
            if r.window.length == WEEK and (used := used_at(r, now)) is not None
        ]
        return Score(*min(weeks)) if weeks else None

    def is_better(self, other: float, own: float) -> bool:
        """By a tenth of the week."""
        return other - own >= _MARGIN - SLACK

    def reason(self, score: Score) -> str:
        """What is left of the week."""
        return f"{score.window} has {score.value:.0%} left{BETTER}"
