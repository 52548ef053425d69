"""What one account has truly given: its 5-hour window, its week, and each family's part of the week.

The 5-hour window opens with the first use and lasts five hours. The week runs by the calendar. Both are half-open: at the second
of its reset a window is a new one.
"""

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from routing.simulation.workload import WEEK_S, WINDOW_S, Plan, family_of
from routing.words import Family

_SLACK = 1e-9  # of a capacity: sums of fractions are not exact


class Gauge(NamedTuple):
    """One window as it stands now; a tuple, for thousands of them are made every second.

    resets_at: None while it has not opened. family: the one that it limits; None limits all.
    """

    key: str
    used: float
    capacity: float
    resets_at: float | None
    family: Family | None = None

    @property
    def left(self) -> float:
        """What it still holds."""
        return max(self.capacity - self.used, 0.0)

    def fits(self, units: float) -> bool:
        """Whether it holds so much more."""
        return self.used + units <= self.capacity * (1 + _SLACK)


@dataclass(slots=True)
class Books:
    """The account's use; every question is about the moment to which it was turned last.

    lost: units that were left in weeks when they ended.
    """

    plan: Plan
    lost: float = 0.0
    _opened_at: float | None = None
    _in_window: float = 0.0
    _in_week: float = 0.0
    _by_family: dict[Family, float] = field(default_factory=dict)
    _caps: dict[Family, float] = field(init=False)
    _week_ends_at: float = field(init=False)

    def __post_init__(self) -> None:
        plan = self.plan
        self._caps = {family_of(model): share * plan.week for model, share in plan.models.items()}
        self._week_ends_at = plan.week_resets_at + WEEK_S * _weeks_begun(0.0 - plan.week_resets_at)

    def turn_to(self, now: float) -> None:
        """End the windows whose time has come; now never goes back."""
        if self._opened_at is not None and now >= self._opened_at + WINDOW_S:
            self._opened_at, self._in_window = None, 0.0
        if now >= self._week_ends_at:
            ended = _weeks_begun(now - self._week_ends_at)
            self.lost += max(self.plan.week - self._in_week, 0.0) + (ended - 1) * self.plan.week
            self._week_ends_at += ended * WEEK_S
            self._in_week = 0.0
            self._by_family.clear()

    def gauges(self, family: Family | None = None) -> tuple[Gauge, ...]:
        """List the windows that a request of the family uses; without one, those that all use."""
        plan, opened, week_ends = self.plan, self._opened_at, self._week_ends_at
        closes = None if opened is None else opened + WINDOW_S
        shared = (
            Gauge(key="5h", used=self._in_window, capacity=plan.window_5h, resets_at=closes),
            Gauge(key="7d", used=self._in_week, capacity=plan.week, resets_at=week_ends),
        )
        if family is None or family not in self._caps:
            return shared
        used, cap = self._by_family.get(family, 0.0), self._caps[family]
        own = Gauge(key=_key(family), used=used, capacity=cap, resets_at=week_ends, family=family)
        return (*shared, own)

    def charge(self, units: float, family: Family | None, now: float) -> None:
        """Enter use, which opens the 5-hour window; without a family it counts for none."""
        if self._opened_at is None:
            self._opened_at = now
        self._in_window += units
        self._in_week += units
        if family is not None:
            self._by_family[family] = self._by_family.get(family, 0.0) + units


def cut(units: float, gauges: Iterable[Gauge]) -> float:
    """Cut use to what fits."""
    return min([units, *(gauge.left for gauge in gauges)])


def _weeks_begun(seconds: float) -> int:
    """Count the weeks that have begun when so much time has passed since a reset; 1 in the first second."""
    return math.floor(seconds / WEEK_S) + 1


def _key(family: Family) -> str:
    return f"7d_{re.sub(r'[^a-z0-9]', '_', family)}"
