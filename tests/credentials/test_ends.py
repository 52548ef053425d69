"""Ends that only the way a credential was made can tell."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from credentials import ends
from credentials.credential import Credential
from credentials.secret import Secret

NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)
DAY = timedelta(days=1)
TOKEN = Credential(kind="setup-token", access=Secret("token"))
LOGIN = Credential(kind="oauth", access=Secret("access"), refresh=Secret("refresh"), expires_at=NOON + DAY)


def test_a_setup_token_ends_within_a_year() -> None:
    """What says its own end keeps it, and no other kind gets one."""
    assert ends.of_token(TOKEN, NOON).expires_at == NOON + 365 * DAY
    assert ends.of_token(replace(TOKEN, expires_at=NOON), NOON).expires_at == NOON
    assert ends.of_token(LOGIN, NOON) == LOGIN
    assert ends.of_token(replace(TOKEN, kind="api-key"), NOON).expires_at is None


def test_a_login_ends_29_days_after_it_was_made() -> None:
    """Where it does not say otherwise, and where there is anything to end."""
    assert ends.of_login(LOGIN, NOON) == replace(LOGIN, refresh_expires_at=NOON + 29 * DAY)
    assert ends.of_login(replace(LOGIN, refresh_expires_at=NOON), NOON).refresh_expires_at == NOON
    assert ends.of_login(replace(LOGIN, refresh=None), NOON).refresh_expires_at is None


@given(days=st.integers(0, 400))
def test_a_token_that_is_seen_again_grows_no_younger(days: int) -> None:
    """Its first end stands; another token has its own."""
    first = ends.of_token(TOKEN, NOON)
    again = ends.of_token(TOKEN, NOON + days * DAY)
    other = replace(again, access=Secret("other"))

    assert ends.the_sooner(again, first) == first
    assert ends.the_sooner(again, TOKEN) == again
    assert ends.the_sooner(other, first) == other
