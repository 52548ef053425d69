"""providers/known.py: the list that routing to upstreams and masking are built from."""

from addons.sign import SECRET_HEADERS
from home.schema import PROVIDERS
from providers.known import KNOWN


def test_every_provider_that_settings_name_is_known_and_masked() -> None:
    """None is served whose secret headers would stay on a flow."""
    assert [provider.name for provider in KNOWN] == list(PROVIDERS)
    assert {name.encode() for provider in KNOWN for name in provider.secret_headers} == SECRET_HEADERS
