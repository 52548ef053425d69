"""Tests of routing/behind/balance.py."""

import pytest

from routing.readings import Reading
from routing.words import AccountId
from tests.routing.behind.said import week, words
from tests.routing.made import ANN, BEN, CAT, reading
from tests.routing.strategies.contract import free, with_shown

TOLD = [
    ("less left", "weekly_balance", week(0.1, 24), week(0.5, 24), "7d has 50% left, less than ann"),
    ("5h is half used", "weekly_balance", week(0.5, 24, 0.1), week(0.1, 24, 0.6), "only 40% of its 5h is left"),
    (
        "another window is full",
        "weekly_balance",
        week(0.5, 24, 0.1),
        (*week(0.1, 24, 0.1), reading("1d", 0.9)),
        "only 10% of its fullest window is left",
    ),
    (
        "a slower rate",
        "burn_rate_balance",
        week(0.1, 84),
        week(0.5, 84),
        "7d has 1.00 times the room that the time to its reset needs, less than ann",
    ),
    (
        "5h is half used",
        "burn_rate_balance",
        week(0.5, 84, 0.1),
        (*week(0.1, 84), reading("5h", 0.6, resets=1)),
        "only 40% of its 5h is left",
    ),
]


@pytest.mark.parametrize(("strategy", "first", "second", "says"), [c[1:] for c in TOLD], ids=range(len(TOLD)))
@pytest.mark.parametrize("latest", [None, ANN])
def test_who_comes_behind_is_told_why(
    strategy: str, first: tuple[Reading, ...], second: tuple[Reading, ...], says: str, latest: AccountId | None
) -> None:
    """By the line of the law that decided; also while the first is kept."""
    told = words(strategy, free(with_shown(BEN, *second), with_shown(ANN, *first), latest=latest))

    assert list(told) == [ANN, BEN]
    assert told[BEN] == says


def test_what_is_better_by_less_than_the_margin_is_told_so() -> None:
    """Beside the latest choice; one that is as good comes after it too."""
    of = {name: with_shown(name, *week(used, 24)) for name, used in ((ANN, 0.5), (BEN, 0.45), (CAT, 0.5))}
    told = words("weekly_balance", free(*of.values(), latest=ANN))
    assert told[BEN] == "7d has 55% left, more, but by too little to change over from ann"
    assert told[CAT] == "as good, but ann had the latest choice"

    noise = free(with_shown(ANN, *week(0.82, 168)), with_shown(BEN, *week(0.8, 168)), latest=ANN)
    assert words("burn_rate_balance", noise)[BEN].endswith("needs, more, but by too little to change over from ann")


def test_one_a_point_short_of_open_is_told_which_window_it_is() -> None:
    """It counts as open once it is chosen, yet it is not changed over to."""
    kept = with_shown(ANN, *week(0.5, 24, 0.1))
    full = with_shown(BEN, *week(0.1, 24, 0.1), reading("1d", 0.805))
    half = with_shown(CAT, *week(0.1, 24, 0.505))
    told = words("weekly_balance", free(half, full, kept, latest=ANN))

    assert next(iter(told)) == ANN
    assert (told[BEN], told[CAT]) == ("only 20% of its fullest window is left", "only 50% of its 5h is left")


def test_a_latest_choice_that_is_spent_is_told_so() -> None:
    """It is left, however its score compares."""
    spent = with_shown(ANN, *week(0.1, 24), reading("1d", 0.95))
    told = words("weekly_balance", free(spent, with_shown(BEN, *week(0.5, 24)), latest=ANN))

    assert told[ANN] == "only 5% of its fullest window is left"
