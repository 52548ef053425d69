"""Moments as text in UTC."""

from datetime import UTC, datetime, timedelta, timezone
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from home.state.moments import LENGTH, of_text, to_text
from tests.routing.made import NOON

zones = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
moments = st.datetimes(datetime(1971, 1, 1), datetime(9998, 1, 1), timezones=zones)  # noqa: DTZ001


@given(st.lists(moments))
def test_a_moment_comes_back_in_utc(some: list[datetime]) -> None:
    """To the microsecond, whatever its zone was; the texts sort as the moments do."""
    texts = [to_text(moment) for moment in sorted(some)]

    assert [of_text(text) for text in texts] == sorted(some)
    assert all(len(text) == LENGTH for text in texts)
    assert all(earlier <= later for earlier, later in pairwise(texts))


def test_a_time_without_its_zone_is_refused() -> None:
    """It would be off by hours."""
    with pytest.raises(ValueError, match="without its zone"):
        to_text(NOON.replace(tzinfo=None))


@pytest.mark.parametrize(
    ("text", "expected"),
    [(None, None), (5, None), ("soon", None), ("2026-01-05 12:00:00", datetime(2026, 1, 5, 12, tzinfo=UTC))],
)
def test_what_is_no_moment_is_none(text: object, expected: datetime | None) -> None:
    """Whatever somebody wrote into the table."""
    assert of_text(text) == expected
