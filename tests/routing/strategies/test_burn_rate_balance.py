"""Tests of routing/strategies/burn_rate_balance.py."""

import pytest

from routing.readings import Reading
from routing.strategies.burn_rate_balance import BurnRateBalance
from routing.strategies.contract import Candidate, Strategy
from tests.routing.made import ANN, BEN, NOON, account, reading
from tests.routing.strategies.contract import RESERVES, StrategyContract, chosen, free, with_shown

BURN = BurnRateBalance()


class TestBurnRateBalance(StrategyContract):
    """The strategy keeps the contract."""

    strategy: Strategy = BURN


def session(left: float, hours: float | None) -> Reading:
    """So much left of the 5-hour window, with so many hours to its reset."""
    return reading("5h", 1 - left, resets=hours)


RATES = [
    ("70 % left with 4 of 5 hours to go", (session(0.7, 4),), 0.875),
    ("half left with half the time to go", (session(0.5, 2.5),), 1.0),
    ("an unknown reset: all the time is to come", (session(0.99, None),), 0.99),
    ("a reset in the past: a fresh window, not an infinite rate", (session(0.1, -1),), 1.0),
    ("a reset just now", (session(0.1, 0),), 1.0),
    ("the last minutes count as an hour", (session(0.5, 1 / 60),), 2.5),
    ("the lowest of the windows", (session(0.5, 2.5), reading(used=0.5, resets=168)), 0.5),
    ("more than its length to go is its length", (session(0.5, 6),), 0.5),
    ("used up and beyond", (reading("5h", 1.2, resets=2),), 0.0),
]


@pytest.mark.parametrize(("shown", "expected"), [c[1:] for c in RATES], ids=[c[0] for c in RATES])
def test_the_rate(shown: tuple[Reading, ...], expected: float) -> None:
    """What is left, for the share of its time that is to come."""
    found = BURN.score(with_shown(ANN, *shown), NOON)

    assert found is not None
    assert found.value == pytest.approx(expected)


def test_a_reserve_is_not_left_and_nothing_known_is_no_score() -> None:
    """A tenth held back of the 5-hour window."""
    held = Candidate(account=account(), readings=(session(0.6, 2.5),), reserves=RESERVES)
    found = BURN.score(held, NOON)
    assert found is not None
    assert found.value == pytest.approx(1.0)
    assert BURN.score(with_shown(ANN, reading(used=None)), NOON) is None


CASES = [
    ("0.875 against 1: more than 10 % better", (session(0.7, 4),), (session(1.0, 5),), "b"),
    ("1 against 1", (session(0.5, 2.5),), (session(1.0, 5),), "a"),
    ("both resets unknown", (session(0.99, None),), (session(1.0, None),), "a"),
    ("9 % better stays", (session(0.5, 2.5),), (session(0.872, 4),), "a"),
    ("the other 5h must have half left", (session(0.9, 5),), (session(0.49, 1),), "a"),
    ("half is enough", (session(0.9, 5),), (session(0.5, 1),), "b"),
    ("below 10 % it is left at once", (session(0.09, 0.1),), (session(0.25, 5),), "b"),
    ("a fresh window attracts no more than its rate", (session(0.95, 5),), (session(0.0, -1),), "a"),
    (
        "better by 10 %, but not by noise",
        (reading(used=0.96), session(1, 5)),
        (reading(used=0.955), session(1, 5)),
        "a",
    ),
]


@pytest.mark.parametrize(("latest", "other", "expected"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_when_it_changes_over(latest: tuple[Reading, ...], other: tuple[Reading, ...], expected: str) -> None:
    """By a tenth of the rate; its model weighed one side by that tenth and had no margin for the other."""
    with_week = [shown if len(shown) > 1 else (*shown, reading(used=0.0, resets=24)) for shown in (latest, other)]
    choice = free(with_shown(ANN, *with_week[0]), with_shown(BEN, *with_week[1]), latest=ANN)

    assert chosen(BURN, choice)[0] == expected


def test_the_reason_is_the_rate() -> None:
    """In times of what the time to the reset needs."""
    likings = BURN.order(free(with_shown(ANN, session(0.8, 4))))

    assert likings[ANN].because == "5h has 1.00 times the room that the time to its reset needs"
