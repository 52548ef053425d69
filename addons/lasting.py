"""Lasting: connections that may be silent for hours, which are tunnels passed on blind and WebSockets.

mitmproxy ends a connection on which nothing passed for `tcp_timeout` (10 minutes); a model that thinks, or a socket that waits for
events, is silent for longer. What died without a word the system's own keep-alive finds.
"""

import asyncio
import socket
from contextlib import suppress

from mitmproxy import ctx, http
from mitmproxy.connection import Client

from addons.tunnels import TUNNELS, Blind

SILENT_S = 24 * 3600
LAST = 1
"""So many messages of a WebSocket stay on its flow: other addons look at the newest."""
LAST_SHOWN = 100
"""The same, where somebody looks at flows."""


class Lasting:
    """Lets them live, and keeps them small."""

    name = "flowpool_lasting"

    def http_connected(self, flow: http.HTTPFlow) -> None:
        """A tunnel stands; an opened one lives as long as any client connection."""
        if isinstance(TUNNELS.get(flow.client_conn), Blind):
            _let_rest(flow.client_conn)

    def websocket_start(self, flow: http.HTTPFlow) -> None:
        """A WebSocket stands."""
        _let_rest(flow.client_conn)

    def websocket_message(self, flow: http.HTTPFlow) -> None:
        """Forget the messages that have passed: mitmproxy would keep them all until the socket ends."""
        if flow.websocket is not None:
            shown = ctx.master.addons.get("view") is not None or getattr(ctx.options, "save_stream_file", None)
            del flow.websocket.messages[: -(LAST_SHOWN if shown else LAST)]


def _let_rest(client: Client) -> None:
    """Let a client's connection, and those that were made for it, be silent."""
    handler = ctx.master.addons.get("proxyserver").connections.get(client.id)
    if handler is None:
        return
    handler.timeout_watchdog.timeout = SILENT_S
    for transport in list(handler.transports.values()):
        if isinstance(transport.writer, asyncio.StreamWriter):
            _keep_alive(transport.writer)


def _keep_alive(writer: asyncio.StreamWriter) -> None:
    found = writer.get_extra_info("socket")
    with suppress(OSError, AttributeError):  # one that has just ended
        found.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
