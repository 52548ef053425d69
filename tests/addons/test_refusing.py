"""Starts that could not serve anybody are refused in one line."""

import contextlib
import os
import socket
from pathlib import Path

import pytest
from mitmproxy import ctx, options

from addons import handed
from addons.refusing import StartError, refuse_loop, refuse_second, refuse_taken
from home.checks import Address
from tests.flowpool import proxy as standin
from tests.flowpool.living import place
from tests.flowpool.proxy import reply

LOOPS = [
    ("http://127.0.0.1:3456", "127.0.0.1:3456", True),
    ("https://localhost:3456", "127.0.0.1:3456", True),
    ("http://127.0.0.1:3456", "localhost:3456", True),
    ("http://[::1]:3456", "::1:3456", True),
    ("http://127.0.0.2:3456", "0.0.0.0:3456", True),
    ("http://[::1]:3456", ":::3456", True),
    ("http://localhost:3456", "3456", True),
    ("http://127.0.0.1:3457", "127.0.0.1:3456", False),
    ("http://127.0.0.2:3456", "127.0.0.1:3456", False),
    ("https://api.anthropic.com:3456", "0.0.0.0:3456", False),
    ("http://127.0.0.1:3456", "127.0.0.1:0", False),
]


@pytest.mark.parametrize(("upstream", "listen", "loops"), LOOPS)
def test_an_upstream_that_is_ourselves_is_refused(
    monkeypatch: pytest.MonkeyPatch, upstream: str, listen: str, loops: bool
) -> None:
    """Each way to say it is seen before anything listens; another address of this machine is somebody else."""
    monkeypatch.setattr(ctx, "options", options.Options(), raising=False)
    with pytest.raises(StartError, match="is this proxy itself") if loops else contextlib.nullcontext():
        refuse_loop(["regular@3456", f"reverse:{upstream}@{listen}"])


def test_an_address_of_another_machine_is_not_called_taken() -> None:
    """Nobody has it here, and nobody can."""
    with pytest.raises(StartError, match=r"nobody can listen on 192\.0\.2\.7:1 here: .*; set another address"):
        refuse_taken(Address(host="192.0.2.7", port=1))


def test_a_port_that_the_proxy_before_has_at_another_address_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """No other program is to blame, and no other address needed: but nobody can have both at once."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        monkeypatch.setattr(handed, "taken", lambda: handed.Handed(predecessor=os.getpid()))
        wanted = Address(host="0.0.0.0", port=server.getsockname()[1])
        with pytest.raises(
            StartError, match="has that port at another address; run: flowpool stop, then flowpool start"
        ):
            refuse_taken(wanted)


def test_a_second_proxy_is_refused_whatever_the_environment_says_of_proxies(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """We ask this machine itself: a network's proxy would answer for it, and learn where we listen."""
    heard: list[bytes] = []
    with standin.listening(reply(b"", "502 No"), heard) as proxy, standin.listening(reply(b"{}"), []) as address:
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
            monkeypatch.setenv(name, f"http://{proxy}")
        for name in ("no_proxy", "NO_PROXY"):
            monkeypatch.delenv(name, raising=False)
        standin.announce(tmp_path, address)
        monkeypatch.setattr(os, "getpid", lambda: 1)
        with pytest.raises(StartError, match="a proxy runs already"):
            refuse_second(place(tmp_path))
    assert heard == []
