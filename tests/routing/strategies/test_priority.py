"""Tests of routing/strategies/priority.py."""

import pytest

from routing.strategies.contract import Candidate, Strategy
from routing.strategies.priority import Priority
from routing.words import AccountId, Kind
from tests.routing.made import ANN, BEN, CAT, NAMES, account, reading
from tests.routing.strategies.contract import StrategyContract, chosen, free

PRIORITY = Priority()


class TestPriority(StrategyContract):
    """The strategy keeps the contract."""

    strategy: Strategy = PRIORITY


def ranked(*ranks: int | None) -> tuple[Candidate, ...]:
    """Accounts of these ranks, in this order."""
    return tuple(Candidate(account=account(name, rank=rank)) for name, rank in zip(NAMES, ranks, strict=False))


CASES = [
    ("the lowest rank", (2, 1, 3), BEN),
    ("a rank before none", (None, 7), BEN),
    ("of equal ranks the first added", (2, 1, 1), BEN),
    ("of none the first added", (None, None, None), ANN),
]


@pytest.mark.parametrize(("ranks", "expected"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_who_is_first(ranks: tuple[int | None, ...], expected: AccountId) -> None:
    """Rank, then the order of the accounts; whoever had the latest choice."""
    assert chosen(PRIORITY, free(*ranked(*ranks))) == expected
    assert chosen(PRIORITY, free(*ranked(*ranks), latest=CAT)) == expected


def test_neither_use_nor_measuring_counts() -> None:
    """The first serves although another was never measured, and is emptier; nearly full it comes last."""
    used, full = (Candidate(account=account(), readings=(reading(used=use),)) for use in (0.9, 0.98))
    other = Candidate(account=account(BEN))

    assert chosen(PRIORITY, free(used, other)) == ANN
    assert chosen(PRIORITY, free(full, other)) == BEN


def test_an_api_key_is_last_unless_it_has_a_rank() -> None:
    """One without a rank comes after every subscription, though it was added first."""
    key, ranked_key = (Candidate(account=account(kind=Kind.API_KEY, rank=rank)) for rank in (None, 1))
    other = Candidate(account=account(BEN))

    assert chosen(PRIORITY, free(key, other)) == BEN
    assert chosen(PRIORITY, free(ranked_key, other)) == ANN


def test_the_reason_is_the_rank() -> None:
    """Or that there is none."""
    likings = PRIORITY.order(free(*ranked(1, None)))

    assert [likings[name].because for name in (ANN, BEN)] == ["rank 1", "no rank, added first"]
