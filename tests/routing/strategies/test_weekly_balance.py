"""Tests of routing/strategies/weekly_balance.py."""

import pytest

from routing.readings import Reading
from routing.strategies.alone import Score
from routing.strategies.contract import Candidate, Strategy
from routing.strategies.weekly_balance import WeeklyBalance
from tests.routing.made import ANN, BEN, NOON, account, reading
from tests.routing.strategies.contract import RESERVES, StrategyContract, chosen, free, with_shown

BALANCE = WeeklyBalance()


class TestWeeklyBalance(StrategyContract):
    """The strategy keeps the contract."""

    strategy: Strategy = BALANCE


def one(week: float, session: float = 1.0) -> tuple[Reading, Reading]:
    """So much left of the week and of the 5-hour window."""
    return reading(used=1 - week), reading("5h", 1 - session, resets=3)


CASES = [
    ("a tenth more changes over", one(0.5), one(0.6), "b"),
    ("less stays", one(0.5), one(0.59), "a"),
    ("the other 5h must have half left", one(0.5), one(0.9, 0.49), "a"),
    ("half is enough", one(0.5), one(0.9, 0.5), "b"),
    ("the own 5h need not have half left, unlike its model's", one(0.5, 0.3), one(0.9), "b"),
    ("below 10 % it is left at once", one(0.8, 0.09), one(0.3, 0.4), "b"),
    ("at 10 % not yet", one(0.8, 0.10), one(0.3, 0.4), "a"),
    ("but only for one with 20 %", one(0.8, 0.09), one(0.8, 0.15), "a"),
    ("one with less than 20 % is not changed to", one(0.05), one(0.19), "a"),
]


@pytest.mark.parametrize(("latest", "other", "expected"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_when_it_changes_over(latest: tuple[Reading, ...], other: tuple[Reading, ...], expected: str) -> None:
    """By a tenth of a week, to one with half of its 5-hour window left."""
    choice = free(with_shown(ANN, *latest), with_shown(BEN, *other), latest=ANN)

    assert chosen(BALANCE, choice)[0] == expected


def test_what_is_left_of_the_week() -> None:
    """Of the fullest week, less its reserve; all of a fresh one; nothing where no week is known."""
    assert BALANCE.score(with_shown(ANN, reading(used=0.25), reading("7d_opus", 0.5)), NOON) == Score(0.5, "7d_opus")
    assert BALANCE.score(with_shown(ANN, reading(used=0.9, resets=0)), NOON) == Score(1.0, "7d")
    held = Candidate(account=account(), readings=(reading(used=0.3),), reserves=RESERVES)
    found = BALANCE.score(held, NOON)
    assert found is not None
    assert found.value == pytest.approx(0.5)
    assert BALANCE.score(with_shown(ANN, reading(used=None), reading("5h", 0.1)), NOON) is None


def test_an_unknown_week_comes_last() -> None:
    """It is neither kept nor changed to while another is known."""
    unknown, known = with_shown(ANN, reading("5h", 0.0)), with_shown(BEN, *one(0.2))

    assert chosen(BALANCE, free(unknown, known, latest=ANN)) == BEN
    assert chosen(BALANCE, free(unknown, known, latest=BEN)) == BEN


def test_the_reasons() -> None:
    """How much is left, or that it stays."""
    choice = free(with_shown(ANN, *one(0.5)), with_shown(BEN, *one(0.55)), latest=ANN)
    likings = BALANCE.order(choice)

    assert likings[ANN].because == "the latest choice, for none is better by enough"
    assert likings[BEN].because == "7d has 55% left, a better balance"
