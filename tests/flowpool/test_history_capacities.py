"""Capacities out of what was paid, and what readings rose by meanwhile."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowpool.errors import Failure
from flowpool.history_capacities import Paid, Sampled, sizes
from routing.words import Family

START = datetime(2026, 1, 5, tzinfo=UTC)
RESET = START + timedelta(days=5)
OPUS, FABLE = Family("opus"), Family("fable")


def at(minutes: float) -> datetime:
    """So many minutes after the start."""
    return START + timedelta(minutes=minutes)


def point(minutes: float, used: float | None, resets_at: datetime | None = RESET) -> dict[str, Any]:
    """A point of a window's history."""
    return {"taken_at": at(minutes), "used": used, "resets_at": resets_at}


def sampled(
    name: str = "ann", paid: tuple[Paid, ...] = (), size: float = 1, **windows: list[dict[str, Any]]
) -> Sampled:
    """An account; windows by s (5-hour), w (week) and f (Fable's week)."""
    keys = {"s": "5h", "w": "7d", "f": "7d_oi"}
    return Sampled(name=name, size=size, paid=paid, readings={keys[key]: rows for key, rows in windows.items()})


PAID = tuple(Paid(at(minute), 10.0, OPUS) for minute in range(1, 11))
RISE = [point(0, 0.1), point(5, 0.3), point(10, 0.6)]
WEEK = [point(0, 0.0), point(10, 0.2)]


def units(*accounts: Sampled, name: str = "ann") -> dict[str, float]:
    """What an account's windows hold."""
    return {key: round(its.units, 6) for key, its in sizes(accounts, 14)[name].windows.items()}


def test_a_capacity_is_what_was_paid_for_each_percent() -> None:
    """100 units raised the 5-hour window by half and the week by a fifth."""
    found = sizes([sampled(paid=PAID, s=RISE, w=WEEK)], 14)["ann"]

    assert {key: its.units for key, its in found.windows.items()} == pytest.approx({"5h": 200, "7d": 500})
    assert found.week_resets_at == RESET
    assert found.words() == "5-hour window 200 units ±2%, week 500 units ±4%"


def test_what_was_paid_before_the_first_and_after_the_last_reading_is_not_counted() -> None:
    """Nobody knows what it raised."""
    outside = (Paid(at(0), 999, OPUS), Paid(at(11), 999, OPUS))

    assert units(sampled(paid=(*PAID, *outside), s=RISE, w=WEEK)) == units(sampled(paid=PAID, s=RISE, w=WEEK))


def test_each_window_is_a_stretch_of_its_own() -> None:
    """After a reset, or where the share fell; what was paid between two windows counts for neither."""
    another = RESET + timedelta(hours=5)
    two = [point(0, 0.5), point(2, 0.6), point(5, 0.0, another), point(10, 0.1, another)]
    fell = [point(0, 0.5, None), point(2, 0.6, None), point(5, 0.0, None), point(10, 0.1, None)]

    for rows in (two, fell):
        assert units(sampled(paid=PAID, s=rows, w=WEEK))["5h"] == pytest.approx((20 + 50) / 0.2)


def test_points_without_a_share_are_passed_over() -> None:
    """They tell nothing."""
    assert units(sampled(paid=PAID, s=[*RISE[:1], point(3, None), *RISE[1:]], w=WEEK))["5h"] == 200


def test_who_was_used_little_is_estimated_by_the_others() -> None:
    """In the measure of the plans."""
    accounts = (
        sampled(paid=PAID, s=RISE, w=WEEK),
        sampled("ben", size=5, s=[point(0, 0.5)], w=[point(0, 0.5)]),
    )

    assert units(*accounts, name="ben") == {"5h": 1000, "7d": 2500}
    assert (
        sizes(accounts, 14)["ben"].words()
        == "5-hour window 1000 units ±2% by its plan, week 2500 units ±4% by its plan"
    )


def test_a_family_is_measured_by_its_own_use() -> None:
    """Only where its window was read, and far enough."""
    paid = (*PAID, Paid(at(3), 50, FABLE))
    rows = [point(0, 0.0), point(10, 0.5)]

    assert units(sampled(paid=paid, s=RISE, w=WEEK, f=rows))["7d_oi"] == 100
    assert "7d_oi" not in units(sampled(paid=paid, s=RISE, w=WEEK))
    assert "7d_oi" not in units(sampled(paid=paid, s=RISE, w=WEEK, f=[point(0, 0.0), point(10, 0.05)]))


@pytest.mark.parametrize(
    ("windows", "said"),
    [
        ({"s": [point(0, 0.1), point(10, 0.15)], "w": WEEK}, "a 5-hour window holds: .* by 5% in all, and 10% are"),
        ({"s": RISE, "w": [point(0, 0.1), point(10, 0.12)]}, "a week holds: requests of the last 14 days raised"),
    ],
)
def test_too_little_is_an_error_that_says_what_is_needed(windows: dict[str, Any], said: str) -> None:
    """The window, how much was seen, and how much must be."""
    with pytest.raises(Failure, match=said):
        sizes([sampled(paid=PAID, **windows)], 14)


def test_nothing_read_is_too_little() -> None:
    """Also where there is no account at all."""
    with pytest.raises(Failure, match="by 0% in all"):
        sizes([], 14)


def test_an_account_whose_week_was_never_read_is_absent() -> None:
    """Nobody knows when its week ends."""
    assert list(sizes([sampled(paid=PAID, s=RISE, w=WEEK), sampled("ben", s=RISE)], 14)) == ["ann"]


@given(st.floats(50, 5000), st.lists(st.integers(1, 20), min_size=5, max_size=30), st.randoms(use_true_random=False))
def test_the_true_capacity_lies_within_the_error(capacity: float, costs: list[int], draw: Any) -> None:
    """One window that fills up, read in whole percents: rounding is all that is wrong. At most 1 % of a window."""
    used, rows, paid = 0.0, [point(0, 0.0)], []
    for minute, percent in enumerate(costs, 1):
        cost = capacity * percent / 100 * draw.uniform(0.5, 1)
        used += cost
        paid.append(Paid(at(minute), cost, OPUS))
        rows.append(point(minute, round(used / capacity, 2)))
    if used / capacity < 0.11:
        return
    found = sizes([sampled(paid=tuple(paid), s=rows, w=rows)], 14)["ann"].windows["5h"]

    assert abs(found.units - capacity) / capacity <= 0.0051 / (used / capacity - 0.0051)
