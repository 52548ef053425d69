"""Tests of routing/strategies/turns.py."""

from hypothesis import given
from hypothesis import strategies as st

from routing.strategies.contract import Candidate
from routing.strategies.turns import placed, turns
from tests.routing.made import NAMES, account
from tests.routing.strategies.contract import free


@given(st.lists(st.none() | st.integers(0, 2), min_size=3, max_size=3))
def test_rank_then_the_order_given(ranks: list[int | None]) -> None:
    """Sorted by turn, ranks rise and end with none; equal ones stay in their order."""
    among = [Candidate(account=account(name, rank=rank)) for name, rank in zip(NAMES, ranks, strict=True)]
    found = turns(free(*among))
    order = sorted(among, key=lambda one: found[one.account.id])

    assert order == sorted(among, key=lambda one: float("inf") if one.account.rank is None else one.account.rank)


def test_words_for_a_place() -> None:
    """The rank, or that there is none."""
    assert [placed(account(rank=rank)) for rank in (0, None)] == ["rank 0", "no rank, added first"]
