"""Replay: mitmproxy's HTTP layer, taught to send a request again before its client has seen a byte.

This is the file that knows most of mitmproxy's internals; tests/addons/test_replay.py pins every name that it uses. The layers here
are mitmproxy's generators: they take events, yield commands, and never await. What to do next is asked of the addons by one hook,
`flowpool_attempt`, whenever nothing of an answer has reached the client and an attempt has ended, or none has begun; the answer
is the exchange's `step`. See docs/facts/mitmproxy.md for what was measured of mitmproxy and why this way was taken.
"""

import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast
from weakref import WeakKeyDictionary, WeakSet

from mitmproxy import ctx, flow, http
from mitmproxy.connection import Connection, Server
from mitmproxy.net.http.validate import validate_headers
from mitmproxy.proxy import commands, events, layer, server_hooks
from mitmproxy.proxy.layers.http import DropStream, HttpLayer, HttpStream, SendHttp
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
from mitmproxy.proxy.layers.http._hooks import HttpErrorHook, HttpRequestHook, HttpResponseHeadersHook
from mitmproxy.utils import asyncio_utils

from addons.exchange import EXCHANGES, Answered, AttemptEnd, Course, Exchange, Failed, Path, Pause, Relay, Resume, Send
from addons.guard import fault_response
from addons.heartbeat import BEAT, head, told
from addons.http1 import make_tolerant
from addons.replies import SUCCESS, refusal
from addons.sign import Signer
from addons.stream import Passage
from addons.table import TabledAddons
from addons.writes import joined
from providers.contract import ErrorEvent
from routing.transport import Failure

RESTED: WeakKeyDictionary[Connection, float] = WeakKeyDictionary()
"""Since when each server connection has been idle."""

type Commands = layer.CommandGenerator[None]

MIB = 1024 * 1024
SWITCHING = 101
REFUSED_BODY = MIB
"""At most so many bytes of a refused answer are read."""
REFUSED_S = 10.0
"""Seconds: a refused answer's body is read no longer; its head has decided most of what it means."""
FROM_UPSTREAM = (ResponseHeaders, ResponseData, ResponseTrailers, ResponseEndOfMessage, ResponseProtocolError)
CLOSED = "server closed connection"
"""What mitmproxy says of a connection that ended before any byte of an answer."""
TICK = 5.0
"""The clock of a connection wakes at least so often, in seconds, while a stream has a deadline."""


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


class Deaf(layer.Layer):
    """Stands in for a server connection that was given up: what still arrives from it concerns nobody."""

    def _handle_event(self, _: events.Event) -> Commands:
        yield from ()


class ReplayStream(HttpStream):
    """One request and its attempts."""

    signer: Signer
    due: float | None = None  # monotonic; what it means depends on the state
    beat_at: float | None = None  # monotonic; when the client is told next that its request waits
    passage: Passage | None = None
    is_busy = False  # whether the upstream still owes us something of this attempt
    excess = 0  # bytes of the request's body that were dropped
    total_due = 0.0
    idle_since = 0.0
    sent_at = 0.0
    idle_before = 0.0  # how long the connection had been idle when the attempt was written to it

    @property
    def exchange(self) -> Exchange | None:
        """The exchange of this stream's flow; None when admission never saw it."""
        return EXCHANGES.get(self.flow) if hasattr(self, "flow") else None

    @property
    def http_layer(self) -> "ReplayLayer":
        """The layer that owns this stream's connections."""
        parent = self.context.layers[self.context.layers.index(self) - 1]
        assert isinstance(parent, ReplayLayer)
        return parent

    def _handle_event(self, event: events.Event) -> Commands:
        if isinstance(event, Overdue):
            self.due = None
            yield from self.overdue()
        elif isinstance(event, Beat):
            yield from self.beat()
        elif self.is_busy or self.exchange is None or not isinstance(event, FROM_UPSTREAM):
            yield from super()._handle_event(event)

    def passthrough(self, event: events.Event) -> Commands:
        """Let no event of ours into the layer of an upgraded connection."""
        if not isinstance(event, Overdue | Beat):
            yield from super().passthrough(event)

    # The request

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
        if exchange is None:
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
        if exchange.is_pooled and (exchange.account is None or not self.signer.has(exchange.account)):
            gone = "the account was removed or disabled while its connection was made"
            yield from self.end_attempt(exchange, Failed(Failure.UNREACHABLE, gone))
            return
        make_tolerant(self.http_layer.connections[self.context.server])
        self.is_busy = True
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
        server = self.context.server
        self.http_layer.deafen(server)
        yield commands.CloseConnection(server)

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
        if (yield from self.check_invalid(False)):
            return
        if exchange.is_pooled and event.response.status_code == SWITCHING:
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
        if not self.http_layer.keeps_bodies():
            self.flow.request.data.content = None
        if exchange.beats:  # the client has a head already
            self.server_state = self.state_stream_response_body
        else:
            yield from super().start_response_stream()
        if self.passage is not None:
            yield from self.send_chunks(self.passage.whole_frames())
        self.watch_idle(exchange)

    def state_stream_response_body(self, event: events.Event) -> Commands:
        """Pass the stream on in whole events; an end without the terminal event is told to the client."""
        exchange = self.exchange
        if exchange is None or self.passage is None:
            if exchange is not None and isinstance(event, ResponseEndOfMessage):
                exchange.is_complete = True
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
            return Failed(Failure.UNREACHABLE, event.message)
        if self.server_state == self.state_gate:
            return Failed(Failure.EMPTY_STREAM, "the stream broke before it began")
        if event.message == CLOSED and self.idle_before > stale_s > time.monotonic() - self.sent_at:
            return Failed(Failure.STALE, "the idle connection was gone")
        return Failed(Failure.BROKEN, event.message)

    def body_broken(self, exchange: Exchange, why: str) -> Commands:
        """A body broke off: a good answer is lost with it, a refusal is judged by what was read."""
        assert self.flow.response is not None
        if self.flow.response.status_code in SUCCESS:
            yield from self.end_attempt(exchange, Failed(Failure.BROKEN, why))
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
            yield from self.end_attempt(exchange, Failed(Failure.BROKEN, why, timed_out=True))
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


class ReplayLayer(HttpLayer):
    """The streams of one client connection, their server connections, and the one clock that they share.

    One clock, because mitmproxy keeps stream, flow and body alive until a requested wakeup fires.
    """

    signer: Signer
    clock: commands.RequestWakeup | None = None
    clock_at = 0.0

    def _handle_event(self, event: events.Event) -> Commands:
        yield from joined(self.hooked(event))

    def hooked(self, event: events.Event) -> Commands:
        """Take an event, and run the hooks that can be run on the spot; what they let go on follows as it would have."""
        addons = ctx.master.addons
        coming = deque([event])
        while coming:
            for command in self.handled(coming.popleft()):
                if (
                    isinstance(command, commands.StartHook)
                    and command.blocking
                    and isinstance(addons, TabledAddons)
                    and addons.ran(command)
                ):
                    coming.append(events.HookCompleted(command))
                else:
                    yield command

    def handled(self, event: events.Event) -> Commands:
        """Take an event; afterwards see when the clock must wake."""
        if isinstance(event, events.Wakeup) and event.command not in self.command_sources:
            if event.command is self.clock:
                self.clock = None
                yield from self.tick()
        elif isinstance(event, Nudge):
            yield from self.tick()
        else:
            yield from super()._handle_event(event)
            if isinstance(event, events.Start):
                make_tolerant(self.connections[self.context.client])
        yield from self.wind()

    def tick(self) -> Commands:
        """Tell each stream whose deadline has passed."""
        now = time.monotonic()
        for stream in list(self.streams.values()):
            if not isinstance(stream, ReplayStream):
                continue
            if stream.due is not None and stream.due <= now:
                yield from self.too_late(stream)
            if stream.beat_at is not None and stream.beat_at <= now:
                stream.beat_at = None
                yield from self.event_to_child(stream, Beat())  # where it awaits a connection, just after

    def too_late(self, stream: ReplayStream) -> Commands:
        """A stream's deadline passed: tell it, or end what it awaits."""
        if stream._paused is None:  # noqa: SLF001
            yield from self.event_to_child(stream, Overdue())
        else:
            stream.due = None
            yield from self.stop_connecting(stream)

    def stop_connecting(self, stream: ReplayStream) -> Commands:
        """Cancel a connection attempt that takes too long; it then fails like a refused one."""
        paused = stream._paused  # noqa: SLF001
        for connection, waiting in list(self.waiting_for_establishment.items()):
            if paused is not None and paused.command in waiting:
                yield commands.CloseConnection(connection)

    def wind(self) -> Commands:
        """Ask to be woken at the earliest deadline."""
        ours = [stream for stream in self.streams.values() if isinstance(stream, ReplayStream)]
        dues = [at for stream in ours for at in (stream.due, stream.beat_at) if at is not None]
        if not dues:
            return
        now = time.monotonic()
        at = min(*dues, now + TICK)
        if self.clock is None or at < self.clock_at - 0.001:
            self.clock, self.clock_at = commands.RequestWakeup(max(at - now, 0)), at
            yield self.clock

    def make_stream(self, stream_id: int) -> Commands:
        """Give each request a stream of ours."""
        stream = ReplayStream(self.context.fork(), stream_id)
        stream.signer = self.signer
        self.streams[stream_id] = stream
        yield from self.event_to_child(stream, events.Start())

    def deafen(self, connection: Connection) -> None:
        """Let nothing that still comes from a connection reach a stream."""
        self.connections[connection] = Deaf(self.context.fork())

    def forget_failed_servers(self) -> None:
        """Dial again: mitmproxy would repeat a failed connection's error without trying."""
        for connection in list(self.connections):
            failed = isinstance(connection, Server) and connection.error
            if failed and connection not in self.waiting_for_establishment:
                del self.connections[connection]

    def keeps_bodies(self) -> bool:
        """Whether somebody looks at flows, so that request bodies must outlive their sending."""
        return ctx.master.addons.get("view") is not None or bool(getattr(ctx.options, "save_stream_file", None))


PAUSED: WeakSet[ReplayStream] = WeakSet()


def wake_paused() -> None:
    """Let every paused stream ask again, in its own connection's task."""
    server = ctx.master.addons.get("proxyserver") if PAUSED else None
    handlers = {} if server is None else server.connections
    for stream in list(PAUSED):
        handler = handlers.get(stream.context.client.id)
        # Waking one may have woken others already, who are dialling by now.
        if handler is not None and stream in PAUSED:
            stream.due = 0.0
            asyncio_utils.create_task(handler.server_event(Nudge()), name="wake a paused request", keep_ref=True)


def _too_large(exchange: Exchange) -> http.Response:
    message = f"the request body is over {exchange.limits.body_mib:g} MiB, flowpool's limit: [limits] body_mib"
    return refusal(exchange, "D", 413, message, retry=False)


def _too_slow(exchange: Exchange) -> http.Response:
    message = f"the request body was not sent within {exchange.limits.body_read_s:g} s: [limits] body_read_s"
    return refusal(exchange, "D", 408, message, retry=True)


class Replay:
    """Puts the replaying layers in the place of mitmproxy's own."""

    name = "flowpool_replay"

    def __init__(self, signer: Signer) -> None:
        self._signer = signer

    def server_disconnected(self, data: server_hooks.ServerConnectionHookData) -> None:
        """Close a socket that mitmproxy forgot: one that was given up while more of its data was waiting to be handled."""
        handler = ctx.master.addons.get("proxyserver").connections.get(data.client.id)
        transport = handler.transports.pop(data.server, None) if handler is not None else None
        if transport is not None and transport.writer is not None:
            transport.writer.close()

    def next_layer(self, nextlayer: layer.NextLayer) -> None:
        """Let mitmproxy choose the layers, then turn each HTTP layer into ours."""
        ctx.master.addons.get("nextlayer").next_layer(nextlayer)
        for chosen in nextlayer.context.layers:
            if type(chosen) is HttpLayer:
                chosen.__class__ = ReplayLayer
                cast(ReplayLayer, chosen).signer = self._signer
