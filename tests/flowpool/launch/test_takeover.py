"""From a proxy that runs by hand to one that the service runs."""

import json
import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from flowpool.errors import Failure
from flowpool.launch import takeover
from flowpool.launch.manager import Standing
from flowpool.launch.systemctl import Systemd
from home.checks import Address
from home.paths import Home
from tests.flowpool.proxy import announce, listening, reply
from tests.upstream import closed_port

BY_HAND = Standing(word="inactive (dead)")
OURS = Standing(is_running=True, word="active (running)", pid=os.getpid())


class Told(Systemd):
    """A manager that says this."""

    def __init__(self, standing: Standing) -> None:
        super().__init__({})
        self.standing = standing

    def look(self) -> Standing:
        """How it stands."""
        return self.standing

    def said(self, count: int) -> str:
        """Nothing."""
        del count
        return ""


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A home in which nothing runs."""
    return Home(config_folder=tmp_path / "home", state_folder=tmp_path / "home").make()


@pytest.fixture
def address(home: Home) -> Iterator[Address]:
    """A proxy that runs, and says that it is this process."""
    with listening(reply(json.dumps({"status": "ok", "pid": os.getpid()}).encode()), []) as found:
        announce(home.state_folder, found)
        yield found


def answers(monkeypatch: pytest.MonkeyPatch, *, yes: bool) -> None:
    """Let a person at a terminal say yes or no."""
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("click.confirm", lambda *_args, **_more: yes)


def called(monkeypatch: pytest.MonkeyPatch, code: int = 0) -> list[tuple[str, ...]]:
    """Note which of our commands are run; they end with this code."""
    calls: list[tuple[str, ...]] = []

    def call(*arguments: str) -> int:
        calls.append(arguments)
        return code

    monkeypatch.setattr("flowpool.launch.ourselves.call", call)
    return calls


def test_nothing_runs_so_nothing_is_in_the_way(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody is asked."""
    home.config.write_text(f'listen.claude = "127.0.0.1:{closed_port()}"\n')
    calls = called(monkeypatch)
    takeover.make_way(home, Told(BY_HAND), yes=False)
    assert calls == []
    assert takeover.reached(home) is None


def test_another_programs_address_is_in_the_way(home: Home) -> None:
    """It is told before a service is installed that could not start."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        home.config.write_text(f'listen.claude = "127.0.0.1:{port}"\n')
        with pytest.raises(
            Failure, match=rf"^127.0.0.1:{port} is taken by .*pid {os.getpid()}.*; run: flowpool doctor$"
        ):
            takeover.make_way(home, Told(BY_HAND), yes=True)
        takeover.make_way(home, Told(OURS), yes=True)  # the service's own process, which does not answer yet


@pytest.mark.usefixtures("address")
def test_the_services_own_is_not_in_the_way(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is told by its process."""
    calls = called(monkeypatch)
    takeover.make_way(home, Told(OURS), yes=False)
    assert calls == []


@pytest.mark.usefixtures("address")
def test_one_by_hand_is_stopped_on_a_yes(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given beforehand, or at the terminal; as `flowpool stop` stops it."""
    calls = called(monkeypatch)
    takeover.make_way(home, Told(BY_HAND), yes=True)
    answers(monkeypatch, yes=True)
    takeover.make_way(home, Told(BY_HAND), yes=False)
    assert calls == [("stop",), ("stop",)]


@pytest.mark.usefixtures("address")
def test_one_by_hand_goes_on_on_a_no(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """And so where it cannot be stopped."""
    calls = called(monkeypatch, code=1)
    answers(monkeypatch, yes=False)
    with pytest.raises(Failure, match=r"^nothing was changed: .*; run: flowpool stop$"):
        takeover.make_way(home, Told(BY_HAND), yes=False)
    assert calls == []
    with pytest.raises(Failure, match=r"^it did not stop; nothing was changed; run: flowpool stop --now$"):
        takeover.make_way(home, Told(BY_HAND), yes=True)


def test_the_services_proxy_answers(home: Home, address: Address, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another's answer does not count, nor does one that comes too late."""
    assert takeover.answering(home, Told(OURS)) == address
    monkeypatch.setattr(takeover, "PATIENCE", 0.01)
    with pytest.raises(Failure, match=r"started, but it is active; run: flowpool service logs$"):
        takeover.answering(home, Told(Standing(is_running=True, word="active", pid=1)))


def test_a_service_that_failed_is_not_waited_for(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its manager's own word is told, and what it said last."""
    monkeypatch.setattr(Told, "said", lambda _self, _count: "first\nlast")
    with pytest.raises(Failure, match=r"started, but it is failed \(exit-code\): last; run: flowpool service logs$"):
        takeover.answering(home, Told(Standing(is_failed=True, word="failed (exit-code)")))
