"""Prefer the account that starts afresh first: what it has left is lost soonest, so it is used first.

The law, the first line that differs decides:

    1. the soonest reset of a weekly window, if it is to come and the window's use is known
    2. the soonest reset of a 5-hour window, if it is to come
    3. the least use of the 5-hour windows, 0 where nothing was read

The account of the latest free choice, if it is idle, is not left for a third line that is better by noise alone. Rank goes before all of this, and
a nearly full account comes after, as with every strategy. What is not known comes after all that is known. Resets within the same minute are equal: the same one is reported
a few seconds apart. The three lines are packed into one whole number, the first in its highest digits.
None of the three known: no score.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from routing.moments import MINUTE_US, microseconds, nearest_minute
from routing.readings import Reading, lapsed, used_at
from routing.strategies.alone import Alone, Score
from routing.windows import SESSION, WEEK

_MINUTE = timedelta(minutes=1)
_WEEK_MINUTES, _SESSION_MINUTES = WEEK // _MINUTE + 1, SESSION // _MINUTE + 1  # with both ends
_USE_STEPS = 1000


class Found(NamedTuple):
    """The most that was found of something, and the window where it was."""

    much: float = 0
    key: str = ""


type Parts = tuple[Found, Found, Found, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class SoonestReset(Alone):
    """The strategy."""

    reason: str = "soonest reset first, by {window}"

    def score(self, readings: Iterable[Reading], now: datetime, more: float = 0.0) -> Score | None:
        """Pack how near the resets are and how little is used; None when nothing of it is known."""
        week, session, most, left = parts(readings, now, more)
        value = (week.much * (_SESSION_MINUTES + 1) + session.much) * (_USE_STEPS + 1) + left
        window = next((one.key for one in (week, session) if one.much), most.key)
        return Score(value, window) if window else None


def parts(readings: Iterable[Reading], now: datetime, more: float = 0.0) -> Parts:
    """The law's three lines: how near the resets of a week and of a 5-hour window are, the most use, and what it leaves in steps."""
    minute = microseconds(now) // MINUTE_US
    week = session = most = Found()
    for reading in readings:
        length = reading.window.length
        if length == WEEK and reading.used is not None:
            week = max(week, Found(_nearness(reading, _WEEK_MINUTES, minute, now), reading.window.key))
        elif length == SESSION:
            session = max(session, Found(_nearness(reading, _SESSION_MINUTES, minute, now), reading.window.key))
            use = used_at(reading, now)
            most = most if use is None else max(most, Found(use, reading.window.key))
    return week, session, most, round((1 - min(max(most.much + more, 0.0), 1.0)) * _USE_STEPS)


def _nearness(reading: Reading, last: int, minute: int, now: datetime) -> int:
    """Count in whole minutes from the farthest that a reset can be; 1 for what is farther still, 0 for none that is to come."""
    if reading.ends_us is None or lapsed(reading, now):
        return 0
    left = nearest_minute(reading.ends_us) - minute
    return min(max(last - left, 1), last)
