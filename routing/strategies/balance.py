"""The base of strategies that keep to one account and change over only when another one's scale is clearly heavier.

The law; left is what is left of an account's fullest window that counts, short what is left of its fullest 5-hour window:

    open = short at least 50 %, left at least 20 %

    1. the account of the latest free choice stays, unless
           an open one has a score that is better by the margin, and better even if each reading is a point off; or
           less than 10 % is left of it, and at least 20 % of another
    2. then, and at the first choice: the highest score among the open ones, then among those with 20 % left, then among all

Taken from two sides to any number of accounts, none of which is special. The account that is left need not have half of its
5-hour window itself: else using it more could bring a choice back to it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from routing.readings import used_at
from routing.strategies.alone import Score
from routing.strategies.contract import Candidate, Free, Liking, Likings
from routing.strategies.steady import DIGITS, POINT, SLACK, is_beaten, latest_of
from routing.windows import SESSION
from routing.words import AccountId

_SHORT = 0.5
SPENT, BACK = 0.1, 0.2  # what is left of an account that is left, and of one that may be changed to
OPEN, _BACK, REST = 1, 2, 3
STAYS = (0,)  # the key of the latest choice while it is kept

type Scores = Mapping[AccountId, Score]


@dataclass(frozen=True, slots=True, kw_only=True)
class Balance:
    """A strategy by a score and a margin."""

    reads_ranks: bool = False
    reads_windows: bool = True
    reads_pressure: bool = False

    def score(self, one: Candidate, now: datetime, more: float = 0.0) -> Score | None:
        """How heavy an account's scale is if so much more were used of each window; None when it is not known."""
        raise NotImplementedError

    def is_better(self, other: float, own: float) -> bool:
        """Whether another score is better by the margin."""
        raise NotImplementedError

    def reason(self, score: Score) -> str:
        """Words for an account that was chosen by its score."""
        raise NotImplementedError

    def order(self, free: Free) -> Likings:
        """Like the law says."""
        found = {one.account.id: self.score(one, free.now) for one in free.candidates}
        scores = {account: score for account, score in found.items() if score is not None}
        likings = {}
        for one in free.candidates:
            score = scores.get(one.account.id)
            if score is not None:
                key = (_group(one, free.now), -round(score.value, DIGITS))
                likings[one.account.id] = Liking(key, self.reason(score))
        latest = latest_of(free)
        if latest is not None and latest.account.id in scores and self._stays(latest, scores, free):
            likings[latest.account.id] = Liking(STAYS, "the latest choice, for none is better by enough")
        return likings

    def _stays(self, latest: Candidate, scores: Scores, free: Free) -> bool:
        others = [one for one in free.candidates if one is not latest and one.account.id in scores]
        if left(latest, free.now) < SPENT and any(left(one, free.now) >= BACK for one in others):
            return False
        own = scores[latest.account.id].value
        better = [one for one in others if self.is_better(scores[one.account.id].value, own) and is_open(one, free.now)]

        def scored(one: Candidate, more: float) -> float:
            score = self.score(one, free.now, more)
            return 0.0 if score is None else score.value

        return not is_beaten(latest, better, scored)


def left(one: Candidate, now: datetime, length: timedelta | None = None) -> float:
    """What is left of an account's fullest window, of this length or of all; 1 where none is known."""
    known = (
        1 - one.reserve(r.window) - max(use, 0.0)
        for r in one.readings
        if length in (None, r.window.length) and (use := used_at(r, now)) is not None
    )
    return max(round(min(known, default=1.0), DIGITS), 0.0)


def is_open(one: Candidate, now: datetime, slack: float = 0.0) -> bool:
    """Whether an account may be changed to because it is better; slack: how far a reading may be off."""
    return left(one, now, SESSION) >= _SHORT - slack - SLACK and left(one, now) >= BACK - slack - SLACK


def _group(one: Candidate, now: datetime) -> int:
    """Which of the second law's three groups it is in; a point off counts as in, so that noise brings no second change."""
    if is_open(one, now, POINT):
        return OPEN
    return _BACK if left(one, now) >= BACK - POINT - SLACK else REST
