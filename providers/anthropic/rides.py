"""How a credential of each kind travels in a request's head."""

from providers import contract
from providers.contract import Ride
from routing.words import Kind

OAUTH_BETA = "oauth-2025-04-20"  # See docs/facts/anthropic.md#oauth-beta.
_BETAS = "anthropic-beta"

SECRET_HEADERS = contract.SECRET_HEADERS | {"x-api-key"}

_BEARER = Ride(header="authorization", value="Bearer {}", list_header=_BETAS, gains=frozenset({OAUTH_BETA}))
_KEY = Ride(header="x-api-key", value="{}", list_header=_BETAS, loses=frozenset({OAUTH_BETA}))


def ride(kind: Kind) -> Ride:
    """How a credential of this kind travels."""
    return _BEARER if kind.is_subscription else _KEY
