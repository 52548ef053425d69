"""Who is this machine."""

import pytest

from credentials.loopback import is_loopback


@pytest.mark.parametrize("host", ["127.0.0.1", "127.9.9.9", "::1", "localhost"])
def test_this_machine(host: str) -> None:
    """By its numbers and its usual name."""
    assert is_loopback(host)


@pytest.mark.parametrize(
    "host", ["", "10.0.0.1", "0.0.0.0", "localhost.example", "127.0.0.1.example", "api.anthropic.com"]
)
def test_any_other(host: str) -> None:
    """A name that only looks like it is not resolved, and not trusted."""
    assert not is_loopback(host)
