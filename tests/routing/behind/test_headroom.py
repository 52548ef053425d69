"""Tests of routing/behind/headroom.py."""

import pytest

from routing.strategies.contract import Candidate
from tests.routing.behind.said import week, words
from tests.routing.made import ANN, BEN
from tests.routing.strategies.contract import free, with_shown

TOLD = [
    (week(0.5, 24, 0.1), week(0.5, 80, 0.1), "roomy, but 7d perishes later (0.006/h)"),
    (week(0.5, 24, 0.1), week(0.5, 24, 0.8), "short in its 5h: 0.4 times what is wanted"),
    (week(0.5, 24), week(0.5, 24, 0.1), "roomy, but its 5h runs already"),
    (week(0.5, 24, 0.1), week(0.5, 24, 0.2), "less roomy in its 5h: 1.6 times what is wanted"),
    (week(0.5, 24, 0.6), week(0.5, 24, 0.8), "short in its 5h: 0.4 times what is wanted"),
]


@pytest.mark.parametrize(
    ("first", "second", "says"), [(with_shown(ANN, *a), with_shown(BEN, *b), c) for a, b, c in TOLD], ids=range(5)
)
def test_who_comes_behind_is_told_why(first: Candidate, second: Candidate, says: str) -> None:
    """By what decided."""
    told = words("headroom", free(second, first))

    assert list(told) == [ANN, BEN]
    assert told[BEN] == says
