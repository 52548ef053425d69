"""Events: what the proxy's layers are told beside mitmproxy's own events, the hook by which they ask, and who hears nothing any more."""

from dataclasses import dataclass

from mitmproxy import http
from mitmproxy.proxy import commands, events, layer
from mitmproxy.proxy.layers.http._events import (
    ResponseData,
    ResponseEndOfMessage,
    ResponseHeaders,
    ResponseProtocolError,
    ResponseTrailers,
)

type Commands = layer.CommandGenerator[None]

FROM_UPSTREAM = (ResponseHeaders, ResponseData, ResponseTrailers, ResponseEndOfMessage, ResponseProtocolError)
"""What a stream is told of its upstream."""


@dataclass
class FlowpoolAttemptHook(commands.StartHook):
    """Nothing has reached the client: an attempt has ended or none has begun. Set the exchange's step."""

    flow: http.HTTPFlow


class Overdue(events.Event):
    """The connection's clock found this stream past its deadline."""


class Beat(events.Event):
    """It is time to tell this stream's client that its request waits."""


class Nudge(events.Event):
    """Something changed that may let a paused stream go on: look at the clock now."""


class Woke(events.Event):
    """The machine slept until now: what was connected may be so no longer."""


class Cut(events.Event):
    """The proxy ends: whoever still waits is told so."""


class Deaf(layer.Layer):
    """Stands in for a server connection that was given up: what still arrives from it concerns nobody."""

    def _handle_event(self, _: events.Event) -> Commands:
        yield from ()
