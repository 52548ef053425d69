"""Turns at the least that they can cost, and time in cells."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowpool.bound_cells import cells, least, resets_of
from routing.simulation.workload import Workload
from tests.routing.simulation.made import COST, DAY, HOUR, fixed, plan, turn, use, workload, workloads


def test_cells_end_at_resets_and_at_multiples_and_are_not_where_nothing_happens() -> None:
    """One that a turn waits through is there too."""
    played = workload(fixed(1, 100), fixed(1, 950), use(1, 5000), accounts=(plan(week_resets_at=600),))
    turns = list(least(played, 700))

    assert cells(played, turns, 900) == [(0, 600), (600, 900), (900, 1800), (4500, 5400)]


def test_the_least_cost_is_the_smaller_one() -> None:
    """Where writing is cheaper than reading, a warm cache is no gain."""
    odd = workload(turn(), turn(60), cost=type(COST)(read=2, write=1))

    assert [(one.cost, one.value) for one in least(odd)] == [(2, 3), (2, 3)]


def test_only_what_no_earlier_turn_could_have_warmed_is_paid_cold() -> None:
    """The ttl of the turn at hand counts, to its last second; each model has a cache of its own."""
    asked = workload(turn(), turn(300), turn(601), turn(700, model="x"), turn(701, ttl=100))

    assert [one.cost for one in least(asked)] == [2.25, 1.1, 2.25, 2.25, 1.1]
    assert {one.value for one in least(asked)} == {1.1}


def test_who_waits_may_keep_a_cache_warm() -> None:
    """The turn before may be taken as late as its patience lasts, and those behind it later still."""
    asked = workload(turn(), turn(350), turn(360))

    assert [one.cost for one in least(asked)] == [2.25, 2.25, 1.1]
    assert [one.cost for one in least(asked, 50)] == [2.25, 1.1, 1.1]
    assert [one.until for one in least(asked, 50)] == [50, 400, 450]


@given(workloads(), st.sampled_from([0.0, 60.0, HOUR]), st.sampled_from([600.0, 1800.0]))
def test_everything_happens_in_one_cell_and_no_two_overlap(played: Workload, wait: float, length: float) -> None:
    """None is longer than the length, and none goes on through the end of a week."""
    turns = list(least(played, wait))
    found = cells(played, turns, length)
    times = [one.turn.at for one in turns] + [one.until for one in turns] + [one.at for one in played.outside]
    resets = [reset for made in played.accounts for reset in resets_of(made, 40 * DAY)]

    assert all(before.ends <= after.begins for before, after in pairwise(found))
    assert all(0 < cell.ends - cell.begins <= length for cell in found)
    assert all(sum(cell.begins <= at < cell.ends for cell in found) == 1 for at in times)
    assert not [reset for reset in resets for cell in found if cell.begins < reset < cell.ends]


@pytest.mark.parametrize(("first", "expected"), [(0, [0, 7]), (3, [3, 10]), (-1, [6, 13]), (24, [3, 10])])
def test_weeks_end_every_seventh_day(first: int, expected: list[int]) -> None:
    """Whichever of the resets the plan names."""
    assert [at / DAY for at in resets_of(plan(week_resets_at=first * DAY), 13.5 * DAY)] == expected
