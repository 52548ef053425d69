"""Tests of routing/behind/first_then_spill.py."""

import pytest

from routing.words import AccountId
from tests.routing.behind.said import words
from tests.routing.made import ANN, BEN, CAT, reading
from tests.routing.strategies.contract import free, with_shown

TOLD = [  # what is used of ann, ben and cat, who got the latest choice, who takes it, and what is said of the others
    ((0.1, 0.1, 0.9), None, ANN, {BEN: "after ann, which has 90% left", CAT: "after ann, which has 90% left"}),
    ((0.95, 0.5, 0.3), ANN, BEN, {ANN: "only 5% left", CAT: "no rank, added later"}),
    ((0.85, 0.5, 0.3), BEN, BEN, {ANN: "only 15% left", CAT: "after ben, which has 50% left"}),
    ((0.95, 0.85, 0.3), ANN, CAT, {ANN: "only 5% left", BEN: "only 15% left"}),
    ((0.93, 0.95, 0.93), ANN, ANN, {BEN: "5% left, less than ann", CAT: "7% left, no more than ann"}),
    ((0.93, 0.92, 0.94), ANN, ANN, {BEN: "8% left, more, but by too little to change over from ann", CAT: "6% left, less than ann"}),
    ((0.95, 0.9, 0.9), ANN, BEN, {ANN: "5% left, less than ben", CAT: "no rank, added later"}),
]  # fmt: skip


@pytest.mark.parametrize(("used", "latest", "first", "says"), TOLD, ids=range(len(TOLD)))
def test_who_comes_behind_is_told_why(
    used: tuple[float, ...], latest: AccountId | None, first: AccountId, says: dict[AccountId, str]
) -> None:
    """Too little is left of it, or of all, or it is not its turn."""
    of = [with_shown(name, reading("7d", its)) for name, its in zip((ANN, BEN, CAT), used, strict=True)]
    told = words("first_then_spill", free(*of, latest=latest))

    assert next(iter(told)) == first
    assert {name: told[name] for name in says} == says
