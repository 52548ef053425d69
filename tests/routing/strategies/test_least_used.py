"""Tests of routing/strategies/least_used.py."""

import pytest

from routing.readings import Reading
from routing.strategies.alone import Score
from routing.strategies.contract import Strategy
from routing.strategies.least_used import LeastUsed
from tests.routing.made import NOON, reading
from tests.routing.strategies.contract import StrategyContract


class TestLeastUsed(StrategyContract):
    """The strategy keeps the contract."""

    strategy: Strategy = LeastUsed()


CASES = [
    ("one window", (reading(used=0.25),), Score(0.75, "7d")),
    ("the fullest decides", (reading(used=0.25), reading("5h", 0.5), reading("7d_opus", 0.375)), Score(0.5, "5h")),
    ("its reset has passed", (reading(used=0.9, resets=0),), Score(1.0, "7d")),
    ("a reset that passed leaves the others", (reading("5h", 0.9, resets=-1), reading(used=0.25)), Score(0.75, "7d")),
    ("its reset is not known", (reading(used=0.25, resets=None),), Score(0.75, "7d")),
    ("used beyond the limit", (reading(used=1.1),), Score(0.0, "7d")),
    ("what was not read is passed over", (reading("5h", None), reading(used=0.25)), Score(0.75, "7d")),
    ("nothing was read", (reading(used=None),), None),
]


@pytest.mark.parametrize(("shown", "expected"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_room_of_the_fullest_window(shown: tuple[Reading, ...], expected: Score | None) -> None:
    """The score is what is left of the fullest window."""
    assert LeastUsed().score(shown, NOON) == expected


def test_the_reason_says_what_is_left() -> None:
    """The words give the room in percent."""
    assert LeastUsed().reason.format(window="7d", value=0.25) == "7d is its fullest window, with 25% left"
