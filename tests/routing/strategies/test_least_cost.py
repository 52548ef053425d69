"""Tests of routing/strategies/least_cost.py."""

import pytest

from routing.strategies.contract import Candidate, Strategy
from routing.strategies.least_cost import LeastCost, used
from routing.words import AccountId, Kind
from tests.routing.made import ANN, BEN, CAT, NAMES, NOON, account, reading
from tests.routing.strategies.contract import StrategyContract, chosen, free, with_shown

LEAST_COST = LeastCost()


class TestLeastCost(StrategyContract):
    """The strategy keeps the contract."""

    strategy: Strategy = LEAST_COST


def key(name: AccountId, *, given_at: int = 0, rank: int | None = None) -> Candidate:
    """An API key."""
    return Candidate(account=account(name, kind=Kind.API_KEY, rank=rank), given_at=given_at)


WEEK_HALF = reading(used=0.5)
CASES = [
    ("the least used week", (with_shown(ANN, WEEK_HALF), with_shown(BEN, reading(used=0.4))), BEN),
    (
        "the week, not the 5-hour window",
        (with_shown(ANN, WEEK_HALF, reading("5h", 0.1)), with_shown(BEN, reading(used=0.4), reading("5h", 0.9))),
        BEN,
    ),
    (
        "the fullest week",
        (with_shown(ANN, reading(used=0.1), reading("7d_opus", 0.6)), with_shown(BEN, WEEK_HALF)),
        BEN,
    ),
    ("a 5-hour window where there is no week", (with_shown(ANN, reading("5h", 0.6)), with_shown(BEN, WEEK_HALF)), BEN),
    ("a fresh week is empty", (with_shown(ANN, WEEK_HALF), with_shown(BEN, reading(used=0.9, resets=0))), BEN),
    ("known before unknown", (with_shown(ANN, reading(used=None)), with_shown(BEN, reading(used=0.9))), BEN),
    (
        "of equal ones the fewest in flight",
        (with_shown(ANN, WEEK_HALF, leases=1), with_shown(BEN, WEEK_HALF, given_at=9)),
        BEN,
    ),
    ("then the longest ago", (with_shown(ANN, WEEK_HALF, given_at=2), with_shown(BEN, WEEK_HALF, given_at=1)), BEN),
    ("a subscription before a key", (key(ANN, rank=1), Candidate(account=account(BEN, rank=1))), BEN),
    ("of keys the longest ago", (key(ANN, given_at=2), key(BEN, given_at=1)), BEN),
    ("of keys one that was never used", (key(ANN, given_at=2), key(BEN)), BEN),
]


@pytest.mark.parametrize(("among", "expected"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_who_costs_least(among: tuple[Candidate, ...], expected: AccountId) -> None:
    """Subscriptions, the least of the plan, the least recently used."""
    assert chosen(LEAST_COST, free(*among)) == expected
    assert chosen(LEAST_COST, free(*among[::-1])) == expected


def test_three_choices_among_equal_keys_use_all_three() -> None:
    """Where no use is known, each is used in turn."""
    given_at = dict.fromkeys(NAMES, 0)
    for turn in range(1, 4):
        winner = chosen(LEAST_COST, free(*(key(name, given_at=given_at[name]) for name in NAMES)))
        given_at[winner] = turn

    assert sorted(given_at.values()) == [1, 2, 3]


def test_the_latest_choice_stays_within_noise() -> None:
    """It is left for one that is more than two points less used, and at once where it is busy; never for less than its kind."""
    close, far = with_shown(BEN, reading(used=0.485)), with_shown(BEN, reading(used=0.47))
    latest = with_shown(ANN, WEEK_HALF, given_at=9)

    assert chosen(LEAST_COST, free(latest, close, latest=ANN)) == ANN
    assert chosen(LEAST_COST, free(latest, far, latest=ANN)) == BEN
    assert chosen(LEAST_COST, free(with_shown(ANN, WEEK_HALF, leases=1), close, latest=ANN)) == BEN
    assert chosen(LEAST_COST, free(with_shown(ANN), with_shown(BEN, WEEK_HALF), latest=ANN)) == ANN  # is measured
    unknown = with_shown(ANN, reading(used=None))
    assert chosen(LEAST_COST, free(unknown, with_shown(BEN, WEEK_HALF), latest=ANN)) == BEN


def test_what_is_known_of_a_plan() -> None:
    """The use of the fullest week, at most all of it."""
    assert used(with_shown(ANN, reading(used=1.2), reading("7d_opus", 0.1)), NOON) == 1.0
    assert used(with_shown(ANN, reading(used=None)), NOON) is None


def test_the_reasons() -> None:
    """How much of the plan is used, or that it is not known."""
    likings = LEAST_COST.order(free(with_shown(ANN, WEEK_HALF), with_shown(BEN), key(CAT)))

    assert [likings[name].because for name in NAMES] == [
        "least used of its plan (50%)",
        "least recently used",
        "API key, least recently used",
    ]
