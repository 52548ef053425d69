"""WebSockets: relayed on the client's own credential, through the reverse proxy and in tunnels, past the same admission as HTTP."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from wsproto.events import CloseConnection, TextMessage

from tests.e2e.client import Client, Request
from tests.e2e.harness import Member, Proxy
from tests.e2e.tunnelled import Tunnelled
from tests.e2e.websocket import Rejected, WebSocket
from tests.upstream import closed_port, plant
from tests.upstream.websockets import WebSockets

PATH = "/v1/sessions/ws/one/subscribe"
MIB = 1024 * 1024
MODES = ("reverse", "forward")
TOKEN = plant("client")
LOGIN = (("authorization", f"Bearer {TOKEN}"), ("cookie", f"session={TOKEN}"))


@dataclass
class Relay:
    """A proxy before a server of WebSockets."""

    upstream: WebSockets
    proxy: Proxy
    clients: list[Client] = field(default_factory=list)

    def client(self, mode: str, **kwargs: Any) -> Client:
        """A new connection, straight or in a tunnel."""
        straight = mode == "reverse"
        made = Client(self.proxy.url) if straight else Tunnelled(self.proxy.forward, self.proxy.ca, **kwargs)
        self.clients.append(made)
        return made

    def socket(self, mode: str, **kwargs: Any) -> WebSocket:
        """A new socket."""
        return WebSocket(self.client(mode), PATH, headers=LOGIN, **kwargs)


type Make = Callable[..., Relay]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    """A function that starts one; deflate: whether the server takes what clients offer."""
    opened: list[Any] = []
    relays: list[Relay] = []

    def start(*, deflate: bool = False, settings: dict[str, Any] | None = None, args: tuple[str, ...] = ()) -> Relay:
        upstream = WebSockets(deflate=deflate)
        tables = {"listen": {"claude": "127.0.0.1:0", "forward": f"127.0.0.1:{closed_port()}"}}
        for table, values in (settings or {}).items():
            tables[table] = tables.get(table, {}) | values
        members = [Member(name="work", secret=plant("work"))]
        proxy = Proxy(tmp_path, upstream.url, members, settings=tables, told_mode=True, args=args)
        opened.extend(one.__enter__() for one in (upstream, proxy))
        relays.append(Relay(upstream, proxy))
        return relays[-1]

    yield start
    for client in [client for relay in relays for client in relay.clients]:
        client.close()
    for one in reversed(opened):
        one.__exit__(None, None, None)


@pytest.mark.parametrize("taken", [False, True])
def test_every_frame_comes_back_as_it_was(make: Make, taken: bool) -> None:
    """Empty, large, in three fragments; compression offered by the client alone or agreed on (X86)."""
    relay = make(deflate=taken)
    for mode in MODES:
        ws = relay.socket(mode, deflate=True)
        assert [one.name for one in ws.accepted.extensions] == (["permessage-deflate"] if taken else [])
        assert ws.says("") == ""
        big = bytes(range(256)) * (MIB // 256)
        assert ws.says(big) == big
        parts = [
            TextMessage("one ", message_finished=False),
            TextMessage("two ", message_finished=False),
            TextMessage("three"),
        ]
        assert ws.send(*parts).message() == ("one two three", 3)
        assert ws.send(CloseConnection(code=1000)).closed() == 1000
    assert relay.upstream.wait_ended(2) == [1000, 1000]


def test_text_that_is_none_ends_its_own_socket_with_1007(make: Make) -> None:
    """Invalid UTF-8 closes that socket to both sides; another one goes on (X86)."""
    relay = make()
    for mode in MODES:
        other, ws = relay.socket(mode), relay.socket(mode)
        frame = b"\x81\x82" + b"\0\0\0\0" + b"\xc3\x28"  # a text of two bytes, masked with nothing
        ws._client.write(frame)
        assert ws.closed() == 1007
        assert other.says("still here") == "still here"
    assert 1007 in relay.upstream.wait_ended(2)


@pytest.mark.parametrize("mode", MODES)
def test_a_socket_that_is_reset_ends_alone(make: Make, mode: str) -> None:
    """A reset behind the 101, from either side, ends that socket and no other, and the proxy serves on (X83)."""
    relay = make()
    other, ws, third = relay.socket(mode), relay.socket(mode), relay.socket(mode)
    ws.send(TextMessage("reset"))
    assert ws.closed() == 1006
    third._client.abort()
    relay.upstream.wait_ended(2)
    assert other.says("still here") == "still here"
    assert relay.socket(mode).says("and so is a new one") == "and so is a new one"


@pytest.mark.parametrize("mode", MODES)
def test_pings_pass_both_ways(make: Make, mode: str) -> None:
    """What keeps a socket alive at one end reaches the other, and its answer comes back (X85)."""
    relay = make()
    ws = relay.socket(mode)
    ws.send(TextMessage("ping"), TextMessage("more"))
    assert ws.message()[0] == "more"  # answers the ping on the way
    assert ws.says("and more") == "and more"
    assert relay.upstream.pongs == [b"are you there"]


@pytest.mark.parametrize("mode", MODES)
def test_a_silent_socket_outlives_an_idle_connection(make: Make, mode: str) -> None:
    """Idle connections are ended, and requests have their limits; a socket that is silent for longer goes on (X85)."""
    relay = make(
        args=("--set", "tcp_timeout=1"), settings={"limits": {"headers_s": 0.2, "stream_idle_s": 0.2, "connect_s": 0.2}}
    )
    ws = relay.socket(mode)
    assert ws.says("one") == "one"
    for _ in range(2):  # each is ended after a second without a byte, one after the other
        idle = relay.client("reverse")
        assert idle.ask(Request(method="GET", path="/_flowpool/health")).status == 200
        assert idle.closed_by_peer()
    assert ws.says("two") == "two"


@pytest.mark.parametrize("mode", MODES)
def test_the_clients_secrets_are_on_the_wire_and_on_no_flow(make: Make, mode: str, tmp_path: Path) -> None:
    """The upstream gets the handshake's own credential and none of ours; flows, files and logs have it masked."""
    relay = make(args=("-w", str(tmp_path / "flows")))
    ws = relay.socket(mode)
    assert ws.says("one") == "one"
    assert ws.send(CloseConnection(code=1000)).closed() == 1000
    relay.upstream.wait_ended(1)
    (head,) = relay.upstream.heads
    assert f"authorization: Bearer {TOKEN}\r\n".encode() in head
    assert f"cookie: session={TOKEN}\r\n".encode() in head
    assert plant("work").encode() not in head
    relay.proxy.stop()
    assert (tmp_path / "flows").stat().st_size > 0
    assert relay.proxy.leaks(TOKEN) == []


def test_own_answer_e_for_a_handshake_that_may_not_come(make: Make) -> None:
    """A wrong Host, another machine, a missing key: refused like any request, nothing goes upstream (X83)."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("192.0.2.1", 9))
        own = probe.getsockname()[0]
    relay = make(settings={"listen": {"claude": "0.0.0.0:0"}})
    port = relay.proxy.url.rpartition(":")[2]
    asked = [
        (Client(f"http://127.0.0.1:{port}"), "evil.example"),
        (Client(f"http://{own}:{port}"), f"127.0.0.1:{port}"),
        (Tunnelled(relay.proxy.forward, relay.proxy.ca), "evil.example"),
    ]
    relay.clients.extend(client for client, _ in asked)
    for client, host in asked:
        with pytest.raises(Rejected) as refused:
            WebSocket(client, PATH, host=host, headers=LOGIN)
        assert refused.value.status == 400
    assert relay.upstream.heads == []


def test_own_answer_e_for_a_handshake_without_the_key(make: Make) -> None:
    """Where a key is asked for, a handshake shows it like any request; in a tunnel the tunnel has shown it."""
    relay = make(settings={"admit": {"key": True}})
    key = (relay.proxy.home / "client.key").read_text().strip()
    for headers in (LOGIN, (*LOGIN, ("x-flowpool-key", "wrong"))):
        with pytest.raises(Rejected) as refused:
            WebSocket(relay.client("reverse"), PATH, headers=headers)
        assert refused.value.status == 400
    assert relay.upstream.heads == []
    shown = WebSocket(relay.client("reverse"), PATH, headers=(*LOGIN, ("x-flowpool-key", key)))
    inside = WebSocket(relay.client("forward", key=key), PATH, headers=LOGIN)
    assert (shown.says("one"), inside.says("two")) == ("one", "two")
    assert not [head for head in relay.upstream.heads if key.encode() in head or b"proxy-auth" in head.lower()]


@pytest.mark.parametrize("mode", MODES)
def test_own_answer_f_for_another_vendors_socket_is_426(make: Make, mode: str) -> None:
    """A client of ChatGPT's is told to ask by HTTP, on a connection that ends: any other answer makes it stall (X82)."""
    relay = make()
    client = relay.client(mode)
    with pytest.raises(Rejected) as refused:
        WebSocket(client, "/backend-api/codex/responses", headers=LOGIN)
    assert refused.value.status == 426
    assert "close" in refused.value.headers["connection"]
    assert client.closed_by_peer()
    with relay.client(mode) as plain:
        assert (
            plain.ask(Request(method="POST", path="/backend-api/codex/responses", headers=LOGIN, body=b"{}")).status
            == 404
        )
    assert relay.upstream.heads == []
