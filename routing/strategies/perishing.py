"""Prefer the account whose week would lose the most unused room per hour if nobody used it.

The law, for each weekly window that counts for the demand:

    score = (1 - used - reserve) / max(hours to its reset, 1)        in fractions of the limit per hour
    score = (1 - reserve) / 168                                      once its reset has passed: a new week begins

An account's score is the lowest among its weekly windows, because the tightest one decides what can still be used.
No weekly window with a known use and reset: no score.

    1. accounts under pressure come last, unless all are
    2. a conversation's own account, its cache gone cold, is left only for a score 1.2 times as high
    3. scores of at least 0.8 of the best are near equal: among them the sooner reset of a 5-hour window, unknown or passed last,
       then the higher score, then the less used of the shortest window
    4. the account of the latest free choice, if it is idle, is left only for one that comes before it even if each reading is a point off
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from routing.moments import nearest_minute
from routing.readings import Reading, lapsed, used_at
from routing.strategies.alone import Score
from routing.strategies.contract import Candidate, Free, Liking, Likings
from routing.strategies.steady import DIGITS, POINT, SLACK, idle_latest
from routing.windows import SESSION, WEEK
from routing.words import AccountId

_HOUR = timedelta(hours=1)
_WEEK_HOURS = WEEK / _HOUR
_NEAR = 0.8  # of the best score
_LEAVE = 1.2  # times its own account's score
OWN, PREFERRED, OTHERS, PRESSED = 0, 1, 2, 3
NEVER = 10**9  # minutes after 1970: after every reset

type Scores = Mapping[AccountId, Score]


@dataclass(frozen=True, slots=True, kw_only=True)
class Perishing:
    """The strategy."""

    reads_ranks: bool = False
    reads_windows: bool = True
    reads_pressure: bool = True

    def order(self, free: Free) -> Likings:
        """Like the law says."""
        found = {one.account.id: score(one, free.now) for one in free.candidates}
        scores = {account: its for account, its in found.items() if its is not None}
        known = [one for one in free.candidates if one.account.id in scores]
        relief = [one for one in known if not one.pressed] or known
        likings = _ordered(relief, scores, free)
        if len(relief) == len(known):
            return likings
        return _with_pressed(likings, _ordered(known, scores, free), known, scores)


def score(one: Candidate, now: datetime, more: float = 0.0) -> Score | None:
    """Find the lowest loss per hour among an account's weekly windows if so much more were used; None when none is known."""
    lowest, window = math.inf, ""
    for reading in one.readings:
        if reading.window.length == WEEK:
            room = 1 - one.reserve(reading.window) if one.reserves else 1.0
            loss = _loss(reading, room, now, more)
            if loss < lowest:
                lowest, window = loss, reading.window.key
    return Score(lowest, window) if window else None


def _loss(reading: Reading, room: float, now: datetime, more: float) -> float:
    """Compute what one window loses per hour; infinite when that is not known."""
    if reading.resets_at is None:
        return math.inf
    hours = (reading.resets_at - now) / _HOUR
    if hours <= 0:  # its reset has passed
        return room / _WEEK_HOURS
    if reading.used is None:
        return math.inf
    left = room - max(reading.used + more, 0.0)
    if left <= 0:
        return 0.0
    return left / hours if hours > 1 else left


def _ordered(among: list[Candidate], scores: Scores, free: Free) -> dict[AccountId, Liking]:
    """Lines 2 to 4 of the law."""
    best = max((scores[one.account.id].value for one in among), default=0.0)
    likings = {one.account.id: _liking(one, scores, best, free.now) for one in among}
    home = free.home
    if home is not None and home in likings and not _is_worth_leaving(scores[home].value, best):
        likings[home] = Liking((OWN,), f"its own account, for no other is worth a move ({scores[home].value:.3f}/h)")
        return likings
    latest = idle_latest(free)
    if latest is None or latest.account.id not in likings:
        return likings
    for account in _preferred(latest, among, likings, free.now):
        key, because = likings[account]
        likings[account] = Liking((PREFERRED, *key[1:]), because)
    return likings


def _preferred(latest: Candidate, among: list[Candidate], likings: Likings, now: datetime) -> list[AccountId]:
    """The accounts that are surely before the latest one; the latest itself where there is none; empty where it is far from the best."""
    earlier = [one for one in among if likings[one.account.id].key < likings[latest.account.id].key]
    high = _value(latest, now, -POINT)
    if any(_NEAR * _value(one, now, POINT) > high + SLACK for one in earlier):
        return []
    ends = _session_end(latest, now)
    sure = [one.account.id for one in earlier if _session_end(one, now) <= ends and _value(one, now, POINT) > high]
    sooner = [one for one in earlier if one.account.id not in sure and _session_end(one, now) < ends]
    if sooner:
        highs = {one.account.id: _value(one, now, -POINT) for one in among}
        sure += [one.account.id for one in sooner if _is_near(one, highs, now)]
    return sure or [latest.account.id]


def _is_near(one: Candidate, highs: Mapping[AccountId, float], now: datetime) -> bool:
    """Whether an account is near the best even if its readings are a point too low, and those of the others too high."""
    low = _value(one, now, POINT)
    return all(low >= _NEAR * high - SLACK for account, high in highs.items() if account != one.account.id)


def _value(one: Candidate, now: datetime, more: float) -> float:
    found = score(one, now, more)
    return 0.0 if found is None else found.value


def _is_worth_leaving(own: float, best: float) -> bool:
    return best > own and best >= _LEAVE * own - SLACK


def _liking(one: Candidate, scores: Scores, best: float, now: datetime) -> Liking:
    value, window = scores[one.account.id]
    is_near = value >= _NEAR * best - SLACK
    told = f"{window} perishes soonest ({value:.3f}/h)"
    if not is_near:
        return Liking((OTHERS, 1, -round(value, DIGITS)), told)
    resets = _session_end(one, now)
    key = (OTHERS, 0, resets, -round(value, DIGITS), _shortest_use(one, now))
    if value < best - SLACK and resets < NEVER:
        return Liking(key, f"its 5h resets first, and {window} perishes nearly soonest ({value:.3f}/h)")
    return Liking(key, told)


def _session_end(one: Candidate, now: datetime) -> int:
    """Tell the soonest reset of a 5-hour window that runs, in whole minutes after 1970; never without any."""
    end = NEVER
    for reading in one.readings:
        if reading.window.length == SESSION and (ends := reading.ends_us) is not None and not lapsed(reading, now):
            end = min(end, nearest_minute(ends))
    return end


def shortest(one: Candidate) -> Reading:
    """The reading of the shortest window, of which there is one."""
    return min(one.readings, key=lambda r: (r.window.length, r.window.key))


def _shortest_use(one: Candidate, now: datetime) -> float:
    """How much of the shortest window is used; 0 once it has reset, or where it is not known."""
    return used_at(shortest(one), now) or 0.0


def _with_pressed(
    likings: Likings, without: Likings, known: list[Candidate], scores: Scores
) -> dict[AccountId, Liking]:
    """Put those under pressure last; without: how all would be liked without it. Name one of them where it changed the choice."""
    pressed = [one for one in known if one.account.id not in likings]
    last = {
        one.account.id: Liking((PRESSED, *without[one.account.id].key), without[one.account.id].because)
        for one in pressed
    }
    named = min(known, key=lambda one: without[one.account.id].key)
    if named.account.id == min(likings, key=lambda account: likings[account].key):
        return {**likings, **last}
    if not named.pressed:
        named = max(pressed, key=lambda one: scores[one.account.id].value)
    told = f", {named.account.name} under pressure"
    return {**{account: Liking(key, because + told) for account, (key, because) in likings.items()}, **last}
