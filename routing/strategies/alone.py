"""The base of strategies that judge each account by itself, so that dropping one that was not chosen changes nothing.

The account of the latest free choice, if it is idle, is first until another is better by more than noise: routing.strategies.steady.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from routing.readings import Reading
from routing.strategies.contract import Candidate, Free, Liking, Likings
from routing.strategies.steady import DIGITS, idle_latest, is_beaten


class Score(NamedTuple):
    """How much an account is liked, more is better, and the window that decided it."""

    value: float
    window: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Alone:
    """A strategy by scores; reason: the words for a choice it decided, with {window} and {value} to be filled in."""

    reason: str
    reads_ranks: bool = False
    reads_windows: bool = True
    reads_pressure: bool = False

    def score(self, readings: Iterable[Reading], now: datetime, more: float = 0.0) -> Score | None:
        """How much an account would be liked if so much more were used of each window; None when too little is known.

        More use must never raise it.
        """
        raise NotImplementedError

    def order(self, free: Free) -> Likings:
        """The highest score first."""
        scores: dict[str, Score] = {}
        for one in free.candidates:
            score = self.score(one.readings, free.now)
            if score is not None:
                scores[one.account.id] = Score(round(score.value, DIGITS), score.window)
        stays = self._stays(free, scores)
        best = max(score.value for score in scores.values()) if scores else 0.0
        likings = {}
        for one in free.candidates:
            found = scores.get(one.account.id)
            if found is not None:
                because = self.reason.format(window=found.window, value=found.value)
                rest = (one.leases, one is not stays)
                likings[one.account.id] = Liking((-best if one is stays else -found.value, *rest), because)
        return likings

    def _stays(self, free: Free, scores: Mapping[str, Score]) -> Candidate | None:
        """The idle account of the latest free choice, unless it is beaten."""
        latest = idle_latest(free)
        if latest is None or latest.account.id not in scores:
            return None
        own = scores[latest.account.id].value
        above = [one for one in free.candidates if one.account.id in scores and scores[one.account.id].value > own]

        def scored(one: Candidate, more: float) -> float:
            found = self.score(one.readings, free.now, more)
            return -1.0 if found is None else found.value

        return None if above and is_beaten(latest, above, scored) else latest
