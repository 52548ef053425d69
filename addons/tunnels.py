"""Tunnels: what follows a CONNECT that was let in, opened or passed on blind.

Like addons/replay.py, whose streams inherit from the one here, this file knows mitmproxy's internals; tests/addons/test_tunnels.py
pins what it uses. What may be opened is addons/forward.py's answer.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from mitmproxy.connection import Client, Server
from mitmproxy.proxy import commands, events, layer
from mitmproxy.proxy.context import Context
from mitmproxy.proxy.layers.http import HttpLayer, HTTPMode, HttpStream
from mitmproxy.proxy.layers.tls import ClientTLSLayer

from addons.exchange import EXCHANGES
from addons.guard import fault_response
from addons.replies import own, refusal
from addons.way import blind
from credentials.loopback import is_loopback
from credentials.way import DIRECT, Way
from providers.contract import Provider

HANDSHAKE = b"\x16"
"""What TLS begins with: the type of its first record."""

type Upstream = tuple[str, str, int]
type Commands = layer.CommandGenerator[None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A tunnel in which we speak for the vendor; upstream: where its requests go, whatever host the client named."""

    host: str
    port: int
    provider: Provider
    upstream: Upstream


@dataclass(frozen=True, slots=True, kw_only=True)
class Blind:
    """A tunnel whose bytes pass unread.

    way: how other machines are reached. astray: why where it led must not be used, given the server once it is connected.
    """

    host: str
    port: int
    way: Way
    astray: Callable[[Server], str | None]


type Tunnel = Opened | Blind

TUNNELS: WeakKeyDictionary[Client, Tunnel] = WeakKeyDictionary()
"""Each client connection's tunnel; what is not here has asked for none, or was refused."""


def opened(client: Client) -> Opened | None:
    """The tunnel that the client's requests come through; None when they come through none, or cannot be seen."""
    tunnel = TUNNELS.get(client) if TUNNELS else None  # which costs less where there are none
    return tunnel if isinstance(tunnel, Opened) else None


class TunnelStream(HttpStream):
    """A request that may be a CONNECT."""

    due: float | None = None
    """Monotonic; a connection that stands no later than this is given up by the layer's clock."""

    def inner(self) -> HttpLayer:
        """The layer for what is asked in an opened tunnel."""
        return HttpLayer(self.context, HTTPMode.transparent)

    def give_up(self, server: Server) -> Commands:
        """Close a connection on which no tunnel will stand; what it still says is to concern nobody."""
        yield commands.CloseConnection(server)

    def handle_connect_regular(self) -> Commands:
        """Answer a CONNECT: of an opened tunnel at once, of a blind one when its connection stands."""
        tunnel = TUNNELS.get(self.context.client)
        if self.flow.response is None and tunnel is None:
            self.flow.response = fault_response()
        if self.flow.response is None and isinstance(tunnel, Opened):
            self.child_layer = Beginning(self.context, tunnel.upstream, self.inner)
        elif self.flow.response is None and isinstance(tunnel, Blind):
            yield from self.reach(tunnel)
            if (yield from self.check_killed(False)):
                yield from self.give_up(self.context.server)
                return
        yield from self.handle_connect_finish()  # type: ignore[no-untyped-call]

    def reach(self, tunnel: Blind) -> Commands:
        """Connect a blind tunnel; where that fails, or it led where it must not, the flow has the answer.

        Through the network's proxy it is only known later whether that may connect: then the tunnel ends.
        """
        server, exchange = self.context.server, EXCHANGES[self.flow]
        if tunnel.way.proxy and not is_loopback(tunnel.host):
            self.child_layer = blind(self.context, tunnel.way)
            return
        self.due = time.monotonic() + exchange.limits.connect_s
        error = yield commands.OpenConnection(server)
        self.due = None
        if error:
            message = f"flowpool cannot reach {tunnel.host}:{tunnel.port}: {error}"
            self.flow.response = own(exchange, 502, message, retry=True)
        elif why := tunnel.astray(server):
            yield from self.give_up(server)
            self.flow.response = refusal(exchange, "E", 400, f"no tunnel to {tunnel.host}: {why}", retry=False)
        else:
            self.child_layer = blind(self.context, DIRECT)


class Beginning(layer.Layer):
    """An opened tunnel until its first byte: then TLS and HTTP, or HTTP alone, which admission refuses.

    It is not mitmproxy's to choose, whose answer hangs on the user's options and might be to pass bytes on unread.
    """

    def __init__(self, context: Context, upstream: Upstream, inner: Callable[[], HttpLayer]) -> None:
        super().__init__(context)
        self._upstream, self._inner = upstream, inner

    def _handle_event(self, event: events.Event) -> Commands:
        if isinstance(event, events.DataReceived):
            _aim(self.context.server, self._upstream)
            self.child_layer = self._stack(is_tls=event.data.startswith(HANDSHAKE))
            self._handle_event = self.child_layer.handle_event  # type: ignore[method-assign]
            yield from self.child_layer.handle_event(events.Start())
            yield from self.child_layer.handle_event(event)
        elif isinstance(event, events.ConnectionClosed):
            yield commands.CloseConnection(event.connection)

    def _stack(self, *, is_tls: bool) -> layer.Layer:
        if not is_tls:
            return self._inner()
        top = ClientTLSLayer(self.context)
        top.child_layer = self._inner()
        return top


def _aim(server: Server, upstream: Upstream) -> None:
    """Let all that is asked in this tunnel go where the provider is, under the name that is expected there."""
    scheme, host, port = upstream
    server.address, server.tls = (host, port), scheme == "https"
    server.sni = host if server.tls else None
