"""Tests of routing/health.py."""

from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routing.health import NEVER_CHECKED, Check, Standing, distance
from tests.routing.made import NOON, moments, seconds

MINUTE = timedelta(minutes=1)
checks = st.builds(Check, failures=st.integers(0, 9), next_at=st.none() | moments, checked_at=st.none() | moments)


@pytest.mark.parametrize(
    ("failures", "minutes"),
    [(-1, 1), (0, 1), (1, 1), (2, 2), (3, 4), (4, 8), (5, 16), (6, 30), (7, 30), (10**9, 30)],
)
def test_looks_become_seldom(failures: int, minutes: int) -> None:
    """1, 2, 4, 8, 16 minutes, then every 30."""
    assert distance(failures) == minutes * MINUTE


def test_refusals_in_a_row() -> None:
    """Each puts the next look further off; one that tells nothing puts it off by as much again; an acceptance ends all."""
    check = NEVER_CHECKED
    told = []
    for at in range(3):
        check = check.refused(NOON + at * MINUTE)
        told.append((check.failures, check.next_at, check.checked_at))
    assert told == [(n, NOON + (n - 1 + d) * MINUTE, NOON + (n - 1) * MINUTE) for n, d in ((1, 1), (2, 2), (3, 4))]

    late = check.delayed(NOON + 9 * MINUTE)
    assert (late.failures, late.next_at, late.checked_at) == (3, NOON + 13 * MINUTE, check.checked_at)
    assert late.accepted(NOON + 10 * MINUTE) == Check(checked_at=NOON + 10 * MINUTE)
    assert late.unscheduled() == Check(checked_at=check.checked_at)


@pytest.mark.parametrize(
    ("before", "is_certain", "noted"),
    [(None, False, True), (-59, False, False), (-60, False, True), (60, False, True), (-1, True, True)],
)
def test_mere_successes_are_noted_once_a_minute(before: float | None, is_certain: bool, noted: bool) -> None:
    """Every note is written to the disk; what was asked for is noted always, and a clock that went back is believed."""
    known = None if before is None else NOON + seconds(before)
    after = Check(checked_at=known).accepted(NOON, is_certain=is_certain)

    assert after.checked_at == (NOON if noted else known)


@given(checks, moments)
def test_where_nothing_is_to_be_looked_at_nothing_is_put_off(check: Check, at: datetime) -> None:
    """An answer that tells nothing makes no look of its own, and never changes what is known."""
    after = check.delayed(at)

    assert (after.next_at is None) is (check.next_at is None)
    assert (after.failures, after.checked_at) == (check.failures, check.checked_at)


@pytest.mark.parametrize(
    ("next_at", "refused_at", "due"),
    [
        (1, 0, False),
        (0, -9, True),
        (-1, 0, True),
        (1800, 0, False),
        (1801, 0, True),
        (None, 0, False),
        (None, -60, True),
    ],
)
def test_when_to_look(next_at: float | None, refused_at: float, due: bool) -> None:
    """When its time has come, or lies further off than any look does; a minute after a refusal that nobody counted."""
    check = Check(failures=1, next_at=None if next_at is None else NOON + seconds(next_at))

    assert check.is_due(NOON + seconds(refused_at), NOON) is due


def test_which_standings_refuse() -> None:
    """Only what was said of the credential itself."""
    assert [one for one in Standing if one.is_refusal] == [Standing.INVALID, Standing.DISABLED]
