"""What the Router is shown of the world."""

import pytest

from routing.simulation.answers import reading, verdict
from routing.simulation.books import Gauge
from routing.simulation.world import Refused
from routing.verdicts import HoldOrder
from routing.words import Family
from tests.routing.made import NOON, hours

FABLE = Family("fable")
HOURS, WEEK = Gauge(key="5h", used=9, capacity=9, resets_at=3600), Gauge(key="7d", used=9, capacity=9, resets_at=7200)
UNOPENED = Gauge(key="5h", used=0, capacity=9, resets_at=None)
LINE = Gauge(key="7d_fable", used=9, capacity=9, resets_at=7200, family=FABLE)


@pytest.mark.parametrize(
    ("short", "row", "family", "windows", "end"),
    [
        ((HOURS,), 13, None, {"5h"}, 1),
        ((WEEK,), 13, None, {"7d"}, 2),
        ((HOURS, WEEK), 13, None, {"5h", "7d"}, 2),
        ((UNOPENED, WEEK), 13, None, {"5h", "7d"}, 2),
        ((LINE,), 12, FABLE, {"7d_fable"}, 2),
    ],
)
def test_a_refusal_holds_until_the_last_window_resets(
    short: tuple[Gauge, ...], row: int, family: Family | None, windows: set[str], end: float
) -> None:
    """Of the whole account, or of one family."""
    judged = verdict(Refused(short=short), NOON)

    assert (judged.row, judged.because) == (row, f"{short[-1].key} limit")
    assert judged.hold == HoldOrder(until=NOON + hours(end), family=family, windows=frozenset(windows))


def test_a_turn_too_large_for_a_whole_window_holds_nothing() -> None:
    """No reset would help it, and smaller ones fit."""
    assert verdict(Refused(short=(UNOPENED,)), NOON).hold is None


@pytest.mark.parametrize(
    ("used", "capacity", "shown"),
    [(0, 200, 0), (1, 200, 0), (3, 200, 0.02), (5, 200, 0.02), (199, 200, 1), (200, 200, 1), (1, 3, 0.33), (0, 0, 1)],
)
def test_use_is_shown_in_whole_percents(used: float, capacity: float, shown: float) -> None:
    """A half goes to the even one; a window that holds nothing is full."""
    taken = reading(Gauge(key="7d", used=used, capacity=capacity, resets_at=3600), NOON, NOON + hours(0.5))

    assert (taken.used, taken.resets_at, taken.taken_at) == (shown, NOON + hours(1), NOON + hours(0.5))


def test_a_window_has_a_known_name() -> None:
    """Otherwise the reading would be of nothing."""
    with pytest.raises(ValueError, match="'day'"):
        reading(Gauge(key="day", used=0, capacity=1, resets_at=None), NOON, NOON)
