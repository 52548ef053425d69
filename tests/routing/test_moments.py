"""Tests of routing/moments.py."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routing.moments import microseconds, nearest_minute, said
from tests.routing.made import NOON, hours, seconds

zones = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
instants = st.datetimes(datetime(2000, 1, 1), datetime(2100, 1, 1), timezones=zones)  # noqa: DTZ001  # bounds are naive


@pytest.mark.parametrize(
    ("at", "words"),
    [
        (NOON + hours(2.5), "14:30 UTC"),
        (NOON - hours(2), "10:00 UTC"),
        (NOON + hours(19.9), "07:54 UTC"),
        (NOON + hours(20), "Tue 6 Jan 08:00 UTC"),
        (NOON + hours(69), "Thu 8 Jan 09:00 UTC"),
        (NOON.replace(tzinfo=None), "12:00 UTC"),
    ],
)
def test_a_moment_for_people(at: datetime, words: str) -> None:
    """The hour alone where it is near, else with its day; a naive one is UTC."""
    assert said(at, NOON) == words


@given(instants, instants)
def test_the_zone_changes_nothing(at: datetime, now: datetime) -> None:
    """The same instant is said alike, wherever it was written down."""
    assert said(at, now) == said(at.astimezone(UTC), now.astimezone(UTC))


@given(instants, instants)
def test_moments_as_numbers_are_as_far_apart_as_they_are(one: datetime, other: datetime) -> None:
    """To the microsecond, whatever their zones; so seconds counted from them are what a difference of the moments has."""
    apart = microseconds(one) - microseconds(other)

    assert timedelta(microseconds=apart) == one - other
    assert apart / 1_000_000 == (one - other).total_seconds()
    assert microseconds(one.astimezone(UTC).replace(tzinfo=None)) == microseconds(one)


@pytest.mark.parametrize(("off", "minutes"), [(0, 0), (-5, 0), (29, 0), (31, 1), (-31, -1), (3600, 60)])
def test_the_nearest_minute(off: float, minutes: int) -> None:
    """A few seconds more or less are the same minute."""
    assert nearest_minute(microseconds(NOON + seconds(off))) - nearest_minute(microseconds(NOON)) == minutes
