"""What windows hold, estimated from what was paid while readings of them rose.

    capacity = units paid between two readings of one window / the rise of its share used between them

summed over all windows of that kind. Readings are whole percents, so each stretch of them is known to about half a percent, and a tenth
of a window must have been seen. An account that was used less is estimated from all of them, by the sizes of their plans. Use from
elsewhere raises readings too and makes the estimate smaller, which is careful.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import sqrt
from typing import Any, NamedTuple

from flowpool.errors import Failure
from routing.windows import KNOWN_LINES, Window
from routing.words import Family

ENOUGH = 0.1  # of a window, below which too little is known
SAME_RESET = timedelta(minutes=1)  # one reset is reported a few seconds apart
FELL = 0.02  # a share that is smaller by more than this is of another window
ROUNDING = 0.01 / sqrt(6)  # the standard error of a rise between two readings in whole percents
SIGMAS = 2  # about 95 times of 100
NAMES = {"5h": "5-hour window", "7d": "week"}

type Row = Mapping[str, Any]


class Paid(NamedTuple):
    """What one answer cost, and when it had ended."""

    at: datetime
    units: float
    family: Family


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampled:
    """An account: its plan in multiples of the smallest, what was paid on it, and points of its windows by their keys."""

    name: str
    size: float
    paid: Sequence[Paid]
    readings: Mapping[str, Sequence[Row]]


class Rise(NamedTuple):
    """How far readings rose, over how many stretches, and what was paid meanwhile; all may be sums."""

    share: float = 0.0
    stretches: int = 0
    units: float = 0.0

    def plus(self, other: "Rise", size: float = 1.0) -> "Rise":
        """Add another one, on a plan of another size."""
        return Rise(self.share + other.share, self.stretches + other.stretches, self.units + other.units / size)

    @property
    def is_enough(self) -> bool:
        """Whether an estimate can rest on it."""
        return self.share >= ENOUGH and self.units > 0


class Estimate(NamedTuple):
    """What a window holds; error: how much that may be wrong by rounding, as a fraction of it. is_own: whether it was seen there."""

    units: float
    error: float
    is_own: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """An account's windows by their keys, and one reset of its week."""

    windows: Mapping[str, Estimate]
    week_resets_at: datetime

    def words(self) -> str:
        """Tell them to a person."""
        return ", ".join(
            f"{_name(key)} {its.units:.0f} units ±{its.error:.0%}{'' if its.is_own else ' by its plan'}"
            for key, its in self.windows.items()
        )


def sizes(accounts: Sequence[Sampled], days: int) -> dict[str, Sizes]:
    """Estimate the windows of every account that was read; raise Failure where too little is known of one that all have."""
    resets = {one.name: reset for one in accounts if (reset := _week_resets_at(one)) is not None}
    measured = [one for one in accounts if one.name in resets]
    found: dict[str, dict[str, Estimate]] = {one.name: {} for one in measured}
    for key in (*NAMES, *(f"7d_{line}" for line in KNOWN_LINES)):
        rises = {one.name: _rise(one, key) for one in measured}
        everyone = Rise()
        for one in measured:
            everyone = everyone.plus(rises[one.name], one.size)
        if not everyone.is_enough and key in NAMES:
            raise _too_little(key, everyone.share, days)
        for one in measured:
            if rises[one.name].is_enough:
                found[one.name][key] = _estimate(rises[one.name], 1, is_own=True)
            elif everyone.is_enough and (key in NAMES or one.readings.get(key)):
                found[one.name][key] = _estimate(everyone, one.size, is_own=False)
    return {name: Sizes(windows=windows, week_resets_at=resets[name]) for name, windows in found.items()}


def _too_little(key: str, share: float, days: int) -> Failure:
    return Failure(
        f"too little is known of what a {_name(key)} holds: requests of the last {days} days raised the readings of it by "
        f"{share:.0%} in all, and {ENOUGH:.0%} are needed; use the pool for longer, or look further back with --days"
    )


def _name(key: str) -> str:
    return NAMES.get(key, f"{NAMES['7d']} of {key.removeprefix('7d_')}")


def _estimate(rise: Rise, size: float, *, is_own: bool) -> Estimate:
    error = SIGMAS * ROUNDING * sqrt(rise.stretches) / rise.share
    return Estimate(rise.units / rise.share * size, error, is_own)


def _rise(one: Sampled, key: str) -> Rise:
    window = Window.parse(key)
    rise = Rise()
    for stretch in _stretches(one.readings.get(key, ())):
        first, last = stretch[0], stretch[-1]
        share = last["used"] - first["used"]
        if share > 0:
            units = sum(
                paid.units
                for paid in one.paid
                if first["taken_at"] < paid.at <= last["taken_at"]
                and (window is None or window.counts_for(paid.family))
            )
            rise = rise.plus(Rise(share, 1, units))
    return rise


def _stretches(rows: Sequence[Row]) -> Iterator[list[Row]]:
    """Part points into those of one window each."""
    stretch: list[Row] = []
    for row in rows:
        if row["used"] is None or row["taken_at"] is None:
            continue
        if stretch and _is_another(stretch[-1], row):
            yield stretch
            stretch = []
        stretch.append(row)
    if stretch:
        yield stretch


def _is_another(held: Row, told: Row) -> bool:
    if told["used"] < held["used"] - FELL:
        return True
    before, after = held["resets_at"], told["resets_at"]
    return before is not None and after is not None and abs(after - before) > SAME_RESET


def _week_resets_at(one: Sampled) -> datetime | None:
    """Find the last reset of its week that was read."""
    return next((row["resets_at"] for row in reversed(one.readings.get("7d", ())) if row["resets_at"]), None)
