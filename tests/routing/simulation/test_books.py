"""Windows open with their first use, weeks run by the calendar, and nothing passes a capacity."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routing.simulation.books import Books, cut
from routing.simulation.workload import Plan
from routing.words import Family
from tests.routing.simulation.made import DAY, HOUR, PLANS, plan

FABLE = Family("fable")


def used(books: Books, now: float, family: Family | None = None) -> dict[str, tuple[float, float | None]]:
    """Every window's use and reset at a time."""
    books.turn_to(now)
    return {gauge.key: (gauge.used, gauge.resets_at) for gauge in books.gauges(family)}


def test_a_window_opens_with_its_first_use_and_lasts_five_hours() -> None:
    """Later use does not prolong it, and at the second of its reset it is gone."""
    books = Books(plan())
    assert used(books, 100)["5h"] == (0, None)
    books.charge(3, None, 100)
    books.charge(4, None, 100 + 4 * HOUR)

    assert used(books, 100 + 5 * HOUR - 1)["5h"] == (7, 100 + 5 * HOUR)
    assert used(books, 100 + 5 * HOUR)["5h"] == (0, None)
    books.charge(1, None, 30 * HOUR)
    assert used(books, 30 * HOUR)["5h"] == (1, 35 * HOUR)


@pytest.mark.parametrize(
    ("resets_at", "ends_at"),
    [(DAY, DAY), (0, 7 * DAY), (7 * DAY, 7 * DAY), (8 * DAY, DAY), (-DAY, 6 * DAY), (-15 * DAY, 6 * DAY)],
)
def test_weeks_are_seven_days_apart(resets_at: float, ends_at: float) -> None:
    """One reset names them all, before and after it."""
    assert used(Books(plan(week_resets_at=resets_at)), 0)["7d"] == (0, ends_at)


def test_a_week_is_empty_at_the_second_of_its_reset_and_what_was_left_is_lost() -> None:
    """Weeks without any use are lost as a whole; a family's part begins anew with the week."""
    books = Books(plan(week_resets_at=DAY, models={"fable": 0.5}))
    books.charge(40, FABLE, 0)
    assert used(books, DAY - 1, FABLE)["7d"] == (40, DAY)
    assert used(books, DAY - 1, FABLE)["7d_fable"] == (40, DAY)
    assert books.lost == 0

    assert used(books, DAY, FABLE) == {"5h": (0, None), "7d": (0, 8 * DAY), "7d_fable": (0, 8 * DAY)}
    assert books.lost == 560
    assert used(books, 23 * DAY)["7d"] == (0, 29 * DAY)
    assert books.lost == 560 + 3 * 600


def test_a_family_is_limited_by_its_share_of_the_week() -> None:
    """A window of its own, in addition to the shared ones, and only for it."""
    books = Books(plan(week=600, models={"claude-fable-5": 0.25}))
    books.charge(5, Family("opus"), 0)
    books.charge(7, FABLE, 0)

    assert [(gauge.key, gauge.used, gauge.capacity) for gauge in books.gauges(FABLE)] == [
        ("5h", 12, 100),
        ("7d", 12, 600),
        ("7d_fable", 7, 150),
    ]
    assert len(books.gauges(Family("opus"))) == len(books.gauges()) == 2


def test_what_fits_exactly_fits() -> None:
    """Thirty times a tenth of a unit fills three units, whatever the sum of fractions says."""
    books = Books(plan(window_5h=3))
    for _ in range(30):
        assert all(gauge.fits(0.1) for gauge in books.gauges())
        books.charge(0.1, None, 0)

    assert not books.gauges()[0].fits(0.1)


@given(PLANS, st.lists(st.tuples(st.floats(0, 3 * DAY), st.floats(0, 50))))
def test_use_that_is_cut_never_passes_a_capacity_and_a_week_is_used_or_lost(
    made: Plan, steps: list[tuple[float, float]]
) -> None:
    """Conservation: of all weeks that ended, what was used and what was lost is what they held."""
    books, now, charged = Books(made), 0.0, 0.0
    for pause, units in steps:
        now += pause
        books.turn_to(now)
        fitting = cut(units, books.gauges())
        books.charge(fitting, None, now)
        charged += fitting
        assert 0 <= fitting <= units
        assert all(gauge.used <= gauge.capacity + 1e-6 for gauge in books.gauges())
    _, week = books.gauges()
    first = Books(made).gauges()[1].resets_at
    assert week.resets_at is not None
    assert first is not None
    weeks = round((week.resets_at - first) / (7 * DAY))

    assert charged - week.used + books.lost == pytest.approx(weeks * made.week)
