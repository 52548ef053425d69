"""Clients: what the connections of clients are doing, and how each is ended well.

Like addons/replay.py this file knows mitmproxy's internals; tests/addons/test_clients.py pins what it uses.
"""

import time
from collections.abc import Iterator
from typing import Any

from mitmproxy import ctx
from mitmproxy.proxy import events, layer
from mitmproxy.proxy.layers.http import HttpLayer, HttpStream
from mitmproxy.proxy.layers.http._http1 import Http1Server
from mitmproxy.proxy.layers.websocket import WebsocketLayer
from mitmproxy.proxy.mode_servers import ProxyConnectionHandler
from wsproto.events import CloseConnection
from wsproto.frame_protocol import CloseReason

from addons.events import Cut
from addons.exchange import Path
from addons.replay import ReplayStream
from addons.servers import has_ours
from addons.way import layers_below

LEAVING = "flowpool stops"

type Handler = ProxyConnectionHandler


def connected() -> list[Handler]:
    """The connections of all clients."""
    return list(ctx.master.addons.get("proxyserver").connections.values())


def in_flight() -> int:
    """How many requests are being served; those for our own paths are none."""
    return sum(not _is_local(stream) for handler in connected() for stream in _requests(handler))


def is_at_work(handler: Handler) -> bool:
    """Whether a request is served there, or its body read."""
    return any(True for _ in _requests(handler))


def is_reading(handler: Handler) -> bool:
    """Whether a part of a request's head is here."""
    return any(map(_is_reading, _http_layers(handler.layer)))


def sockets(handler: Handler) -> list[WebsocketLayer]:
    """The WebSockets that are open there."""
    found = [stream.child_layer for stream in _streams(handler.layer)]
    return [one for one in found if isinstance(one, WebsocketLayer)]


def is_tunnel(handler: Handler) -> bool:
    """Whether what passes there cannot be seen."""
    return any(
        stream.child_layer is not None and not has_ours(stream.child_layer) for stream in _streams(handler.layer)
    )


def is_quiet(handler: Handler, seconds: float) -> bool:
    """Whether nothing came or went for so long, nothing that came is still to be read; also where the clock was set back."""
    waiting = getattr(handler.transports[handler.client].reader, "_buffer", b"") if _is_open(handler) else b""
    return not waiting and not 0 <= time.time() - handler.timeout_watchdog.last_activity < seconds


def close(handler: Handler) -> None:
    """Close a connection on which nothing is under way."""
    if _is_open(handler):
        handler.close_connection(handler.client)


async def close_socket(handler: Handler, socket: WebsocketLayer) -> None:
    """End a WebSocket as its protocol wants it, on both sides: the peers are told that we go away."""
    socket.client_ws._events.append(CloseConnection(code=CloseReason.GOING_AWAY, reason=LEAVING))  # noqa: SLF001
    await handler.server_event(events.DataReceived(handler.client, b""))


async def cut(handler: Handler) -> None:
    """Tell whoever still waits there that no more comes."""
    if has_ours(handler.layer):
        await handler.server_event(Cut())


def _is_open(handler: Handler) -> bool:
    return handler.client in handler.transports


def _http_layers(top: layer.Layer | None) -> Iterator[HttpLayer]:
    """The HTTP layers of a connection, those inside its tunnels included."""
    for one in layers_below(top):
        if isinstance(one, HttpLayer):
            yield one
            for stream in one.streams.values():
                yield from _http_layers(stream.child_layer)


def _streams(top: layer.Layer | None) -> Iterator[HttpStream]:
    for one in _http_layers(top):
        yield from one.streams.values()


def _requests(handler: Handler) -> Iterator[HttpStream]:
    """Those streams that are neither tunnels nor WebSockets."""
    return (stream for stream in _streams(handler.layer) if stream.child_layer is None)


def _is_local(stream: HttpStream) -> bool:
    exchange = stream.exchange if isinstance(stream, ReplayStream) else None
    return exchange is not None and exchange.path is Path.LOCAL


def _is_reading(http: HttpLayer) -> bool:
    server: Any = http.connections.get(http.context.client)
    return isinstance(server, Http1Server) and bool(server.buf)
