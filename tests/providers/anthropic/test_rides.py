"""How a credential of each kind travels."""

import pytest

from providers.anthropic.rides import OAUTH_BETA, SECRET_HEADERS, ride
from routing.words import Kind


@pytest.mark.parametrize("kind", [Kind.OAUTH, Kind.SETUP_TOKEN])
def test_a_subscription_s_token(kind: Kind) -> None:
    """It is a bearer token, and needs its beta."""
    told = ride(kind)
    assert (told.header, told.value) == ("authorization", "Bearer {}")
    assert (told.list_header, told.gains, told.loses) == ("anthropic-beta", frozenset({OAUTH_BETA}), frozenset())


def test_an_api_key() -> None:
    """It has a header of its own, and the beta of subscriptions would be wrong with it."""
    told = ride(Kind.API_KEY)
    assert (told.header, told.value) == ("x-api-key", "{}")
    assert (told.list_header, told.gains, told.loses) == ("anthropic-beta", frozenset(), frozenset({OAUTH_BETA}))


def test_secret_headers() -> None:
    """Everything in which a client may send a secret is named in lower case."""
    assert sorted(SECRET_HEADERS) == ["authorization", "cookie", "proxy-authorization", "x-api-key"]
