"""Sockets: a WebSocket that broke looks broken to the other side.

mitmproxy tells the peer of a connection that ended without a word that it was closed normally (1000), which a client takes for the
end of what it asked for.
"""

import time

from mitmproxy import http
from mitmproxy.proxy import commands, events, layer
from mitmproxy.proxy.layers.websocket import WebsocketEndHook, WebsocketLayer
from wsproto.connection import ConnectionState
from wsproto.frame_protocol import CloseReason
from wsproto.handshake import WEBSOCKET_VERSION


def is_agreed(request: http.Request, answer: http.Response) -> bool:
    """Whether a WebSocket was asked for and agreed to; mitmproxy would pass on any other upgrade's bytes as they come.

    They could be requests, with a client's own credential, of one that never asked for an upgrade.
    """
    both = (request.headers.get("upgrade", ""), answer.headers.get("upgrade", ""))
    is_theirs = request.headers.get("sec-websocket-version", "").encode() == WEBSOCKET_VERSION
    return is_theirs and all(one.lower() == "websocket" for one in both)


class HonestSocket(WebsocketLayer):
    """mitmproxy's layer, which takes this one's class when it is made."""

    @classmethod
    def take_over(cls, made: layer.Layer | None) -> None:
        """Turn mitmproxy's layer into this one."""
        if type(made) is WebsocketLayer:
            made.__class__ = cls

    def relay_messages(self, event: events.Event) -> layer.CommandGenerator[None]:
        """Relay; where one side is gone though neither has said that it closes, end the other without a word, too."""
        is_open = self.client_ws.state is self.server_ws.state is ConnectionState.OPEN
        if not isinstance(event, events.ConnectionClosed) or not is_open:
            yield from super().relay_messages(event)
            return
        assert self.flow.websocket is not None
        self.flow.websocket.timestamp_end = time.time()
        self.flow.websocket.closed_by_client = event.connection == self.context.client
        self.flow.websocket.close_code = CloseReason.ABNORMAL_CLOSURE
        for connection in (self.context.server, self.context.client):
            yield commands.CloseConnection(connection)
        yield WebsocketEndHook(self.flow)
        self.flow.live = False
        self._handle_event = self.done
