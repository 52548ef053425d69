"""Replay: mitmproxy's HTTP stream, taught to send a request again before its client has seen a byte.

This is the file that knows most of mitmproxy's internals; tests/addons/test_replay.py pins every name that it and its neighbours use.
Its layers are mitmproxy's generators: they take events, yield commands, and never await. What to do next is asked of the addons by one hook,
`flowpool_attempt`, whenever nothing of an answer has reached the client and an attempt has ended, or none has begun; the answer
is the exchange's `step`. See docs/facts/mitmproxy.md for what was measured of mitmproxy and why this way was taken.
"""

import time
from collections.abc import Iterator
from weakref import WeakKeyDictionary

from mitmproxy import flow, http
from mitmproxy.connection import Connection, Server
from mitmproxy.net.http.validate import validate_headers
from mitmproxy.proxy import events, layer
from mitmproxy.proxy.layers.http import DropStream, HttpLayer, HTTPMode, SendHttp
from mitmproxy.proxy.layers.http._events import (
    ErrorCode,
    RequestData,
    RequestEndOfMessage,
    RequestHeaders,
    RequestProtocolError,
    ResponseData,
    ResponseEndOfMessage,
    ResponseHeaders,
    ResponseProtocolError,
    ResponseTrailers,
)
from mitmproxy.proxy.layers.http._hooks import HttpErrorHook, HttpResponseHeadersHook

from addons import way as ways
from addons.attempts import are_inspected
from addons.events import FROM_UPSTREAM, Beat, Cut, FlowpoolAttemptHook, Overdue
from addons.exchange import Answered, AttemptEnd, Course, Exchange, Failed, Path, Pause, Relay, Resume, Send
from addons.gathering import Gathering
from addons.guard import fault_response
from addons.heartbeat import BEAT, head, told
from addons.http1 import make_tolerant
from addons.pauses import PAUSED
from addons.record import Record
from addons.replies import SUCCESS, stopping
from addons.servers import ServersLayer, has_ours
from addons.sign import Signer, forget_cookies
from addons.sockets import HonestSocket, is_agreed
from addons.stream import Passage
from providers.contract import ErrorEvent
from routing.transport import Failure

RESTED: WeakKeyDictionary[Connection, float] = WeakKeyDictionary()
"""Since when each server connection has been idle."""

type Commands = layer.CommandGenerator[None]

SWITCHING = 101
REFUSED_BODY = 1024 * 1024
"""At most so many bytes of a refused answer are read."""
REFUSED_S = 10.0
"""Seconds: a refused answer's body is read no longer; its head has decided most of what it means."""
STOPPED = "flowpool was stopped"
SLEPT = "the connection was lost while this machine slept"
CLOSED = "server closed connection"
"""What mitmproxy says of a connection that ended before any byte of an answer."""


class ReplayStream(Gathering):
    """One request and its attempts."""

    signer: Signer
    due: float | None = None  # monotonic; what it means depends on the state
    beat_at: float | None = None  # monotonic; when the client is told next that its request waits
    passage: Passage | None = None
    record: Record | None = None  # who keeps what the client gets of a stream
    is_busy = False  # whether the upstream still owes us something of this attempt
    has_slept = False  # whether this machine slept since the attempt was written
    total_due = 0.0
    idle_since = 0.0
    sent_at = 0.0
    idle_before = 0.0  # how long the connection had been idle when the attempt was written to it

    @property
    def http_layer(self) -> ServersLayer:
        """The layer that owns this stream's connections."""
        parent = self.context.layers[self.context.layers.index(self) - 1]
        assert isinstance(parent, ServersLayer)
        return parent

    def _handle_event(self, event: events.Event) -> Commands:
        if isinstance(event, Overdue):
            self.due = None
            yield from self.overdue()
        elif isinstance(event, Beat):
            yield from self.beat()
        elif isinstance(event, Cut):
            yield from self.cut()
        elif self.is_busy or self.exchange is None or not isinstance(event, FROM_UPSTREAM):
            yield from super()._handle_event(event)

    def give_up(self, server: Server) -> Commands:
        """Close a connection on which no tunnel will stand."""
        yield from self.http_layer.let_go(server)

    def inner(self) -> HttpLayer:
        """The layer for what is asked in an opened tunnel: one of ours."""
        made = type(self.http_layer)(self.context, HTTPMode.transparent)
        made.signer, made.via = self.signer, self.http_layer.via
        return made

    def flow_done(self) -> Commands:
        """End; where a WebSocket follows, its layer is ours by the time that it relays."""
        for command in super().flow_done():
            HonestSocket.take_over(self.child_layer)
            yield command

    def passthrough(self, event: events.Event) -> Commands:
        """Let no event of ours into the layer of an upgraded connection."""
        if not isinstance(event, Overdue | Beat) and (not isinstance(event, Cut) or has_ours(self.child_layer)):
            yield from super().passthrough(event)

    # The attempts

    def ask(self) -> Commands:
        """Ask what comes next, and do it."""
        exchange = self.exchange
        assert exchange is not None
        self.due = None
        PAUSED.discard(self)
        yield FlowpoolAttemptHook(self.flow)
        if (yield from self.check_killed(True)):
            return
        if isinstance(exchange.step, Resume):
            yield from self.resume(exchange)
            return
        yield from self.abandon()
        match exchange.step:
            case Send():
                self.forget_queued()
                yield from self.send_attempt(exchange)
            case Pause(seconds):
                self.forget_queued()
                self.server_state = self.state_paused
                self.due = time.monotonic() + seconds
                if self.beat_at is None:
                    self.watch_beat(exchange)
                PAUSED.add(self)
            case Relay():
                yield from self.relay(exchange)

    def send_attempt(self, exchange: Exchange) -> Commands:
        """Connect, and send the request with the payer's credential on a copy of its head."""
        self.flow.response = self.flow.error = None
        self.passage = None
        if not exchange.beats:
            self.beat_at = None
        exchange.end = None
        self.response_body_buf.clear()
        self.server_state = self.state_wait_for_response_headers
        self.http_layer.forget_failed_servers()
        self.due = time.monotonic() + exchange.limits.connect_s
        connected = yield from self.make_server_connection()
        if not connected:
            return
        if (yield from self.check_killed(True)):
            return
        if exchange.is_signed and (exchange.account is None or not self.signer.has(exchange.account)):
            gone = "the account was removed or disabled while its connection was made"
            yield from self.end_attempt(exchange, Failed(Failure.UNREACHABLE, gone))
            return
        make_tolerant(self.http_layer.connections[self.context.server])
        self.is_busy, self.has_slept = True, False
        self.sent_at = time.monotonic()
        self.idle_before = self.sent_at - RESTED.pop(self.context.server, self.sent_at)
        content = self.flow.request.raw_content
        head = self.signer.signed(self.flow.request, exchange)
        yield SendHttp(RequestHeaders(self.stream_id, head, not content), self.context.server)
        if content:
            yield SendHttp(RequestData(self.stream_id, content), self.context.server)
        yield SendHttp(RequestEndOfMessage(self.stream_id), self.context.server)
        self.due = self.sent_at + exchange.limits.headers_s

    def rest(self) -> None:
        """The upstream owes us nothing more; its connection is idle from now on."""
        self.is_busy = False
        RESTED[self.context.server] = time.monotonic()

    def end_attempt(self, exchange: Exchange, end: AttemptEnd) -> Commands:
        """Note how the attempt ended, and ask what comes next."""
        exchange.end = end
        if isinstance(end, Failed):
            self.response_body_buf.clear()
            yield from self.abandon()
        yield from self.ask()

    def abandon(self) -> Commands:
        """Give up the upstream connection of an attempt that has not ended by itself."""
        if not self.is_busy:
            return
        self.is_busy = False
        yield from self.http_layer.let_go(self.context.server)

    def make_server_connection(self) -> layer.CommandGenerator[bool]:
        """Go through the network's proxy where there is one; without TLS only this machine is asked, and never through it."""
        host, port = self.flow.request.host, self.flow.request.port
        via = self.http_layer.via if self.flow.request.scheme == "https" else None
        if self.flow.server_conn.via != via:
            self.flow.server_conn = Server(address=(host, port), via=via)  # it tells the way, and is never opened
        return (yield from super().make_server_connection())

    def forget_queued(self) -> None:
        """Drop what an ended attempt's upstream still said while the hook ran: the next attempt must not take it for its own."""
        kept = [event for event in self._paused_event_queue if not isinstance(event, FROM_UPSTREAM)]
        self._paused_event_queue.clear()
        self._paused_event_queue.extend(kept)

    def state_paused(self, _: events.Event) -> Commands:
        """Between attempts nothing is expected of any upstream."""
        yield from ()

    # The answer

    def state_wait_for_response_headers(self, event: ResponseHeaders) -> Commands:
        """Take the head, and read on along the course that the addons chose."""
        exchange = self.exchange
        if exchange is None:
            yield from super().state_wait_for_response_headers(event)
            return
        self.due = None
        self.flow.response = event.response
        if exchange.is_signed:
            forget_cookies(event.response)
        if (yield from self.check_invalid(False)):
            return
        if event.response.status_code == SWITCHING and not self.may_switch(exchange, event.response):
            self.flow.response = None
            yield from self.end_attempt(exchange, Failed(Failure.BROKEN, "an upgrade that nobody asked for"))
            return
        yield HttpResponseHeadersHook(self.flow)
        if (yield from self.check_killed(True)):
            return
        self.idle_since = time.monotonic()
        is_refusal = exchange.is_pooled and event.response.status_code not in SUCCESS
        self.total_due = self.idle_since + (REFUSED_S if is_refusal else exchange.limits.stream_total_s)
        if exchange.faulty:
            yield from self.abandon()
            yield from self.relay(exchange)
        elif exchange.course is Course.UNREAD:
            yield from self.end_attempt(exchange, Answered(unread=True))
        elif event.end_stream or exchange.course is Course.WHOLE:
            self.server_state = self.state_consume_response_body
            self.watch_idle(exchange)
        else:
            yield from self.read_stream(exchange)

    def may_switch(self, exchange: Exchange, answer: http.Response) -> bool:
        """Whether an upstream may leave HTTP: for a WebSocket that the client asked for, on whoever's behalf but the pool's."""
        return not exchange.is_pooled and self.context.options.websocket and is_agreed(self.flow.request, answer)

    def read_stream(self, exchange: Exchange) -> Commands:
        """Pass an answer on as it comes, held at the gate first where its beginning decides."""
        assert self.flow.response is not None
        assert exchange.provider is not None
        is_message = exchange.path is Path.POOLED
        self.passage = Passage.of(
            self.flow.response, exchange.provider, is_message=is_message, unpacked=exchange.beats > 0
        )
        if exchange.course is Course.GATE and self.passage is not None and self.passage.can_decide:
            self.server_state = self.state_gate
            self.due = time.monotonic() + exchange.limits.gate_ms / 1000
        elif self.passage is None and exchange.beats:  # the client has the head of a stream, and these are no events
            yield from self.abandon()
            yield from self.relay(exchange)
        else:
            yield from self.release(exchange)

    def state_gate(self, event: events.Event) -> Commands:
        """Hold the head and the first events back until one of them decides."""
        exchange = self.exchange
        assert exchange is not None
        assert self.passage is not None
        if isinstance(event, ResponseData):
            decided = self.passage.take(event.data)
            if isinstance(decided, ErrorEvent):
                yield from self.end_attempt(exchange, decided)
            elif decided or self.passage.held > exchange.limits.gate_kb * 1024:
                yield from self.release(exchange)
        elif isinstance(event, ResponseEndOfMessage):
            self.rest()
            yield from self.end_attempt(exchange, Failed(Failure.EMPTY_STREAM, "the stream ended before it began"))

    def release(self, exchange: Exchange) -> Commands:
        """Hand the client its first byte: from here nothing is replayed."""
        assert self.flow.response is not None
        self.flow.response.stream = True
        self.beat_at = None
        exchange.first_byte = exchange.first_byte or time.monotonic()
        if not are_inspected():
            self.flow.request.data.content = None
        if exchange.beats:  # the client has a head already
            self.server_state = self.state_stream_response_body
        else:
            yield from super().start_response_stream()
        self.record = exchange.record
        if self.passage is not None:
            yield from self.send_chunks(self.passage.whole_frames())
        self.watch_idle(exchange)

    def state_stream_response_body(self, event: events.Event) -> Commands:
        """Pass the stream on in whole events; an end without the terminal event is told to the client."""
        exchange = self.exchange
        if exchange is None or self.passage is None:
            if exchange is not None and isinstance(event, ResponseEndOfMessage):
                exchange.is_complete = True
            elif self.record is not None and isinstance(event, ResponseData):
                self.record.take(event.data)
            yield from super().state_stream_response_body(event)
        elif isinstance(event, ResponseData):
            self.idle_since = time.monotonic()
            self.passage.take(event.data)
            yield from self.send_chunks(self.passage.whole_frames())
        elif isinstance(event, ResponseEndOfMessage):
            self.rest()
            yield from self.finish_stream(exchange, "the upstream ended the stream early", broken=False)
        else:
            yield from super().state_stream_response_body(event)

    def finish_stream(self, exchange: Exchange, why: str, *, broken: bool) -> Commands:
        """End a released stream: as the upstream did when it is complete, else with an error event."""
        assert self.passage is not None
        self.due = None
        yield from self.abandon()
        yield from self.send_chunks(self.passage.last_words(why, broken=broken, may_append=self.can_append()))
        exchange.usage = self.passage.usage
        exchange.is_complete = self.passage.is_complete
        yield from super().send_response(already_streamed=True)

    def send_chunks(self, chunks: Iterator[bytes]) -> Commands:
        """Send what is not empty: an empty chunk would end a chunked body."""
        for chunk in chunks:
            if chunk:
                if self.record is not None:
                    self.record.take(chunk)
                yield SendHttp(ResponseData(self.stream_id, chunk), self.context.client)

    def state_consume_response_body(self, event: events.Event) -> Commands:
        """Gather a body that is judged whole; of a refused one no more than is worth reading."""
        exchange = self.exchange
        if exchange is None:
            yield from super().state_consume_response_body(event)
            return
        assert self.flow.response is not None
        if isinstance(event, ResponseData):
            self.idle_since = time.monotonic()
            self.response_body_buf += event.data
            if self.flow.response.status_code not in SUCCESS and len(self.response_body_buf) > REFUSED_BODY:
                yield from self.body_read(exchange, broken=True)
        elif isinstance(event, ResponseTrailers):
            self.flow.response.trailers = event.trailers
        elif isinstance(event, ResponseEndOfMessage):
            self.rest()
            yield from self.body_read(exchange, broken=False)

    def body_read(self, exchange: Exchange, *, broken: bool) -> Commands:
        """The body is here, or as much of it as there will be."""
        assert self.flow.response is not None
        self.due = None
        self.flow.response.data.content = bytes(self.response_body_buf)
        self.response_body_buf.clear()
        yield from self.abandon()
        yield from self.end_attempt(exchange, Answered(broken=broken))

    def relay(self, exchange: Exchange) -> Commands:
        """Give the client the flow's response, which is whole."""
        if self.flow.response is None:
            self.flow.response = fault_response()
        exchange.first_byte = exchange.first_byte or time.monotonic()
        yield from self.respond()

    def respond(self) -> Commands:
        """Send a whole response; of one to HEAD, the head alone, and as a stream's last event where the client has its head."""
        assert self.flow.response is not None
        self.beat_at = None
        exchange = self.exchange
        if exchange is not None and exchange.beats:
            yield from self.tell(exchange)
            return
        if self.flow.request.method == "HEAD":
            self.flow.response.data.content = b""
        yield from super().send_response()

    def resume(self, exchange: Exchange) -> Commands:
        """Take the answer that was judged by its beginning after all."""
        if self.passage is not None:
            yield from self.release(exchange)
        else:
            exchange.course = Course.STREAM
            yield from self.read_stream(exchange)

    # The heartbeat

    def watch_beat(self, exchange: Exchange) -> None:
        """Set when the client is told next that its request waits, if it is one that is told."""
        self.beat_at = None if exchange.heartbeat is None else time.monotonic() + exchange.heartbeat

    def beat(self) -> Commands:
        """Tell the client that its request waits; the first time it gets the head of a stream."""
        exchange = self.exchange
        if exchange is None or self.client_state != self.state_done or not self.is_waiting(exchange):
            return
        if not exchange.beats:
            early = head(exchange, self.flow.request)
            yield SendHttp(ResponseHeaders(self.stream_id, early, end_stream=False), self.context.client)
        exchange.beats += 1
        yield SendHttp(ResponseData(self.stream_id, BEAT), self.context.client)
        self.watch_beat(exchange)

    def is_waiting(self, exchange: Exchange) -> bool:
        """Whether nothing has followed yet: in a pause, and in an attempt too for a client that has its head."""
        if self.server_state == self.state_paused:
            return True
        attempts = (self.state_wait_for_response_headers, self.state_gate, self.state_consume_response_body)
        return exchange.beats > 0 and self.server_state in attempts

    def tell(self, exchange: Exchange) -> Commands:
        """Tell a whole answer as the last event of the stream that the client was given; the flow shows what the client got."""
        assert self.flow.response is not None
        assert exchange.provider is not None
        exchange.is_told, exchange.is_complete = True, False
        last = told(self.flow.response, exchange.provider)
        self.flow.response = head(exchange, self.flow.request)
        self.flow.response.data.content = last
        self.flow.response.timestamp_start = time.time()
        yield SendHttp(ResponseData(self.stream_id, last), self.context.client)
        yield from super().send_response(already_streamed=True)

    # What goes wrong

    def handle_protocol_error(self, event: RequestProtocolError | ResponseProtocolError) -> Commands:
        """Make a broken upstream an ended attempt; leave a client that is gone to mitmproxy."""
        exchange = self.exchange
        if exchange is None or self.client_state == self.state_errored:
            yield from super().handle_protocol_error(event)
        elif isinstance(event, RequestProtocolError):
            yield from self.client_left(event)
        elif self.server_state in (self.state_wait_for_response_headers, self.state_gate):
            self.is_busy = False
            yield from self.end_attempt(exchange, self.failure(event, exchange.rules.retry.stale_s))
        elif self.server_state == self.state_consume_response_body:
            self.is_busy = False
            yield from self.body_broken(exchange, event.message)
        elif self.server_state == self.state_stream_response_body and self.passage is not None and self.can_append():
            self.is_busy = False
            yield from self.finish_stream(exchange, "the upstream broke off", broken=True)
        else:
            yield from super().handle_protocol_error(event)

    def failure(self, event: ResponseProtocolError, stale_s: float) -> Failed:
        """Which failure a broken connection is."""
        if event.code is ErrorCode.CONNECT_FAILED:
            why = ways.told(event.message, self.flow.server_conn.via, self.http_layer.connections)
            return Failed(Failure.UNREACHABLE, why)
        if self.has_slept:
            return self.broken(event.message)
        if self.server_state == self.state_gate:
            return Failed(Failure.EMPTY_STREAM, "the stream broke before it began")
        if event.message == CLOSED and self.idle_before > stale_s > time.monotonic() - self.sent_at:
            return Failed(Failure.STALE, "the idle connection was gone")
        return self.broken(event.message)

    def broken(self, why: str, *, timed_out: bool = False) -> Failed:
        """What became of a request that was sent; one that this machine slept through is worth another try, and is nobody's fault."""
        if self.has_slept:
            return Failed(Failure.STALE, f"{SLEPT}: {why}")
        return Failed(Failure.BROKEN, why, timed_out=timed_out)

    def body_broken(self, exchange: Exchange, why: str) -> Commands:
        """A body broke off: a good answer is lost with it, a refusal is judged by what was read."""
        assert self.flow.response is not None
        if self.flow.response.status_code in SUCCESS:
            yield from self.end_attempt(exchange, self.broken(why))
        else:
            yield from self.body_read(exchange, broken=True)

    def client_left(self, event: RequestProtocolError) -> Commands:
        """Stop; nothing more goes upstream."""
        self.due = self.beat_at = None
        PAUSED.discard(self)
        exchange = self.exchange
        if self.server_state != self.state_paused or exchange is None:
            yield from super().handle_protocol_error(event)
            return
        self.flow.error = flow.Error(event.message)
        # what it got: the refusal before the pause never reached it
        self.flow.response = head(exchange, self.flow.request) if exchange.beats else None
        yield HttpErrorHook(self.flow)
        self.client_state = self.server_state = self.state_errored
        self.flow.live = False
        yield DropStream(self.stream_id)

    def check_invalid(self, request: bool) -> layer.CommandGenerator[bool]:
        """A head that mitmproxy refuses is garbage from the upstream, and ends the attempt like any other."""
        exchange = self.exchange
        if request or exchange is None or not self.context.options.validate_inbound_headers:
            return (yield from super().check_invalid(request))
        assert self.flow.response is not None
        try:
            validate_headers(self.flow.response)
        except ValueError as e:
            self.flow.response = None
            yield from self.end_attempt(exchange, Failed(Failure.BROKEN, f"an answer that cannot be trusted: {e}"))
            return True
        return False

    def can_append(self) -> bool:
        """Whether something may follow what the client has got: not when the length was announced."""
        assert self.flow.response is not None
        exchange = self.exchange
        return "content-length" not in self.flow.response.headers or (exchange is not None and exchange.beats > 0)

    def cut(self) -> Commands:
        """Tell the client that no more comes, so that it tries again; nothing can be told in the middle of its own request."""
        exchange = self.exchange
        if self.child_layer is not None:
            yield from self.passthrough(Cut())
        elif exchange is None or self.client_state != self.state_done:
            return
        elif self.server_state == self.state_stream_response_body:
            if self.passage is not None and self.can_append():
                yield from self.finish_stream(exchange, STOPPED, broken=True)
        elif self.server_state not in (self.state_errored, self.state_done):
            PAUSED.discard(self)
            yield from self.abandon()
            self.flow.response = stopping(exchange)
            yield from self.relay(exchange)

    # Time

    def watch_idle(self, exchange: Exchange) -> None:
        """Set the deadline of an answer that is coming: silence, or its whole duration."""
        self.due = min(self.idle_since + exchange.limits.stream_idle_s, self.total_due)

    def overdue(self) -> Commands:
        """A deadline passed; what that means depends on what was awaited."""
        exchange = self.exchange
        if exchange is None:
            return
        if self.client_state == self.state_consume_request_body:
            yield from self.body_too_slow(exchange)
        elif self.server_state == self.state_paused:
            yield from self.ask()
        elif self.server_state == self.state_wait_for_response_headers:
            why = f"no answer within {exchange.limits.headers_s:g} s"
            yield from self.end_attempt(exchange, self.broken(why, timed_out=True))
        elif self.server_state == self.state_gate:
            yield from self.release(exchange)
        elif self.server_state in (self.state_stream_response_body, self.state_consume_response_body):
            yield from self.too_quiet(exchange)

    def too_quiet(self, exchange: Exchange) -> Commands:
        """End an answer that has been silent or has gone on for too long; wait on when it has not."""
        self.watch_idle(exchange)
        if self.due is not None and self.due > time.monotonic():
            return
        self.due = None
        if self.server_state == self.state_consume_response_body:
            yield from self.abandon()
            yield from self.body_broken(exchange, "the answer stalled")
        elif self.passage is not None and self.can_append():
            yield from self.finish_stream(exchange, "the upstream fell silent", broken=True)
        else:
            error = ResponseProtocolError(self.stream_id, "the upstream fell silent", ErrorCode.KILL)
            yield from self.abandon()
            yield from super().handle_protocol_error(error)
