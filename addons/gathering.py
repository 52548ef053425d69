"""Gathering: a request's body, read whole before anybody is asked, within a size and a time.

Like addons/replay.py, whose streams inherit from the one here, this file knows mitmproxy's internals; tests/addons/test_replay.py
pins what it uses.
"""

import time

from mitmproxy import http
from mitmproxy.proxy import events, layer
from mitmproxy.proxy.layers.http import DropStream, SendHttp
from mitmproxy.proxy.layers.http._events import (
    ErrorCode,
    RequestData,
    RequestEndOfMessage,
    RequestHeaders,
    ResponseProtocolError,
)
from mitmproxy.proxy.layers.http._hooks import HttpRequestHook, HttpResponseHeadersHook

from addons.exchange import EXCHANGES, Exchange
from addons.guard import fault_response
from addons.replies import refusal
from addons.tunnels import TunnelStream

type Commands = layer.CommandGenerator[None]

MIB = 1024 * 1024


class Gathering(TunnelStream):
    """A request whose body is gathered; what follows is for who inherits to say."""

    excess = 0  # bytes of the request's body that were dropped

    @property
    def exchange(self) -> Exchange | None:
        """The exchange of this stream's flow; None when admission never saw it."""
        return EXCHANGES.get(self.flow) if hasattr(self, "flow") else None

    def ask(self) -> Commands:
        """The request is here, and nothing answers it yet."""
        raise NotImplementedError

    def respond(self) -> Commands:
        """The flow has a response that is whole: send it."""
        raise NotImplementedError

    def state_wait_for_request_headers(self, event: RequestHeaders) -> Commands:
        """Begin; from here the body has its own time limit."""
        yield from super().state_wait_for_request_headers(event)
        if self.exchange is not None and self.client_state == self.state_consume_request_body:
            self.due = time.monotonic() + self.exchange.limits.body_read_s

    def start_request_stream(self) -> Commands:
        """Gather the body whatever the user's options or another addon say: what was not kept cannot be sent again."""
        self.flow.request.stream = False
        self.client_state = self.state_consume_request_body
        yield from ()

    def check_body_size(self, request: bool) -> layer.CommandGenerator[bool]:  # noqa: ARG002 - the parent's signature
        """Leave bodies to our own caps: mitmproxy's would close the connection without an answer, or stream."""
        yield from ()
        return False

    def state_consume_request_body(self, event: events.Event) -> Commands:
        """Gather the body, dropping what is over the cap or wanted by nobody; then ask who serves."""
        exchange = self.exchange
        if exchange is None:  # admission never saw it, so nobody knows what it holds
            self.flow.response = self.flow.response or fault_response()
            yield from super().state_consume_request_body(event)
        elif isinstance(event, RequestData):
            if (
                self.flow.response is None
                and len(self.request_body_buf) + len(event.data) <= exchange.limits.body_mib * MIB
            ):
                self.request_body_buf += event.data
            else:
                self.excess += len(event.data) + len(self.request_body_buf)
                self.request_body_buf.clear()
        elif isinstance(event, RequestEndOfMessage):
            yield from self.request_complete(exchange)
        else:
            yield from super().state_consume_request_body(event)

    def request_complete(self, exchange: Exchange) -> Commands:
        """The body is in: run the request hook, then answer at once or ask who serves."""
        self.due = None
        self.flow.request.timestamp_end = time.time()
        self.flow.request.data.content = bytes(self.request_body_buf)
        self.request_body_buf.clear()
        self.client_state = self.state_done
        if self.excess and self.flow.response is None:
            self.flow.response = _too_large(exchange)
        yield HttpRequestHook(self.flow)
        if (yield from self.check_killed(True)):
            return
        if self.flow.response is None:
            yield from self.ask()
            return
        self.flow.response.timestamp_start = time.time()
        yield HttpResponseHeadersHook(self.flow)
        if not (yield from self.check_killed(True)):
            yield from self.respond()

    def body_too_slow(self, exchange: Exchange) -> Commands:
        """Answer a client that does not finish its body, and close its connection."""
        self.flow.request.data.content = b""
        self.request_body_buf.clear()
        if self.excess:
            self.flow.response = _too_large(exchange)
        elif self.flow.response is None:
            self.flow.response = _too_slow(exchange)
        self.flow.response.headers["connection"] = "close"
        yield HttpRequestHook(self.flow)
        if (yield from self.check_killed(True)):
            return
        yield from super().send_response()
        yield SendHttp(
            ResponseProtocolError(self.stream_id, "request body too slow", ErrorCode.KILL),
            self.context.client,
        )
        self.client_state = self.server_state = self.state_errored
        self.flow.live = False
        yield DropStream(self.stream_id)


def _too_large(exchange: Exchange) -> http.Response:
    message = f"the request body is over {exchange.limits.body_mib:g} MiB, flowpool's limit: [limits] body_mib"
    return refusal(exchange, "D", 413, message, retry=False)


def _too_slow(exchange: Exchange) -> http.Response:
    message = f"the request body was not sent within {exchange.limits.body_read_s:g} s: [limits] body_read_s"
    return refusal(exchange, "D", 408, message, retry=True)
