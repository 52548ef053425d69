"""Tests of routing/capacities.py."""

from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routing.capacities import ENOUGH, Capacities, Tally, size_of
from routing.readings import Reading, Source
from routing.words import Account, AccountId, Identity
from tests.routing.made import ANN, BEN, CAT, NOON, account, hours, reading, seconds

TRUE = 1_000_000.0  # what a 5-hour window of size 1 holds


def sized(name: str, plan: str = "") -> Account:
    """An account on a plan."""
    return replace(account(name), identity=Identity(plan=plan))


def fill(
    learned: Capacities,
    share: float,
    *,
    name: AccountId = ANN,
    holds: float = TRUE,
    begin: float = 0.0,
    outside: float = 0.0,
    resets: float = 5,
    steps: int = 50,
) -> None:
    """Let an account's window fill up by a share, read in whole percents; outside: the part of it that others use."""
    used = begin
    for _ in range(steps + 1):
        own = share / steps * (1 - outside) * holds
        learned.paid(name, [reading("5h", round(used, 2), resets=resets)], own, NOON)
        used += share / steps


@given(
    st.floats(0.3, 0.9), st.floats(0, 0.1), st.floats(1e5, 1e9), st.sampled_from(["", "pro", "max 5x", "max 20x", "20"])
)
def test_what_a_window_holds_is_learned(share: float, begin: float, holds: float, plan: str) -> None:
    """From whole percents, wherever it begins, and for plans of every size."""
    learned = Capacities()
    learned.know([sized(ANN, plan), sized(BEN, "max 5x")])
    fill(learned, share, begin=begin, holds=holds)

    assert learned.known["5h"].get(ANN) == pytest.approx(holds, rel=0.05)
    assert learned.known["5h"].get(BEN) == pytest.approx(holds / size_of(plan) * 5, rel=0.05)
    assert learned.known["7d"].get(ANN) is None


@given(st.floats(0.2, 0.9), st.floats(0.05, 0.8))
def test_use_from_elsewhere_makes_it_smaller(share: float, outside: float) -> None:
    """What others use up cannot be told from a smaller window, and for us it is one."""
    alone, shared = Capacities(), Capacities()
    for learned, others in ((alone, 0.0), (shared, outside)):
        learned.know([sized(ANN)])
        fill(learned, share, outside=others)
    found, expected = shared.known["5h"].get(ANN), alone.known["5h"].get(ANN)

    assert found is not None
    assert expected is not None
    assert found == pytest.approx(expected * (1 - outside))


def test_a_tenth_is_enough_over_all_accounts() -> None:
    """Before it, nothing is said."""
    learned = Capacities()
    learned.know([sized(ANN), sized(BEN), sized(CAT)])
    fill(learned, ENOUGH / 2)
    assert learned.known["5h"].get(ANN) is None
    fill(learned, ENOUGH / 2, name=BEN)
    assert learned.known["5h"].get(CAT) == pytest.approx(TRUE, rel=0.05)


def test_an_account_that_shows_another_size_is_believed() -> None:
    """A plan that nobody named: what its own window shows outweighs what the others' do."""
    learned = Capacities()
    learned.know([sized(ANN, "max 5x"), sized(BEN)])
    for _ in range(3):
        fill(learned, 0.9, holds=5 * TRUE)
        fill(learned, 0.9, name=BEN, holds=5 * TRUE)  # it is a max 5x as well
    found = learned.known["5h"].get(BEN)

    assert found is not None
    assert 3.5 * TRUE < found <= 5 * TRUE


def _used(used: float | None, *, resets: float | None = 5, source: Source = Source.ANSWER) -> Reading:
    return reading("5h", used, resets=resets, source=source)


@pytest.mark.parametrize(
    ("between", "at"),
    [
        ([_used(0.05, resets=10)], NOON),  # it was reset: what came between is not known
        ([_used(0.05)], NOON),  # so it was, though no reset was told
        ([_used(None)], NOON),
        ([_used(0.9, source=Source.RESTORED)], NOON),  # of an earlier run
        ([_used(0.9)], NOON + hours(6)),  # its reset has passed
        ([], NOON),
    ],
)
def test_what_speaks_of_no_window_that_is_followed_is_not_counted(between: list[Reading], at: datetime) -> None:
    """Neither what it cost nor what was read."""
    learned = Capacities()
    learned.know([sized(ANN)])
    fill(learned, 0.4)
    before = learned.remembered()
    learned.paid(ANN, between, 123_456, at)

    assert learned.remembered() == before


def test_a_late_reading_shrinks_nothing() -> None:
    """One that is a little lower was overtaken; its cost counts all the same."""
    learned = Capacities()
    learned.know([sized(ANN)])
    for used in (0.0, 0.2, 0.19, 0.4):
        learned.paid(ANN, [_used(used)], TRUE / 10, NOON)

    (tally,) = learned.remembered().values()
    assert tally.cost == pytest.approx(3 * TRUE / 10)
    assert tally.share == pytest.approx(0.4)


def test_the_same_reset_told_a_few_seconds_apart_is_one_window() -> None:
    """As providers do."""
    learned = Capacities()
    learned.know([sized(ANN)])
    for used, late in ((0.0, 0), (0.2, 2), (0.4, -2)):
        one = _used(used)
        assert one.resets_at is not None
        learned.paid(ANN, [replace(one, resets_at=one.resets_at + seconds(late))], TRUE / 5, NOON)

    assert learned.known["5h"].get(ANN) == pytest.approx(TRUE)


def test_a_plan_that_grew_is_learned_anew() -> None:
    """Old sums fade."""
    learned = Capacities()
    learned.know([sized(ANN)])
    for holds in (TRUE, 2 * TRUE):
        for _ in range(12):
            fill(learned, 0.9, holds=holds)

    assert learned.known["5h"].get(ANN) == pytest.approx(2 * TRUE, rel=0.1)


def test_what_is_remembered_comes_back() -> None:
    """What was learned since the start stays; an account that is gone takes its sums along."""
    learned, next_one = Capacities(), Capacities()
    for each in (learned, next_one):
        each.know([sized(ANN), sized(BEN)])
    fill(learned, 0.5)
    fill(learned, 0.5, name=BEN)
    fill(next_one, 0.3, name=BEN, holds=2 * TRUE)
    own = next_one.remembered()[BEN, "5h"]
    next_one.restore(learned.remembered())

    assert next_one.remembered() == {(ANN, "5h"): learned.remembered()[ANN, "5h"], (BEN, "5h"): own}
    next_one.drop(BEN)
    assert next_one.remembered().keys() == {(ANN, "5h")}
    assert next_one.known["5h"].get(ANN) == learned.known["5h"].get(ANN) == pytest.approx(TRUE, rel=0.05)


def test_a_tally_without_cost_says_nothing() -> None:
    """Others used it all."""
    learned = Capacities()
    learned.know([sized(ANN)])
    learned.restore({(ANN, "5h"): Tally(cost=0.0, share=0.9)})

    assert learned.known["5h"].get(ANN) is None


@pytest.mark.parametrize(
    ("plan", "size"),
    [
        ("max 20x", 20),
        ("max 5x", 5),
        ("pro", 1),
        ("", 1),
        ("team", 1),
        ("5", 5),
        ("0.5", 0.5),
        ("max 0x", 1),
        ("2026 plan", 1),
    ],
)
def test_plan_sizes(plan: str, size: float) -> None:
    """The number that stands last, in the provider's words or the simulator's; else 1."""
    assert size_of(plan) == size


def test_readings_may_come_in_any_order() -> None:
    """Windows are followed each by itself."""
    forth, back = Capacities(), Capacities()
    shown = [[reading("5h", 0.1 * n, resets=5), reading("7d", 0.02 * n, resets=90)] for n in range(6)]
    for each, order in ((forth, 1), (back, -1)):
        each.know([sized(ANN)])
        for readings in shown:
            each.paid(ANN, readings[::order], 1000.0, NOON + timedelta(minutes=1))

    assert forth.remembered() == back.remembered()
