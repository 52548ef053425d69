"""Tunnels: what they use of mitmproxy, name by name; then a CONNECT's life, driven without sockets."""

import dataclasses
import gc
import inspect
from types import SimpleNamespace
from typing import Any

import pytest
from mitmproxy import connection, ctx, http
from mitmproxy.proxy import commands, layer
from mitmproxy.proxy.layers import http as layers
from mitmproxy.proxy.layers import tls
from mitmproxy.proxy.layers.http import HTTPMode
from mitmproxy.proxy.layers.tcp import TCPLayer

from addons.exchange import EXCHANGES, Exchange
from addons.replaylayer import ReplayLayer
from addons.tunnels import HANDSHAKE, TUNNELS, Beginning, Blind, Opened, Tunnel, opened
from credentials.way import DIRECT, Way
from home.tables import Limits
from providers.anthropic import ANTHROPIC
from tests.addons.made import UPSTREAM, accounts, signer
from tests.addons.transcript import Clock, Transcript, is_alive, ticking

CONNECT = b"CONNECT third.example:443 HTTP/1.1\r\nhost: third.example:443\r\n\r\n"
OPEN = CONNECT.replace(b"third.example", b"api.anthropic.com")
ESTABLISHED = b"HTTP/1.1 200 Connection established\r\n\r\n"
OPENED = Opened(host="api.anthropic.com", port=443, provider=ANTHROPIC, upstream=UPSTREAM)

# What is used of mitmproxy

METHODS: list[tuple[type, str, list[str]]] = [
    (layers.HttpStream, "handle_connect_regular", []),
    (layers.HttpStream, "handle_connect_finish", []),
    (layers.HttpStream, "check_killed", ["emit_error_hook"]),
    (commands.OpenConnection, "__init__", ["connection"]),
    (commands.CloseConnection, "__init__", ["connection"]),
    (layer.Layer, "handle_event", ["event"]),
    (tls.ClientTLSLayer, "__init__", ["context"]),
    (layers.HttpLayer, "__init__", ["context", "mode"]),
    (TCPLayer, "__init__", ["context", "ignore"]),
]


@pytest.mark.parametrize(("owner", "name", "wanted"), METHODS)
def test_a_method_that_tunnels_use_is_as_it_was(owner: type, name: str, wanted: list[str]) -> None:
    """Every method that is overridden or called still takes what it is given."""
    method = getattr(owner, name, None)
    assert method is not None, f"mitmproxy moved {owner.__name__}.{name}, which addons/tunnels.py uses"
    assert list(inspect.signature(method).parameters)[1:] == wanted


def test_a_connect_is_still_handled_by_the_methods_that_are_replaced() -> None:
    """The address is set, then mitmproxy calls ours; a refusal in the flow is what the client gets."""
    assert "self.handle_connect_regular()" in inspect.getsource(layers.HttpStream.handle_connect)
    assert "self.context.server.address = " in inspect.getsource(layers.HttpStream.handle_connect)
    assert "self.flow.response" in inspect.getsource(layers.HttpStream.handle_connect_finish)
    assert {field.name for field in dataclasses.fields(connection.Server)} >= {"address", "tls", "sni", "peername"}


# A CONNECT's life


class Says:
    """Admission's part, said in advance."""

    def __init__(self, tunnel: Tunnel | None, response: http.Response | None = None) -> None:
        self.tunnel, self.response = tunnel, response
        self.flow: http.HTTPFlow | None = None

    def http_connect(self, flow: http.HTTPFlow) -> None:
        """Let it in, or not."""
        self.flow = flow
        EXCHANGES[flow] = Exchange(limits=Limits(connect_s=5))
        flow.response = self.response
        if self.tunnel is not None:
            TUNNELS[flow.client_conn] = self.tunnel


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Time that passes when a test says so."""
    made = ticking(monkeypatch)
    monkeypatch.setattr(ctx, "master", SimpleNamespace(addons=SimpleNamespace(get=lambda _name: None)), raising=False)
    return made


def blind(astray: str | None = None, way: Way = DIRECT) -> Blind:
    """A tunnel to a third host."""
    return Blind(host="third.example", port=443, way=way, astray=lambda _server: astray)


def talk(says: Says, clock: Clock, **kwargs: Any) -> Transcript:
    """A client's connection to the forward listener."""
    return Transcript(signer(accounts("work")), says, clock=clock, mode=HTTPMode.regular, **kwargs)


def test_a_blind_tunnel_stands_once_it_is_connected(clock: Clock) -> None:
    """The answer waits for the connection; then every byte passes as it came, both ways, whatever it looks like."""
    made = talk(Says(blind()), clock)
    made.holds = "dial"
    made.client(CONNECT)
    assert (made.got, made.dialling[0].connection.address) == (b"", ("third.example", 443))
    made.holds = ""
    made.dialled()
    assert made.got == ESTABLISHED
    made.client(HANDSHAKE + b"\x03\x01 hello").client(b"GET / HTTP/1.1\r\n\r\n").upstream(b"\x16 there")
    assert made.take() == HANDSHAKE + b"\x03\x01 helloGET / HTTP/1.1\r\n\r\n"
    assert made.got == ESTABLISHED + b"\x16 there"
    assert "tcp_start" not in made.hooks
    made.upstream_ends().client_leaves()


def test_what_a_client_sends_early_passes_too(clock: Clock) -> None:
    """Bytes behind the CONNECT wait for the tunnel."""
    made = talk(Says(blind()), clock)
    made.holds = "dial"
    made.client(CONNECT + HANDSHAKE).client(b"more")
    assert made.take() == b""
    made.dialled()
    assert made.take() == HANDSHAKE + b"more"


@pytest.mark.parametrize(
    ("astray", "error", "status", "kind"),
    [
        ("it is flowpool itself", None, 400, "invalid_request_error"),
        (None, "Name or service not known", 502, "api_error"),
    ],
)
def test_a_tunnel_that_must_not_be_or_cannot_be_is_answered(
    clock: Clock, astray: str | None, error: str | None, status: int, kind: str
) -> None:
    """The reason names the host; the connection that led astray is closed without a byte on it."""
    made = talk(says := Says(blind(astray)), clock)
    made.holds = "dial"
    made.client(CONNECT).dialled(error)
    if made.opened:
        made.upstream(b"too late").upstream_ends()
    assert made.got.startswith(f"HTTP/1.1 {status} ".encode())
    assert kind.encode() in made.got
    assert b"third.example" in made.got
    assert made.closed == made.opened
    assert made.take() == b""
    assert says.flow is not None
    assert made.hooks[-1] == "http_connect_error"


def test_a_connection_that_takes_too_long_is_given_up(clock: Clock) -> None:
    """After connect_s, as for requests."""
    made = talk(Says(blind()), clock)
    made.holds = "dial"
    made.client(CONNECT).passes(4.9)
    assert made.got == b""
    made.passes(0.2)
    assert made.got.startswith(b"HTTP/1.1 502 ")
    assert made.dialling == type(made.dialling)()


@pytest.mark.parametrize("error", [None, "refused"])
def test_a_client_that_leaves_while_its_tunnel_is_dug_harms_nobody(clock: Clock, error: str | None) -> None:
    """The connection that comes too late is closed."""
    made = talk(Says(blind()), clock)
    made.holds = "dial"
    made.client(CONNECT).client_leaves()
    if made.dialling:
        made.dialled(error)
    assert all(server in made.closed for server in made.opened)
    assert is_alive(made.layer)


def test_a_tunnel_is_silent_for_as_long_as_it_likes(clock: Clock) -> None:
    """No deadline is left once it stands."""
    made = talk(Says(blind()), clock).client(CONNECT).passes(100_000)
    assert made.upstream(b"late").got == ESTABLISHED + b"late"


def test_through_the_networks_proxy_a_tunnel_leads_to_that(clock: Clock) -> None:
    """It is asked for a tunnel in its turn; this machine's own services are not."""
    way = Way(proxy="http://proxy.example:3128")
    made = talk(Says(blind(way=way)), clock).client(CONNECT).client(HANDSHAKE)
    assert made.opened[0].address == ("proxy.example", 3128)
    assert made.take().startswith(b"CONNECT third.example:443 HTTP/1.1\r\n")
    made.upstream(b"HTTP/1.1 200 OK\r\n\r\n").upstream(b"hello")
    assert made.take() == HANDSHAKE
    assert made.got.endswith(b"hello")
    near = dataclasses.replace(blind(way=way), host="127.0.0.1")
    made = talk(Says(near), clock).client(CONNECT.replace(b"third.example", b"127.0.0.1"))
    assert made.opened[0].address == ("127.0.0.1", 443)


def test_a_connect_that_nobody_let_in_fails_closed(clock: Clock) -> None:
    """Where admission failed without an answer, nothing is connected."""
    made = talk(Says(None), clock).client(CONNECT)
    assert made.got.startswith(b"HTTP/1.1 502 ")
    assert made.opened == []


def test_a_refusal_is_what_the_client_gets(clock: Clock) -> None:
    """Whatever tunnel was noted."""
    made = talk(Says(blind(), http.Response.make(400, b"no")), clock).client(CONNECT)
    assert made.got.startswith(b"HTTP/1.1 400 ")
    assert made.opened == []


def test_an_opened_tunnel_is_answered_at_once_and_speaks_for_the_vendor(clock: Clock) -> None:
    """Nothing is connected for it; one byte tells that TLS follows, and what is in that is read as HTTP by our own layer."""
    made = talk(Says(OPENED), clock).client(OPEN)
    assert (made.got, made.opened) == (ESTABLISHED, [])
    first = _first(made.client(HANDSHAKE))
    assert isinstance(first, tls.ClientTLSLayer)
    assert isinstance(first.child_layer, ReplayLayer)
    assert "next_layer" not in made.hooks


@pytest.mark.parametrize(("upstream", "sni"), [(UPSTREAM, "api.anthropic.com"), (("http", "127.0.0.1", 9000), None)])
@pytest.mark.parametrize("data", [b"P", b"POST /v1/messages HTTP/1.1\r\n", b"\x00\x01\x02", b"SSH-2.0"])
def test_what_is_no_tls_is_read_as_http(
    clock: Clock, data: bytes, upstream: tuple[str, str, int], sni: str | None
) -> None:
    """For admission to refuse; raw bytes never pass. Requests would go where the provider is, under its name."""
    made = talk(Says(dataclasses.replace(OPENED, upstream=upstream)), clock).client(OPEN).client(data)
    first = _first(made)
    assert isinstance(first, ReplayLayer)
    assert (first.mode, made.opened) == (HTTPMode.transparent, [])
    server = first.context.server
    assert (server.address, server.tls, server.sni) == (upstream[1:], upstream[0] == "https", sni)


def test_an_opened_tunnel_ends_with_its_client(clock: Clock) -> None:
    """Also before its first byte."""
    made = talk(Says(OPENED), clock).client(OPEN).client_leaves()
    assert is_alive(made.layer)


def test_only_opened_tunnels_can_be_seen_into() -> None:
    """The reverse proxy's connections and blind tunnels are none."""
    client = connection.Client(peername=("127.0.0.1", 1), sockname=("127.0.0.1", 2))
    assert opened(client) is None
    TUNNELS[client] = blind()
    assert opened(client) is None
    TUNNELS[client] = OPENED
    assert opened(client) is OPENED


def test_a_tunnel_is_forgotten_with_its_client(clock: Clock) -> None:
    """Nothing of it stays."""
    gc.collect()
    before = len(TUNNELS)
    talk(Says(OPENED), clock).client(OPEN).client(HANDSHAKE)
    gc.collect()
    assert len(TUNNELS) <= before


def _first(made: Transcript) -> layer.Layer | None:
    """The layer that an opened tunnel's first byte led to."""
    (stream,) = made.layer.streams.values()
    assert isinstance(stream.child_layer, Beginning)
    return stream.child_layer.child_layer
