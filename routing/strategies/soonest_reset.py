"""Prefer the account that starts afresh first: what it has left is lost soonest, so it is used first.

The law, the first line that differs decides:

    1. the soonest reset of a weekly window, if it is to come and the window's use is known
    2. the soonest reset of a 5-hour window, if it is to come
    3. the least use of the 5-hour windows, 0 where nothing was read

What is not known comes after all that is known. Resets within the same minute are equal: the same one is reported
a few seconds apart. The three lines are packed into one whole number, the first in its highest digits.
None of the three known: no score.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from routing.readings import Reading, lapsed, used_at
from routing.strategies.contract import Score
from routing.windows import WEEK

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MINUTE = timedelta(minutes=1)
_SESSION = timedelta(hours=5)
_USE_STEPS = 1000


@dataclass(frozen=True, slots=True)
class SoonestReset:
    """The strategy."""

    reason: str = "soonest reset first, by {window}"

    def score(self, readings: Iterable[Reading], now: datetime) -> Score | None:
        """Pack how near the resets are and how little is used; None when nothing of it is known."""
        known = list(readings)
        week, week_key = _nearest((r for r in known if r.used is not None), WEEK, now)
        session, session_key = _nearest(known, _SESSION, now)
        used, used_key = _most_used(known, now)
        window = week_key or session_key or used_key
        value = (week * _steps(_SESSION) + session) * (_USE_STEPS + 1) + round((1 - used) * _USE_STEPS)
        return Score(value, window) if window else None


def _nearest(readings: Iterable[Reading], length: timedelta, now: datetime) -> tuple[int, str]:
    """Find the window of this length whose reset comes first: how near it is, from 1, and its key; 0 without any."""
    found = ((_nearness(r.resets_at, length, now), r) for r in readings if r.window.length == length if r.resets_at)
    return max(((near, r.window.key) for near, r in found if not lapsed(r, now)), default=(0, ""))


def _nearness(resets_at: datetime, length: timedelta, now: datetime) -> int:
    """Count in whole minutes from the farthest that a reset can be; 1 for what is farther still."""
    left = round((resets_at - _EPOCH) / _MINUTE) - (now - _EPOCH) // _MINUTE
    return min(max(_steps(length) - 1 - left, 1), _steps(length) - 1)


def _steps(length: timedelta) -> int:
    """How many values the nearness of a reset may have: unknown, and each minute with both ends."""
    return length // _MINUTE + 2


def _most_used(readings: Iterable[Reading], now: datetime) -> tuple[float, str]:
    """Find the fullest 5-hour window: its use, at most 1, and its key; 0 without any."""
    sessions = [r for r in readings if r.window.length == _SESSION]
    return max(
        ((min(used, 1.0), r.window.key) for r in sessions if (used := used_at(r, now)) is not None), default=(0.0, "")
    )
