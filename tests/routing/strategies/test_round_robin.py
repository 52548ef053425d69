"""Tests of routing/strategies/round_robin.py."""

from hypothesis import given
from hypothesis import strategies as st

from routing.strategies.contract import Strategy
from routing.strategies.round_robin import RoundRobin
from routing.words import AccountId
from tests.routing.made import ANN, BEN, CAT, NAMES
from tests.routing.strategies.contract import StrategyContract, chosen, free, with_shown

ROUND_ROBIN = RoundRobin()


class TestRoundRobin(StrategyContract):
    """The strategy keeps the contract."""

    strategy: Strategy = ROUND_ROBIN


def test_whose_turn_is_longest_ago() -> None:
    """Never before all others, in the order of the accounts; who had the latest choice and what is in flight does not count."""
    among = (with_shown(ANN, given_at=3), with_shown(BEN, given_at=1, leases=2), with_shown(CAT, given_at=2))
    assert chosen(ROUND_ROBIN, free(*among, latest=BEN)) == BEN

    new = (with_shown(ANN, given_at=3), with_shown(BEN), with_shown(CAT))
    assert chosen(ROUND_ROBIN, free(*new)) == BEN


@given(st.lists(st.sets(st.sampled_from(NAMES), min_size=1), min_size=1, max_size=12))
def test_nobody_is_passed_over(able: list[set[AccountId]]) -> None:
    """Whoever may serve when, an account that may is chosen before another has had two turns since its own."""
    given_at = dict.fromkeys(NAMES, 0)
    since = {name: dict.fromkeys(NAMES, 0) for name in NAMES}
    for turn, names in enumerate(able, start=1):
        among = [with_shown(name, given_at=given_at[name]) for name in NAMES if name in names]
        winner = chosen(ROUND_ROBIN, free(*among))
        for name in NAMES:
            since[name][winner] += name in names
        since[winner] = dict.fromkeys(NAMES, 0)
        given_at[winner] = turn
        assert all(count <= 1 for name in names for count in since[name].values() if name in NAMES)
