"""Tests of routing/strategies/first_then_spill.py."""

import pytest

from routing.strategies.contract import Candidate, Strategy
from routing.strategies.first_then_spill import FirstThenSpill
from routing.words import AccountId
from tests.routing.made import ANN, BEN, NAMES, account, reading
from tests.routing.strategies.contract import StrategyContract, chosen, free, with_shown

SPILL = FirstThenSpill()


class TestFirstThenSpill(StrategyContract):
    """The strategy keeps the contract."""

    strategy: Strategy = SPILL


def left(*rooms: float | None) -> tuple[Candidate, ...]:
    """Accounts in this order, with so much left; None: nothing was read."""
    shown = [() if room is None else (reading(used=1 - room),) for room in rooms]
    return tuple(with_shown(name, *of) for name, of in zip(NAMES, shown, strict=False))


CASES: list[tuple[str, tuple[float | None, ...], str, str]] = [
    ("it begins at the first", (0.5, 0.9), "", "a"),
    ("also with little left", (0.15, 0.9), "", "a"),
    ("the first lasts to 10 %", (0.10, 0.9), "a", "a"),
    ("below that it spills over", (0.09, 0.9), "a", "b"),
    ("and stays there", (0.15, 0.9), "b", "b"),
    ("until the first is back at 20 %", (0.20, 0.9), "b", "a"),
    ("just below it stays", (0.19, 0.9), "b", "b"),
    ("the second lasts to 10 % too", (0.05, 0.10, 0.9), "b", "b"),
    ("then comes the third", (0.05, 0.09, 0.9), "b", "c"),
    ("the first passes over one with less than 20 %", (0.05, 0.15, 0.9), "a", "c"),
    ("which takes its turn when it is back", (0.05, 0.2, 0.9), "c", "b"),
    ("of two bad ones the better", (0.0, 0.047), "a", "b"),
    ("of two bad ones the better, the first", (0.05, 0.01), "b", "a"),
    ("of two equally bad ones the current", (0.01, 0.01), "b", "b"),
    ("nor is it left for a point", (0.02, 0.03), "a", "a"),
    ("nothing read is room", (0.05, None), "a", "b"),
    ("nothing read of the first neither", (None, 0.9), "", "a"),
]


@pytest.mark.parametrize(("rooms", "latest", "expected"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_when_it_spills(rooms: tuple[float | None, ...], latest: str, expected: str) -> None:
    """Over below 10 %, back at 20 %; its model knew two sides, and an unknown other one was never held to be full."""
    current = {"": None, "a": ANN, "b": BEN, "c": NAMES[2]}[latest]
    likings = SPILL.order(free(*left(*rooms), latest=current))

    assert min(likings, key=lambda name: likings[name].key)[0] == expected


def test_rank_makes_the_order() -> None:
    """The first is the one with the lowest rank."""
    ranked = Candidate(account=account(BEN, rank=1), readings=(reading(used=0.8),))

    assert chosen(SPILL, free(with_shown(ANN, reading(used=0.1)), ranked)) == BEN


def test_the_tightest_window_and_its_reserve_count() -> None:
    """A full 5-hour window spills over; what is held back is not left; a window whose reset has passed is fresh."""

    def first(**fields: object) -> AccountId:
        one = Candidate(account=account(), **{"readings": (reading(used=0.85),), **fields})  # type: ignore[arg-type]
        return chosen(SPILL, free(one, with_shown(BEN, reading(used=0.1))))

    assert first() == ANN
    assert first(readings=(reading(used=0.1), reading("5h", 0.95, resets=2))) == BEN
    assert first(readings=(reading(used=0.1), reading("5h", 0.95, resets=0))) == ANN
    assert first(reserves={reading().window.length: 0.1}) == BEN


def test_the_reasons() -> None:
    """The place and what is left."""
    likings = SPILL.order(free(*left(0.05, 0.9)))

    assert [likings[name].because for name in (ANN, BEN)] == [
        "5% left, and little of every other",
        "no rank, added first, 90% left",
    ]
