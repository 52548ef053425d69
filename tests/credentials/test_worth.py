"""A good credential is never lost to a poorer one."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from credentials.credential import Credential
from credentials.secret import Secret
from credentials.worth import State, loss, state

NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
LOGIN = Credential(
    kind="oauth",
    access=Secret("access"),
    refresh=Secret("refresh"),
    expires_at=NOON + HOUR,
    refresh_expires_at=NOON + 600 * HOUR,
)
STALE = replace(LOGIN, expires_at=NOON)
ENDED = replace(STALE, refresh_expires_at=NOON)
ALONE = replace(LOGIN, refresh=None, refresh_expires_at=None)
TOKEN = Credential(kind="setup-token", access=Secret("token"), expires_at=NOON + 9000 * HOUR)
KEY = Credential(kind="api-key", access=Secret("key"))

ends = st.none() | st.integers(-3, 3).map(lambda hours: NOON + hours * HOUR)
credentials = st.builds(
    Credential,
    kind=st.sampled_from(["oauth", "setup-token", "api-key"]),
    access=st.just(Secret("access")),
    refresh=st.none() | st.just(Secret("refresh")),
    expires_at=ends,
    refresh_expires_at=ends,
)


def test_the_three_states() -> None:
    """An expired access token is no end as long as it can be renewed (X15)."""
    assert [state(one, NOON) for one in (LOGIN, STALE, ENDED, replace(ALONE, expires_at=NOON), KEY)] == [
        State.LIVE,
        State.STALE,
        State.DEAD,
        State.DEAD,
        State.LIVE,
    ]


LOSSES = [  # kept, offered, what is lost
    (LOGIN, ALONE, "it renews itself"),
    (STALE, ALONE, "it renews itself"),
    (ENDED, ALONE, ""),
    (LOGIN, STALE, "it is live"),
    (TOKEN, STALE, "it is live"),
    (STALE, ENDED, "the new one is dead"),
    (STALE, LOGIN, ""),
    (LOGIN, replace(LOGIN, expires_at=NOON + HOUR / 2), "it was renewed later"),
    (LOGIN, replace(LOGIN, expires_at=NOON + 2 * HOUR), ""),
    (LOGIN, replace(LOGIN, expires_at=None), ""),
    (LOGIN, TOKEN, ""),
    (TOKEN, LOGIN, ""),
    (KEY, LOGIN, ""),
]


@pytest.mark.parametrize(("kept", "offered", "lost"), LOSSES, ids=range(len(LOSSES)))
def test_what_would_be_lost(kept: Credential, offered: Credential, lost: str) -> None:
    """Said in words that follow "the secret is better"."""
    assert loss(kept, offered, NOON).startswith(lost)
    assert bool(loss(kept, offered, NOON)) == bool(lost)


def test_what_was_made_just_now_is_no_older_generation() -> None:
    """However soon its access ends."""
    sooner = replace(LOGIN, expires_at=NOON + HOUR / 2)
    assert loss(LOGIN, sooner, NOON)
    assert not loss(LOGIN, sooner, NOON, is_fresh=True)


@given(kept=credentials, offered=credentials)
def test_nothing_is_replaced_by_what_can_do_less(kept: Credential, offered: Credential) -> None:
    """And what is fresh is refused for less, never for more."""
    assert loss(kept, kept, NOON) == ""
    if state(offered, NOON) < state(kept, NOON):
        assert loss(kept, offered, NOON, is_fresh=True)
    if not loss(kept, offered, NOON):
        assert not loss(kept, offered, NOON, is_fresh=True)
        assert not loss(kept, replace(offered, expires_at=None), NOON)
