"""Who takes a turn, what it is charged, and where its cache is warm."""

import pytest

from routing.simulation.workload import Turn
from routing.simulation.world import Refused, Served, World
from tests.routing.simulation.made import DAY, HOUR, fixed, plan, turn, use, workload

FABLE = "claude-fable-5"
BOTH = (plan("ann"), plan("ben"))


def served(world: World, asked: Turn, account: str = "ann") -> Served:
    """A turn that is taken."""
    met = world.ask(asked, account)
    assert isinstance(met, Served)
    return met


def short(world: World, asked: Turn, account: str = "ann") -> list[tuple[str, float | None]]:
    """The windows that a turn is refused for, and their resets."""
    met = world.ask(asked, account)
    assert isinstance(met, Refused)
    return [(gauge.key, gauge.resets_at) for gauge in met.short]


@pytest.mark.parametrize(("pause", "warm"), [(0, True), (299, True), (300, True), (301, False)])
def test_a_cache_is_warm_up_to_the_last_second_of_its_ttl(pause: float, warm: bool) -> None:
    """The ttl of the turn at hand counts, from the turn before."""
    world = World(workload())
    first = served(world, turn(10, ttl=1))
    again = served(world, turn(10 + pause, ttl=300))

    assert (first.units, first.rebuilt) == (2.25, 1000)
    assert (again.units, again.rebuilt, again.moved_warm) == ((1.1, 0, 0) if warm else (2.25, 1000, 0))


def test_each_turn_warms_the_cache_anew() -> None:
    """It may outlive its first ttl."""
    world = World(workload())
    rebuilt = [served(world, turn(at)).rebuilt for at in (0, 250, 500, 750)]

    assert rebuilt == [1000, 0, 0, 0]


@pytest.mark.parametrize("changes", [{"conversation": "other"}, {"model": "claude-haiku-4-5"}])
def test_a_cache_is_of_one_conversation_and_model(changes: dict[str, str]) -> None:
    """Another of either writes its own."""
    world = World(workload())
    served(world, turn())

    assert served(world, turn(**changes)).rebuilt == 1000  # type: ignore[arg-type]  # conversation by its name


def test_a_move_of_a_warm_conversation_is_told_from_one_that_is_cold() -> None:
    """Both rebuild, one of them needlessly; a return within the ttl finds the old cache."""
    world = World(workload(accounts=BOTH))
    steps = [("ann", 0), ("ben", 300), ("ann", 300), ("ben", 2000), ("ben", 2001)]
    met = [served(world, turn(at), account) for account, at in steps]

    assert [one.rebuilt for one in met] == [1000, 1000, 0, 1000, 0]
    assert [one.moved_warm for one in met] == [0, 1000, 0, 0, 0]
    assert [one.moved for one in met] == [False, True, True, True, False]


def test_a_turn_larger_than_what_is_left_is_refused_and_costs_nothing() -> None:
    """A smaller one still fits, and so does the large one after the reset."""
    world = World(workload())
    served(world, fixed(95))
    assert short(world, fixed(6, at=60)) == [("5h", 5 * HOUR)]
    assert served(world, fixed(5, at=60)).units == 5
    assert served(world, fixed(6, at=5 * HOUR)).units == 6


def test_a_refusal_opens_no_window_and_warms_nothing() -> None:
    """The window opens with the first turn that is taken."""
    world = World(workload())
    assert short(world, fixed(101)) == [("5h", None)]
    assert short(world, turn(context=100_000)) == [("5h", None)]
    assert served(world, turn(100)).rebuilt == 1000
    assert world.gauges(turn(100), "ann")[0].resets_at == 100 + 5 * HOUR


def test_the_week_binds_over_its_windows() -> None:
    """Six full windows, then nothing before the week's reset."""
    world = World(workload())
    for number in range(6):
        served(world, fixed(100, at=number * 5 * HOUR))

    assert short(world, fixed(1, at=30 * HOUR)) == [("7d", 7 * DAY)]
    served(world, fixed(1, at=7 * DAY))
    assert world.lost(7 * DAY) == 0
    assert world.lost(14 * DAY) == 599


def test_a_family_has_its_share_and_shared_windows_speak_first() -> None:
    """Other families go on; outside use never counts for a family."""
    world = World(workload(accounts=(plan(models={"fable": 0.1}),)))
    assert world.use(use(10)) == 10
    served(world, fixed(60, model=FABLE))
    assert short(world, fixed(1, model=FABLE)) == [("7d_fable", 7 * DAY)]
    served(world, fixed(30))
    assert short(world, fixed(1, model=FABLE)) == [("5h", 5 * HOUR)]
    assert short(world, fixed(1, at=5 * HOUR, model=FABLE)) == [("7d_fable", 7 * DAY)]


def test_outside_use_is_cut_to_what_fits() -> None:
    """It opens the window; what is cut to nothing opens none."""
    world = World(workload(accounts=(plan(week=150),)))
    assert world.use(use(0)) == 0
    assert [world.use(use(70, at=at)) for at in (60, 61, 5 * HOUR + 60, 11 * HOUR)] == [70, 30, 50, 0]
    assert world.gauges(turn(11 * HOUR), "ann")[0].resets_at is None
