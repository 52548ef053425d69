"""Tests of routing/strategies/perishing.py."""

import pytest

from routing.readings import Reading
from routing.strategies.contract import Strategy
from routing.strategies.perishing import Perishing
from tests.routing.made import NOON, reading
from tests.routing.strategies.contract import StrategyContract


class TestPerishing(StrategyContract):
    """The strategy keeps the contract."""

    strategy: Strategy = Perishing()


class TestPerishingWithReserve(StrategyContract):
    """It does so with a reserve too."""

    strategy: Strategy = Perishing(reserve=0.1)


CASES = [
    ("half used, a day left", 0.0, reading(used=0.5, resets=24), 0.0208),
    ("half used, a day left, a tenth reserved", 0.1, reading(used=0.5, resets=24), 0.0167),
    ("half used, five days left", 0.0, reading(used=0.5, resets=120), 0.0042),
    ("nearly used up", 0.0, reading(used=0.95, resets=24), 0.0021),
    ("minutes left count as an hour", 0.0, reading(used=0.5, resets=0.2), 0.5),
    ("the reset has passed", 0.0, reading(used=0.5, resets=0), 0.00595),
    ("nothing was reported before the reset passed", 0.0, reading(used=None, resets=-1), 0.00595),
    ("used beyond the limit", 0.0, reading(used=1.1, resets=24), 0.0),
    ("at its reserve", 0.2, reading(used=0.9, resets=24), 0.0),
]


@pytest.mark.parametrize(("reserve", "shown", "expected"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_loss_per_hour(reserve: float, shown: Reading, expected: float) -> None:
    """The score is the unused room of the week per hour to its reset."""
    score = Perishing(reserve=reserve).score((shown,), NOON)

    assert score is not None
    assert score.value == pytest.approx(expected, rel=0.01)


@pytest.mark.parametrize("shown", [(), (reading("5h", 0.1),), (reading(resets=None),), (reading(used=None),)], ids=str)
def test_no_score_without_a_known_week(shown: tuple[Reading, ...]) -> None:
    """A week whose use or reset is unknown gives no score, and a 5-hour window never does."""
    assert Perishing().score(shown, NOON) is None


def test_the_tightest_week_decides() -> None:
    """Of a shared week and a model line's, the one that loses least per hour is the score."""
    score = Perishing().score((reading("7d", 0.1), reading("7d_opus", 0.9), reading("7d_oi", 0.5)), NOON)

    assert score is not None
    assert score.window == "7d_opus"
