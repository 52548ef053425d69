"""The bound is above every play, and what it is where it can be worked out by hand."""

import sys
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowpool.bound import FINE, bound
from routing.scoring import STRATEGIES
from routing.simulation.workload import Outside, Plan, Turn, Workload
from routing.simulator import play
from tests.routing.simulation.made import DAY, HOUR, fixed, plan, turn, use, workload, workloads

SLACK = 1e-6
WAITS = st.sampled_from([0.0, 0.0, 60.0, HOUR, 3.5 * HOUR])


def found(played: Workload, wait: float = 0) -> float:
    """The bound, which scipy is there for."""
    value = bound(played, wait)
    assert value is not None
    return value


@given(workloads(), st.sampled_from(list(STRATEGIES)), WAITS)
def test_no_play_serves_more(played: Workload, strategy: str, wait: float) -> None:
    """Whatever binds: windows, weeks, families, outside use, turns that are too large; waiting or not."""
    served = play(played, strategy, wait=wait).served_units

    assert served <= found(played, wait) + SLACK


@given(workloads(most_accounts=2), st.randoms(use_true_random=False))
def test_no_assignment_serves_more(played: Workload, draw: object) -> None:
    """Not even one that no strategy would make: every turn is offered to the accounts in an order of luck."""
    from routing.simulation.world import Served, World  # noqa: PLC0415

    world, served = World(played), 0.0
    names = [made.name for made in played.accounts]
    for event in played.events():
        if isinstance(event, Outside):
            world.use(event)
            continue
        draw.shuffle(names)  # type: ignore[attr-defined]
        if any(isinstance(world.ask(event, name), Served) for name in names[: draw.randint(0, 2)]):  # type: ignore[attr-defined]
            served += played.price(event, warm=True)

    assert served <= found(played) + SLACK


@given(workloads(), WAITS)
def test_more_room_and_more_patience_bound_higher(played: Workload, wait: float) -> None:
    """As exactly as turns of nearly one worth are told apart; and never above all that is asked."""
    asked = sum(played.price(one, warm=True) for one in played.turns)
    larger = replace(played, accounts=tuple(replace(one, window_5h=2 * one.window_5h) for one in played.accounts))

    assert found(played) <= found(played, wait) * FINE + SLACK
    assert found(played) <= found(larger) * FINE + SLACK
    assert found(played, wait) <= asked + SLACK


CASES: dict[str, tuple[Workload, float]] = {
    "nothing is asked": (workload(), 0),
    "what costs nothing is served": (workload(turn(context=0, fresh=0)), 0),
    "a window holds so much": (workload(*(fixed(1, at=n) for n in range(9)), accounts=(plan(window_5h=5),)), 5),
    "a turn may be split": (workload(fixed(3), fixed(3, 1), accounts=(plan(window_5h=5),)), 5),
    "one that never fits is not": (workload(fixed(6), accounts=(plan(window_5h=5),)), 0),
    "two accounts hold more": (workload(*(fixed(1, at=n) for n in range(9)), accounts=(plan("a", window_5h=4), plan("b", window_5h=2))), 6),
    "a second window begins five hours later": (workload(fixed(5), fixed(5, 5 * HOUR), accounts=(plan(window_5h=5),)), 10),
    "a week holds so much": (workload(*(fixed(5, at=n * DAY) for n in range(6)), accounts=(plan(window_5h=5, week=12),)), 12),
    "the next week holds as much": (workload(*(fixed(5, at=n * 2 * DAY) for n in range(6)), accounts=(plan(window_5h=5, week=6),)), 12),
    "a family has its part": (workload(fixed(5, model="fable"), fixed(5, 1), accounts=(plan(week=8, models={"fable": 0.25}),)), 5),
    "and no more than it": (workload(fixed(1, model="fable"), fixed(5, 1, model="fable"), accounts=(plan(models={"fable": 0.01}),)), 6),
    "a first turn is paid cold": (workload(turn(), accounts=(plan(window_5h=2.25 / 2, week=600),)), 0),
    "the next one warm": (workload(turn(), turn(60), accounts=(plan(window_5h=3.35),)), 2.2),
    "after its ttl cold again": (workload(turn(), turn(301), accounts=(plan(window_5h=3.35),)), 1.1 * 3.35 / 2.25),
    "another model is another cache": (workload(turn(), turn(60, model="x"), accounts=(plan(window_5h=3.35),)), 1.1 * 3.35 / 2.25),
    "outside use may be crowded out": (workload(fixed(5, 1), use(100), accounts=(plan(window_5h=5),)), 5),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_the_bound_by_hand(name: str) -> None:
    """What each rule of the program says."""
    played, expected = CASES[name]

    assert found(played) == pytest.approx(expected, abs=1e-5)


def test_a_window_that_begins_early_ends_early() -> None:
    """Between two turns less than five hours apart a second one cannot begin, whatever outside use does."""
    many = [fixed(1, at=n * 600, conversation=str(n)) for n in range(24)]
    assert found(workload(*many, accounts=(plan(window_5h=5),))) == pytest.approx(5)


def test_who_waits_is_taken_later() -> None:
    """The second turn finds the next window, and those of its conversation come after it."""
    asked = (fixed(5), fixed(5, 4.5 * HOUR), fixed(5, 4.6 * HOUR))
    played = workload(*asked, accounts=(plan(window_5h=5),))

    assert found(played) == pytest.approx(5)
    assert found(played, HOUR) == pytest.approx(10)


def test_without_scipy_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not one of what flowpool needs."""
    monkeypatch.setitem(sys.modules, "scipy.optimize", None)

    assert bound(workload(fixed(1))) is None


def test_large_numbers_are_no_matter() -> None:
    """Capacities that never bind are cut to what is asked."""
    huge = Plan(name="ann", window_5h=1e15, week=1e15, week_resets_at=0.5)
    asked: tuple[Turn, ...] = tuple(fixed(1, n, str(n)) for n in range(50))

    assert found(workload(*asked, accounts=(huge,))) == pytest.approx(50)
