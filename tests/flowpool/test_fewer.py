"""What each account is worth."""

import pytest

from flowpool.errors import Failure
from flowpool.fewer import compare, document
from routing.simulator import play
from tests.routing.simulation.made import fixed, plan, workload

LARGE, SMALL = plan("large", window_5h=6), plan("small", window_5h=2)
PLAYED = workload(*(fixed(1, n, str(n)) for n in range(10)), accounts=(LARGE, SMALL))


def test_each_account_is_missing_once() -> None:
    """Everything else is played as it was; the difference is in percents of what was asked."""
    (fewer,) = compare([("w", [PLAYED])], ["perishing"], 0, 1)

    assert list(fewer.full["perishing"]) == [play(PLAYED, "perishing")]
    assert list(fewer.without) == ["large", "small"]
    assert [fewer.without[name]["perishing"][0].served_turns for name in ("large", "small")] == [2, 6]
    assert fewer.served(fewer.full["perishing"]) == [80]
    assert fewer.difference("perishing", "large") == (-60, None)
    assert fewer.difference("perishing", "small") == (-20, None)


def test_as_a_document() -> None:
    """By account and strategy: the sums, the share and the difference."""
    (fewer,) = compare([("w", [PLAYED, PLAYED])], ["perishing"], 0, 1)
    found = document(fewer)["small"]["perishing"]

    assert (found["served_turns"], found["refused_turns"]) == (12, 8)
    assert found["served"] == {"mean": 60, "plus_minus": 0}
    assert found["difference"] == {"mean": -20, "plus_minus": 0}


def test_the_only_account_cannot_be_missing() -> None:
    """It is told before anything is played."""
    alone = workload(fixed(1))
    with pytest.raises(Failure, match="w has one account, and without it nobody serves"):
        list(compare([("w", [alone])], ["perishing"], 0, 1))


def test_where_nothing_is_asked_all_is_served() -> None:
    """With one fewer too."""
    (fewer,) = compare([("w", [workload(accounts=(LARGE, SMALL))])], ["perishing"], 0, 1)

    assert fewer.difference("perishing", "large") == (0, None)
