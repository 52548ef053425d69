"""Whether a 5-hour window will run out before its reset at the rate at which it was used lately.

What was read of a window is kept as levels: one for each higher use, from when it was first read to when it was last. A later reset, or
a fall by a tenth, begins anew; a smaller fall is noise between answers. Of what is older than half an hour only the last level is
kept, the baseline: use since then is recent.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from types import MappingProxyType

from routing.readings import JITTER, Reading, Status, lapsed
from routing.windows import SESSION
from routing.words import AccountId

LATELY = timedelta(minutes=30)
LEAST = timedelta(minutes=10)  # a shorter time gives no recent rate
BEGUN = timedelta(minutes=15)  # of a window's 5 hours, before which its whole rate is not known either
FALL = 0.1
BOUND = 128  # levels of a window; answers come in whole percents
_HOUR = timedelta(hours=1)
_HOUR_S, _SESSION_S, _BEGUN_S = _HOUR.total_seconds(), SESSION.total_seconds(), BEGUN.total_seconds()
_SLACK = 1e-9
NOTHING: Mapping[str, "Levels"] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Level:
    """One use, a fraction of the limit, as it was first and last read."""

    used: float
    first: datetime
    last: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Pressure:
    """A window that runs out before its reset; rate: fraction of the limit per hour."""

    window: str
    rate: float
    runs_out_at: datetime
    is_recent: bool

    @property
    def because(self) -> str:
        """A few words for people."""
        since = "lately" if self.is_recent else "since it began"
        return f"{self.window} runs out before its reset: {self.rate:.0%} an hour {since}"


@dataclass(frozen=True, slots=True)
class Levels:
    """What was read of one window until its reset, lowest and oldest level first."""

    resets_at: datetime | None
    levels: tuple[Level, ...]


@dataclass(slots=True)
class Pressures:
    """The levels of each account's 5-hour windows, by key."""

    _levels: dict[AccountId, dict[str, Levels]] = field(default_factory=dict)

    def read(self, account: AccountId, reading: Reading) -> None:
        """Take in what is now known of a window."""
        if reading.window.length == SESSION and reading.used is not None:
            known = self._levels.setdefault(account, {})
            known[reading.window.key] = grown(known.get(reading.window.key), reading.used, reading)

    def drop(self, account: AccountId) -> None:
        """The account is gone."""
        self._levels.pop(account, None)

    def of(
        self, account: AccountId, readings: Iterable[Reading], now: datetime, *, reserve: float = 0.0, more: float = 0.0
    ) -> Pressure | None:
        """The first of an account's 5-hour windows to run out before its reset; None when none does.

        reserve: the fraction that is held back. more: how much more is used than was read.
        """
        known = self._levels.get(account, NOTHING)
        found = None
        for reading in readings:
            if reading.window.length == SESSION:
                levels = known.get(reading.window.key)
                one = pressure(reading, levels.levels if levels else (), now, reserve=reserve, more=more)
                if one is not None and (found is None or one.runs_out_at < found.runs_out_at):
                    found = one
        return found

    def is_pressed(
        self, account: AccountId, readings: Iterable[Reading], now: datetime, *, reserve: float, more: float
    ) -> bool:
        """Whether a 5-hour window is under pressure, or out: being spent must not bring an account forward again."""
        known = self._levels.get(account, NOTHING)
        for reading in readings:
            window = reading.window
            if window.length == SESSION:
                held = known.get(window.key)
                levels = held.levels if held is not None else ()
                if _pressing(reading, levels, now, reserve, more) or is_out(reading, now, reserve, more):
                    return True
        return False


def is_out(reading: Reading, now: datetime, reserve: float = 0.0, more: float = 0.0) -> bool:
    """Whether the window has run out, and its reset is to come."""
    if reading.status is not Status.REJECTED and (reading.used is None or reading.used + more < 1 - reserve - _SLACK):
        return False
    return not lapsed(reading, now)


def grown(held: Levels | None, used: float, reading: Reading) -> Levels:
    """Add what was read to a window's levels."""
    at, resets_at = reading.taken_at, reading.resets_at
    levels = held.levels if held is not None and not _is_anew(held, used, resets_at) else ()
    if not levels:
        return Levels(resets_at, (Level(used, at, at),))
    top = levels[-1]
    if used > top.used:
        levels = (*levels, Level(used, max(at, top.last), max(at, top.last)))
    elif used == top.used:
        levels = (*levels[:-1], Level(used, top.first, max(at, top.last)))
    levels = lately(levels, at)
    if len(levels) > BOUND + 1:
        levels = (levels[0], *levels[-BOUND:])
    return Levels(resets_at or (held.resets_at if held else None), levels)


def _is_anew(held: Levels, used: float, resets_at: datetime | None) -> bool:
    is_later = held.resets_at is not None and resets_at is not None and resets_at > held.resets_at + JITTER
    return is_later or used <= held.levels[-1].used - FALL + _SLACK


def lately(levels: tuple[Level, ...], now: datetime) -> tuple[Level, ...]:
    """The baseline, the last level that was first read half an hour ago or earlier, and each level since."""
    cut, start = now - LATELY, 0
    for at in range(1, len(levels)):
        if levels[at].first > cut:
            break
        start = at
    return levels[start:] if start else levels


def pressure(
    reading: Reading, levels: tuple[Level, ...], now: datetime, *, reserve: float = 0.0, more: float = 0.0
) -> Pressure | None:
    """Whether the window runs out before its reset; None also when that cannot be told."""
    found = _pressing(reading, levels, now, reserve, more)
    if found is None or reading.used is None:
        return None
    rate, is_recent = found
    runs_out_at = now + (1 - reserve - max(reading.used + more, 0.0)) / rate * _HOUR
    return Pressure(window=reading.window.key, rate=rate, runs_out_at=runs_out_at, is_recent=is_recent)


def _pressing(
    reading: Reading, levels: tuple[Level, ...], now: datetime, reserve: float, more: float
) -> tuple[float, bool] | None:
    """The rate at which a window runs out before its reset, and whether it is a recent one."""
    resets_at = reading.resets_at
    if reading.used is None or resets_at is None or reading.status is Status.REJECTED:
        return None
    recent = recent_rate(levels, now)
    if recent == 0:
        return None
    used = max(reading.used + more, 0.0)
    room, left = 1 - reserve - used, (resets_at - now).total_seconds()
    if used >= 1 or room <= _SLACK or left <= 0:
        return None
    rate = recent if recent is not None else _whole_rate(used, left)
    if rate * left <= room * _HOUR_S:
        return None
    return rate, recent is not None


def recent_rate(levels: tuple[Level, ...], now: datetime) -> float | None:
    """Compute the use per hour since the baseline; None when what is known is not ten minutes old.

    After a gap of more than half an hour, the rise is spread over the gap.
    """
    if not levels or now - levels[0].first < LEAST:
        return None
    if len(levels) == 1:
        return 0.0
    begin, cut = lately(levels, now)[0], now - LATELY
    since = begin.first if begin.first > cut else min(begin.last, cut)
    risen = levels[-1].used - begin.used
    return risen / ((now - since) / _HOUR) if risen > 0 else 0.0


def _whole_rate(used: float, left: float) -> float:
    """Compute the use per hour since the window began, so many seconds before its reset; 0 in its first minutes."""
    passed = _SESSION_S - left
    return 0.0 if passed < _BEGUN_S else used / passed * _HOUR_S
