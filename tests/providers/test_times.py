"""Times as services write them."""

import os
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from math import isfinite

import pytest
from hypothesis import given
from hypothesis import strategies as st

from providers import times
from tests.providers.samples import NOON, at

WEEK = timedelta(days=7)
HOUR = timedelta(hours=1)


@given(text=st.text())
def test_no_text_makes_reading_fail(text: str) -> None:
    """Any text is read as a time, a delay, a number, or as nothing."""
    number = times.number(text)
    assert number is None or (isfinite(number) and number >= 0)
    reset = times.reset(text, WEEK, NOON)
    assert reset is None or NOON - times.EARLY <= reset <= NOON + WEEK + times.LATE
    delay = times.delay(text, NOON)
    assert delay is None or timedelta() <= delay <= times.LONGEST_DELAY


@given(seconds=st.integers(-3600, 8 * 86400))
def test_every_form_of_a_time_is_the_same_time(seconds: int) -> None:
    """Seconds, milliseconds and ISO times of one moment are read alike."""
    moment = NOON + timedelta(seconds=seconds)
    unix = int(moment.timestamp())
    forms = (str(unix), str(unix * 1000), f"{unix}.0", moment.isoformat(), f"{moment:%Y-%m-%dT%H:%M:%SZ}")
    assert {times.instant(form) for form in forms} == {moment}


@pytest.mark.parametrize(
    ("text", "number"),
    [("0.6", 0.6), ("1.02", 1.02), (" 7 ", 7.0), ("5.", 5.0), ("1e2", 100.0), ("60", 60.0), ("NaN", None), ("inf", None),
     ("-1", None), ("-0.5", None), ("1e999", None), ("", None), ("1_000", None), ("٣", None), ("0x10", None)],
)  # fmt: skip
def test_numbers(text: str, number: float | None) -> None:
    """A number is finite and not negative, and never rescaled by its size (X33)."""
    assert times.number(text) == number


@pytest.mark.parametrize(
    ("text", "reset"),
    [
        (at(hours=3), NOON + 3 * HOUR),
        (at(hours=3) + "000", NOON + 3 * HOUR),
        ("2026-11-30T15:00:00Z", NOON + 3 * HOUR),
        ("2026-11-30T16:00:00+01:00", NOON + 3 * HOUR),
        ("2026-11-30T15:00:00", NOON + 3 * HOUR),
        (at(seconds=-60), NOON - timedelta(minutes=1)),
        (at(seconds=-61), None),
        (at(hours=5, minutes=10), NOON + 5 * HOUR + timedelta(minutes=10)),
        (at(hours=5, minutes=10, seconds=1), None),
        ("4102444800", None),
        ("0", None),
        ("-1", None),
        ("NaN", None),
        ("inf", None),
        ("1e300", None),
        ("99999999999999999999", None),
        ("0001-01-01T00:00:00+14:00", None),
        ("soon", None),
        ("", None),
    ],
)
def test_resets(text: str, reset: datetime | None) -> None:
    """A reset is implausible when it is no time, over a minute past, or beyond its window and ten minutes (X35)."""
    assert times.reset(text, 5 * HOUR, NOON) == reset


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("5", 5.0),
        ("0", 0.0),
        ("1.5", 1.5),
        ("124633", 124633.0),
        ("Mon, 30 Nov 2026 12:00:30 GMT", 30.0),
        ("Monday, 30-Nov-26 12:00:30 GMT", 30.0),
        ("Mon, 30 Nov 2026 12:00:30 -0000", 30.0),
        ("Mon, 30 Nov 2026 11:00:00 GMT", None),
        ("Wed, 21 Oct 2026 07:28:00 GMT", None),
        ("Wed, 21 Oct 2099 07:28:00 GMT", None),
        ("Wed, 21 Oct 99999 07:28:00 GMT", None),
        ("NaN", None),
        ("-5", None),
        ("", None),
        ("99999999999", None),
        (at(hours=1), None),
        ("inf", None),
        ("later", None),
    ],
)
def test_delays(text: str, seconds: float | None) -> None:
    """A delay is seconds or a date; what is past, absurd or unreadable is none (X37)."""
    assert times.delay(text, NOON) == (None if seconds is None else timedelta(seconds=seconds))


@pytest.fixture(params=["Asia/Tehran", "America/New_York", "Pacific/Auckland"])
def _zone(request: pytest.FixtureRequest) -> Iterator[None]:
    before = os.environ.get("TZ")
    os.environ["TZ"] = request.param
    time.tzset()
    yield
    os.environ.pop("TZ")
    if before is not None:
        os.environ["TZ"] = before
    time.tzset()


@pytest.mark.usefixtures("_zone")
@pytest.mark.parametrize(
    "now", [NOON, datetime(2026, 10, 25, 0, 30, tzinfo=UTC), datetime(2027, 3, 14, 6, 30, tzinfo=UTC)]
)
def test_the_machine_s_zone_changes_nothing(now: datetime) -> None:
    """A reset in a minute is in a minute in every zone, also on the days when clocks are changed (X41)."""
    soon = now + timedelta(minutes=1)
    assert times.reset(str(int(soon.timestamp())), WEEK, now) == soon
    assert times.delay(f"{soon:%a, %d %b %Y %H:%M:%S} GMT", now) == timedelta(minutes=1)


@pytest.mark.parametrize(
    ("now", "first"),
    [
        (NOON, datetime(2026, 12, 1, tzinfo=UTC)),
        (datetime(2026, 12, 31, 23, 59, tzinfo=UTC), datetime(2027, 1, 1, tzinfo=UTC)),
        (datetime.fromisoformat("2026-12-01T03:00:00+05:00"), datetime(2026, 12, 1, tzinfo=UTC)),
    ],
)
def test_the_next_month(now: datetime, first: datetime) -> None:
    """A month ends where UTC ends it."""
    assert times.next_month(now) == first
