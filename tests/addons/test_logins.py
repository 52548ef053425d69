"""What the proxy keeps of a credential, and what it does not."""

from datetime import timedelta

from addons.logins import kept, login_of, logins_of
from credentials.credential import Credential
from credentials.secret import Secret
from routing.words import AccountId
from tests.routing.made import ANN, BEN, NOON

LOGIN = Credential(
    kind="oauth",
    access=Secret("at"),
    refresh=Secret("rt"),
    expires_at=NOON + timedelta(hours=8),
    refresh_expires_at=NOON + timedelta(days=29),
    saved_at=7,
)
TOKEN = Credential(kind="setup-token", access=Secret("st"))


def test_a_refresh_token_does_not_stay_in_memory() -> None:
    """All else does."""
    assert kept(LOGIN).refresh is None
    assert kept(LOGIN).access == LOGIN.access
    assert kept(LOGIN).saved_at == LOGIN.saved_at


def test_a_login_tells_its_ends() -> None:
    """When it ends, when it is to be renewed before that, and which one it is."""
    login = login_of(ANN, LOGIN)

    assert login.due_at is not None
    assert timedelta(minutes=5) <= LOGIN.expires_at - login.due_at <= timedelta(minutes=10)  # type: ignore[operator]
    assert (login.lifetime.expires_at, login.lifetime.refresh_expires_at) == (
        LOGIN.expires_at,
        LOGIN.refresh_expires_at,
    )
    assert (login.lifetime.is_refreshable, login.saved_at) == (True, 7)


def test_what_cannot_be_renewed_is_never_due() -> None:
    """A setup token is not; an account without a secret has no login."""
    found = logins_of({ANN: TOKEN, BEN: None})

    assert list(found) == [AccountId(ANN)]
    assert (found[ANN].due_at, found[ANN].lifetime.is_refreshable) == (None, False)
