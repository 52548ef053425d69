"""Tests of routing/strategies/failover.py."""

import pytest

from routing.strategies.contract import Candidate, Strategy
from routing.strategies.failover import Failover
from routing.words import AccountId
from tests.routing.made import ANN, BEN, CAT, account, reading
from tests.routing.strategies.contract import StrategyContract, chosen, free

FAILOVER = Failover()
POOL = (
    Candidate(account=account(CAT)),
    Candidate(account=account(ANN, rank=2)),
    Candidate(account=account(BEN, rank=1)),
)


class TestFailover(StrategyContract):
    """The strategy keeps the contract."""

    strategy: Strategy = FAILOVER


CASES: list[tuple[str, set[AccountId], AccountId | None, AccountId]] = [
    ("it begins at the first", {ANN, BEN, CAT}, None, BEN),
    ("it stays where it failed over to, though the first is back", {ANN, BEN, CAT}, ANN, ANN),
    ("when that refuses, back to the first", {BEN, CAT}, ANN, BEN),
    ("or to the next, while the first may not serve", {CAT}, ANN, CAT),
    ("one that is gone counts no more", {ANN, BEN, CAT}, AccountId("gone"), BEN),
]


@pytest.mark.parametrize(("able", "latest", "expected"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_where_it_stays(able: set[AccountId], latest: AccountId | None, expected: AccountId) -> None:
    """The latest choice while it may serve, else the first in the person's order; its model did as priority does."""
    among = tuple(one for one in POOL if one.account.id in able)

    assert chosen(FAILOVER, free(*among, latest=latest)) == expected


def test_nearly_full_is_left_like_a_refusal() -> None:
    """The latest choice is left once it is nearly full, at 98 %; before that, fullness does not count."""
    for used, expected in ((0.97, ANN), (0.98, BEN)):
        full = Candidate(account=account(), readings=(reading(used=used),))
        assert chosen(FAILOVER, free(full, Candidate(account=account(BEN)), latest=ANN)) == expected


def test_the_reason_says_why_it_stays() -> None:
    """Or where the account stands in the order."""
    likings = FAILOVER.order(free(*POOL, latest=CAT))

    assert [likings[name].because for name in (CAT, BEN)] == ["it has not refused", "rank 1"]
