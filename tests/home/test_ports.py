"""home/ports.py: a taken port is found, and its owner named."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from home.checks import Address
from home.ports import is_taken, owner, unfit


@contextmanager
def listening(host: str) -> Iterator[int]:
    """Somebody listens on that address; its port."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as taken:
        taken.bind((host, 0))
        taken.listen()
        yield taken.getsockname()[1]


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0", "::"])
def test_a_port_is_taken_whatever_its_owner_listens_on(host: str) -> None:
    """The loopback alone, every address of the old family, or every address at all."""
    with listening(host) as port:
        assert is_taken(Address(host="127.0.0.1", port=port))


def test_a_free_port_is_free() -> None:
    """Nobody listens there; any port is free, and one that was just given back."""
    with listening("127.0.0.1") as port:
        pass
    assert not is_taken(Address(host="127.0.0.1", port=port))
    assert not is_taken(Address(host="127.0.0.1", port=0))
    assert not is_taken(Address(host="::1", port=port))


def test_an_address_of_another_machine_does_not_fit() -> None:
    """One that is free or taken does: whoever has it may end."""
    assert "address" in unfit(Address(host="192.0.2.1", port=3456))
    with listening("127.0.0.1") as port:
        assert unfit(Address(host="127.0.0.1", port=port)) == ""
    assert unfit(Address(host="127.0.0.1", port=0)) == ""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells who listens without another program's help")
def test_the_owner_is_named() -> None:
    """Its name and pid; a port that nobody has is nobody's."""
    with listening("127.0.0.1") as port:
        assert owner(port).endswith(f"(pid {os.getpid()})")
    assert owner(port) == "another program"
