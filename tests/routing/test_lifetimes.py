"""Tests of routing/lifetimes.py."""

from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routing.lifetimes import Level, Lifetime, expiry
from tests.routing.made import NOON

DAY = timedelta(days=1)
LEVELS = [Level.NONE, Level.SOON, Level.URGENT, Level.OVER]
ends = st.none() | st.integers(-400, 400).map(lambda days: NOON + days * DAY)
lifetimes = st.builds(Lifetime, expires_at=ends, refresh_expires_at=ends, is_refreshable=st.booleans())


def token(days: float) -> Lifetime:
    """What nothing renews."""
    return Lifetime(expires_at=NOON + days * DAY)


def login(days: float) -> Lifetime:
    """What can be renewed so long; its access token is always near its end."""
    return Lifetime(expires_at=NOON + DAY / 3, refresh_expires_at=NOON + days * DAY, is_refreshable=True)


@pytest.mark.parametrize(
    ("lifetime", "level", "because"),
    [
        (Lifetime(), Level.NONE, ""),
        (Lifetime(expires_at=NOON + DAY, is_refreshable=True), Level.NONE, ""),
        (token(365), Level.NONE, ""),
        (token(30.1), Level.NONE, ""),
        (token(30), Level.SOON, "its login ends Wed 4 Feb 12:00 UTC"),
        (token(7), Level.URGENT, "its login ends Mon 12 Jan 12:00 UTC"),
        (token(0.25), Level.URGENT, "its login ends 18:00 UTC"),
        (token(0), Level.OVER, "its login ended 12:00 UTC"),
        (token(-40), Level.OVER, "its login ended Wed 26 Nov 12:00 UTC"),
        (login(29), Level.NONE, ""),
        (login(7.1), Level.NONE, ""),
        (login(7), Level.URGENT, "its login ends Mon 12 Jan 12:00 UTC"),
        (login(0), Level.OVER, "its login ended 12:00 UTC"),
    ],
)
def test_how_pressing_an_end_is(lifetime: Lifetime, level: Level, because: str) -> None:
    """A week before for all; a month before only for what nothing renews: a refresh token never lasts longer."""
    assert expiry(lifetime, NOON) == (level, because)


@given(lifetimes, st.integers(-400, 400), st.integers(0, 400))
def test_an_end_comes_only_nearer(lifetime: Lifetime, days: int, more: int) -> None:
    """As time passes it never becomes less pressing, and there are words whenever it is pressing at all."""
    now, later = NOON + days * DAY, NOON + (days + more) * DAY
    (level, because), (next_level, _) = expiry(lifetime, now), expiry(lifetime, later)

    assert LEVELS.index(level) <= LEVELS.index(next_level)
    assert bool(because) is (level is not Level.NONE)


@given(ends, ends)
def test_what_can_be_renewed_does_not_end_with_its_access_token(
    access: datetime | None, refresh: datetime | None
) -> None:
    """Which end counts hangs on whether anything renews it."""
    assert Lifetime(expires_at=access, refresh_expires_at=refresh, is_refreshable=True).ends_at == refresh
    assert Lifetime(expires_at=access, refresh_expires_at=refresh).ends_at == access
