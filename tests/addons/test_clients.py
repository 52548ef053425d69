"""What a client's connection is doing is read off mitmproxy's layers; what is used of them is as it was."""

import asyncio
import inspect
import time
from collections import deque
from types import SimpleNamespace
from typing import Any

import pytest
from mitmproxy import ctx, http
from mitmproxy.proxy.context import Context
from mitmproxy.proxy.layers.http import HttpStream
from mitmproxy.proxy.layers.http._http1 import Http1Server
from mitmproxy.proxy.layers.tcp import TCPLayer
from mitmproxy.proxy.layers.websocket import WebsocketConnection, WebsocketLayer
from mitmproxy.proxy.server import ConnectionHandler, TimeoutWatchdog
from mitmproxy.test import tflow
from wsproto import ConnectionType

from addons import clients
from addons.events import Cut
from addons.exchange import CLIENT, EXCHANGES, Course, Path, Pause, Send
from addons.pauses import PAUSED
from addons.sign import Signer
from tests.addons.made import exchange
from tests.addons.transcript import Clock, Transcript
from tests.upstream import ok

GET = b"GET /v1/models HTTP/1.1\r\nHost: 127.0.0.1:3456\r\n\r\n"
ANSWER = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi"
STREAM = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"
HEAD = len(STREAM)


class Passes:
    """Sends every request out, or lets it wait; path: whose business it is."""

    def __init__(self, path: Path = Path.PASSED, *, waits: bool = False, course: Course = Course.STREAM) -> None:
        self.path, self.waits, self.course = path, waits, course

    def requestheaders(self, flow: http.HTTPFlow) -> None:
        made = EXCHANGES[flow] = exchange(self.path)
        made.account = CLIENT

    def flowpool_attempt(self, flow: http.HTTPFlow) -> None:
        EXCHANGES[flow].step = Pause(100.0) if self.waits else Send()

    def responseheaders(self, flow: http.HTTPFlow) -> None:
        EXCHANGES[flow].course = self.course


@pytest.fixture(autouse=True)
def _master(monkeypatch: pytest.MonkeyPatch) -> None:
    """A mitmproxy in which nobody looks at flows."""
    addons = SimpleNamespace(get=lambda _name: None)
    monkeypatch.setattr(ctx, "master", SimpleNamespace(addons=addons), raising=False)
    monkeypatch.setattr(ctx, "options", SimpleNamespace(save_stream_file=None), raising=False)


def talk(addon: Passes) -> Transcript:
    """A connection that has begun, on which nothing was asked."""
    return Transcript(Signer({}, {}), addon, clock=Clock())


def handler(made: Transcript, *, waiting: bytes = b"", idle: float = 0.0) -> Any:
    """The connection as mitmproxy holds it; waiting: bytes that nobody has read yet."""
    return SimpleNamespace(
        layer=made.layer,
        client=made.peer,
        transports={made.peer: SimpleNamespace(reader=SimpleNamespace(_buffer=waiting))},
        timeout_watchdog=SimpleNamespace(last_activity=time.time() - idle),
    )


def test_what_is_used_of_mitmproxy_is_as_it_was() -> None:
    """Names and arguments, in its connections, its layers, and asyncio's readers."""
    assert list(inspect.signature(ConnectionHandler.close_connection).parameters)[1:] == ["connection", "half_close"]
    assert list(inspect.signature(ConnectionHandler.server_event).parameters)[1:] == ["event"]

    async def nothing() -> None:
        assert TimeoutWatchdog(1, nothing).last_activity <= time.time()
        assert isinstance(asyncio.StreamReader()._buffer, bytearray)  # type: ignore[attr-defined]

    asyncio.run(nothing())
    assert HttpStream.child_layer is None
    made = talk(Passes())
    assert isinstance(made.layer.connections[made.peer], Http1Server)
    ws = WebsocketConnection(ConnectionType.SERVER, conn=made.peer)
    assert isinstance(ws._events, deque)


def test_a_request_is_work_from_its_heads_end_to_its_answers_last() -> None:
    """Half a head is none yet, but is known; what is answered whole is work no more."""
    made = talk(Passes())
    assert not clients.is_at_work(handler(made))
    made.client(GET[:9])
    assert (clients.is_at_work(handler(made)), clients.is_reading(handler(made))) == (False, True)
    made.client(GET[9:])
    assert (clients.is_at_work(handler(made)), clients.is_reading(handler(made))) == (True, False)
    made.upstream(ANSWER)
    assert made.got.endswith(b"hi")
    assert not clients.is_at_work(handler(made))


@pytest.mark.parametrize(("path", "count"), [(Path.PASSED, 1), (Path.LOCAL, 0)])
def test_what_is_asked_of_us_is_no_request_in_flight(monkeypatch: pytest.MonkeyPatch, path: Path, count: int) -> None:
    """Who watches a drain does not hold it up."""
    made = talk(Passes(path)).client(GET)
    server = SimpleNamespace(connections={"one": handler(made), "other": handler(talk(Passes()))})
    monkeypatch.setattr(ctx.master.addons, "get", {"proxyserver": server}.get)
    assert clients.in_flight() == count
    assert len(clients.connected()) == 2


@pytest.mark.parametrize(
    ("waiting", "idle", "quiet"),
    [(b"", 5.0, True), (b"", 0.5, False), (b"G", 5.0, False), (b"", -900.0, True)],
    ids=["", "busy", "asks", "set back"],
)
def test_a_connection_is_quiet_when_nothing_moves_and_nothing_waits(waiting: bytes, idle: float, quiet: bool) -> None:
    """A request that has come and is not read yet must not meet a closed door."""
    assert clients.is_quiet(handler(talk(Passes()), waiting=waiting, idle=idle), 1.0) is quiet


def test_a_connection_is_closed_once() -> None:
    """One that has ended meanwhile is left alone."""
    made, closed = handler(talk(Passes())), list[object]()
    made.close_connection = closed.append
    clients.close(made)
    made.transports.clear()
    clients.close(made)
    assert closed == [made.client]


def inside(kind: type[TCPLayer | WebsocketLayer]) -> Any:
    """A connection in whose only stream this layer has taken over."""
    made = talk(Passes()).client(GET)
    (stream,) = made.layer.streams.values()
    context = Context(made.peer, made.layer.context.options)
    stream.child_layer = kind(context, tflow.twebsocketflow() if kind is WebsocketLayer else True)  # type: ignore[arg-type]
    return handler(made)


def test_tunnels_and_websockets_are_no_requests() -> None:
    """They may last for ever, and what passes in them cannot be seen."""
    tunnel, socket = inside(TCPLayer), inside(WebsocketLayer)
    assert not clients.is_at_work(tunnel)
    assert not clients.is_at_work(socket)
    assert (clients.is_tunnel(tunnel), clients.sockets(tunnel)) == (True, [])
    assert [type(one) for one in clients.sockets(socket)] == [WebsocketLayer]
    assert not clients.is_tunnel(handler(talk(Passes()).client(GET)))


# Who still waits is told


def test_a_stream_ends_with_an_event_after_which_its_client_tries_again() -> None:
    """Whole frames, then one error; the upstream is let go."""
    made = talk(Passes(Path.POOLED, course=Course.STREAM)).client(GET)
    body = ok("One two").body
    made.upstream(STREAM.replace(b"\r\n\r\n", b"\r\ntransfer-encoding: chunked\r\n\r\n") + chunk(body[:200]))
    made._feed(Cut())
    assert made.got.count(b"event: error") == 1
    assert b"flowpool was stopped" in made.got
    assert made.got.endswith(b"0\r\n\r\n")
    assert made.closed
    assert made.layer.streams == {}


def chunk(data: bytes) -> bytes:
    """One piece of a chunked body."""
    return b"%x\r\n%b\r\n" % (len(data), data)


@pytest.mark.parametrize("waits", [False, True], ids=["no head yet", "waits inside"])
def test_what_has_no_answer_yet_gets_one_of_our_own(waits: bool) -> None:
    """Own answer I; nothing more goes upstream."""
    made = talk(Passes(waits=waits)).client(GET)
    made._feed(Cut())
    assert made.got.startswith(b"HTTP/1.1 503 ")
    assert b"try again" in made.got
    assert made.layer.streams == {}
    assert not PAUSED
    assert len(made.closed) == (0 if waits else 1)


def test_who_is_still_asking_or_has_asked_nothing_is_told_nothing() -> None:
    """There is no request to answer."""
    for made in (talk(Passes()), talk(Passes()).client(b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\nhalf")):
        made._feed(Cut())
        assert made.got == b""


def test_cutting_goes_through_the_connections_own_task() -> None:
    """Only where a layer of ours is at all."""
    told: list[object] = []

    async def server_event(event: object) -> None:
        told.append(type(event))

    made = handler(talk(Passes()))
    made.server_event = server_event
    asyncio.run(clients.cut(made))
    made.layer = TCPLayer(made.layer.context)
    asyncio.run(clients.cut(made))
    assert told == [Cut]
