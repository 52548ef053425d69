"""A sleep shows in clocks that went on; what was connected before it is doubted, and who must know of it is told (X68)."""

import asyncio
import socket
import time
from collections.abc import Iterator
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mitmproxy import ctx
from mitmproxy.connection import Client, Server
from mitmproxy.proxy.server import ConnectionHandler, ConnectionIO

from addons.wake import AHEAD, Moment, Wake, doubt, moment, slept

START = Moment(wall=1_000_000, awake=500, boot=900)
passing = st.floats(0, 1e6)
sleeping = st.floats(AHEAD + 0.01, 1e6)


def later(passed: float, *, wall: float = 0, boot: float | None = 0) -> Moment:
    """So many seconds later, by clocks of which some went on for longer."""
    boot = None if boot is None else 900 + passed + boot
    return Moment(wall=1_000_000 + passed + wall, awake=500 + passed, boot=boot)


@given(passing, st.floats(-1e6, AHEAD - 0.01))
def test_time_that_passes_awake_is_no_sleep(passed: float, off: float) -> None:
    """However much of it, and although the wall clock drifts, or is set back by hours."""
    assert slept(START, later(passed, wall=off)) == 0


@given(passing, sleeping)
def test_a_sleep_is_seen_by_either_clock(passed: float, length: float) -> None:
    """By the one that counts since the boot, by the wall's where there is no such, or where it stood still with the machine."""
    for after in (later(passed, boot=length), later(passed, wall=length), later(passed, wall=length, boot=length)):
        assert slept(START, after) == pytest.approx(length, abs=0.01)
    assert slept(Moment(START.wall, START.awake), later(passed, wall=length, boot=None)) == pytest.approx(
        length, abs=0.01
    )


@given(passing, st.floats(-1e6, -AHEAD), sleeping)
def test_a_wall_clock_that_was_set_back_hides_no_sleep(passed: float, back: float, length: float) -> None:
    """Where the other clock tells of it."""
    assert slept(START, later(passed, wall=back, boot=length)) == pytest.approx(length, abs=0.01)


def test_the_clocks_of_this_machine_agree_while_it_is_awake() -> None:
    """Two looks one after the other tell of no sleep, whatever this system counts."""
    assert slept(moment(), moment()) == 0
    assert moment().wall == pytest.approx(time.time(), abs=5)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[SimpleNamespace]:
    """A mitmproxy with one connection that its client and a server's socket are in."""
    ours, theirs = socket.socketpair()
    listener = socket.create_server(("127.0.0.1", 0))
    dialled = socket.create_connection(listener.getsockname())
    handler = SimpleNamespace(transports={})
    for connection, its in ((Client(peername=("", 1), sockname=("", 2)), ours), (Server(address=("h", 1)), dialled)):
        writer = SimpleNamespace(get_extra_info=lambda name, its=its: its if name == "socket" else None)
        handler.transports[connection] = ConnectionIO(writer=writer)  # type: ignore[arg-type]
    handler.transports[Server(address=("still", 1))] = ConnectionIO()
    found = SimpleNamespace(connections={"one": handler})
    addons = SimpleNamespace(get=lambda name: found if name == "proxyserver" else None)
    monkeypatch.setattr(ctx, "master", SimpleNamespace(addons=addons), raising=False)
    yield SimpleNamespace(client=ours, server=dialled)
    for one in (ours, theirs, listener, dialled):
        one.close()


@pytest.mark.usefixtures("server")
def test_who_must_know_is_told_once_for_each_sleep(caplog: pytest.LogCaptureFixture) -> None:
    """The first look compares with nothing; a sleep is told once, a second one again, and both are logged."""
    caplog.set_level("INFO")
    told: list[str] = []
    moments = iter([START, later(1), later(2, boot=60), later(3, boot=60), later(4, boot=3660), later(5, boot=3660)])
    wake = Wake(lambda: told.append("woke"), clocks=lambda: next(moments))
    counts = []
    for _ in range(6):
        wake.look()
        counts.append(len(told))

    assert counts == [0, 0, 1, 1, 2, 2]
    assert [message.split("slept for ")[1].split(";")[0] for message in caplog.messages] == ["60 s", "3600 s"]


def test_a_connection_to_a_server_is_doubted(server: SimpleNamespace) -> None:
    """The system asks soon whether anybody is there; the client's own connection is this machine's, and is let be."""
    moments = iter([START, later(1, boot=60)])
    wake = Wake(lambda: None, clocks=lambda: next(moments))
    assert server.server.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 0
    wake.look()
    wake.look()

    assert server.server.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) != 0
    assert server.client.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 0
    if hasattr(socket, "TCP_KEEPINTVL"):
        assert server.server.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL) == 5


def test_a_socket_that_cannot_be_doubted_is_passed_over() -> None:
    """One that has been closed meanwhile."""
    closed = socket.socket()
    closed.close()

    doubt(closed)


def test_it_looks_from_the_start_to_the_end() -> None:
    """Again and again, without being asked."""

    async def run() -> int:
        looks = 0
        enough = asyncio.Event()

        def clocks() -> Moment:
            nonlocal looks
            looks += 1
            if looks == 3:
                enough.set()
            return START

        wake = Wake(lambda: None, every=0.001, clocks=clocks)
        wake.running()
        await asyncio.wait_for(enough.wait(), 20)
        wake.done()
        return looks

    assert asyncio.run(run()) >= 3


def test_what_is_used_of_mitmproxy_is_as_it_was() -> None:
    """Connections hold their transports, and these their writers."""
    assert "transports" in ConnectionHandler.__annotations__
    assert ConnectionIO().writer is None
