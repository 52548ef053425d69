"""Tests of routing/behind/turns.py."""

import pytest

from routing.strategies.contract import Candidate
from tests.routing.behind.said import words
from tests.routing.made import ANN, BEN, account
from tests.routing.strategies.contract import free, with_shown


@pytest.mark.parametrize(
    ("first", "second", "says"), [(1, 2, "rank 2"), (1, None, "no rank"), (1, 1, "rank 1, added later"), (None, None, "no rank, added later")]
)  # fmt: skip
@pytest.mark.parametrize("strategy", ["priority", "failover"])
def test_the_persons_order_is_told(strategy: str, first: int | None, second: int | None, says: str) -> None:
    """By rank, else by who was added first."""
    ann, ben = Candidate(account=account(ANN, rank=first)), Candidate(account=account(BEN, rank=second))

    assert words(strategy, free(ann, ben))[BEN] == says


def test_one_before_the_account_that_serves_still_is_told_of_that() -> None:
    """Under failover it does not come back while the other has not refused."""
    ann, ben = Candidate(account=account(ANN, rank=1)), Candidate(account=account(BEN, rank=2))

    assert words("failover", free(ann, ben, latest=BEN)) == {BEN: "it has not refused", ANN: "ben has not refused"}


def test_a_turn_that_never_came_is_the_first() -> None:
    """Round robin begins with those that had none."""
    told = words("round_robin", free(with_shown(ANN, given_at=3), with_shown(BEN)))

    assert told == {BEN: "it had no turn yet", ANN: "its turn came later"}
    assert words("round_robin", free(with_shown(ANN), with_shown(BEN)))[BEN] == "its turn comes later"
    assert words("round_robin", free(with_shown(ANN, given_at=3), with_shown(BEN, given_at=4)))[ANN] == (
        "its turn came longest ago"
    )
