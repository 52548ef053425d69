"""What listens for all is asked on this machine."""

import pytest

from flowpool.addresses import reachable
from home.checks import Address


@pytest.mark.parametrize(("host", "asked"), [("0.0.0.0", "127.0.0.1"), ("::", "::1"), ("localhost", "localhost")])
def test_an_address_for_all_is_asked_on_loopback(host: str, asked: str) -> None:
    """What listens everywhere is reached on this machine."""
    assert reachable(Address(host=host, port=1)) == Address(host=asked, port=1)
