"""Heartbeat: who is told that a request waits, what with, and what may still be said afterwards."""

import gzip
import json
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import h2.config
import h2.connection
import h2.events
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mitmproxy import ctx, http
from mitmproxy.connection import Client

from addons.events import Beat
from addons.exchange import EXCHANGES, Course, Ended, Exchange, Pause, Relay, Resume, Send, Step
from addons.heartbeat import BEAT, PATIENT, PREFIX, head, interval, told
from addons.requestlog import ended
from home.tables import Limits
from providers.anthropic import ANTHROPIC
from providers.sse import Frames
from routing.rules import Rules, Waiting
from routing.words import AccountId, Demand, Family
from tests.addons.made import accounts, body, exchange, known, request, signer
from tests.addons.stories import Pool
from tests.addons.transcript import Clock, Transcript, ticking
from tests.upstream import limit, ok, stream_error

EVERY = 10.0
STREAMED = Demand(provider="anthropic", model="m", family=Family("opus"), streams=True)
TURN = ok("one two")
REFUSED = limit("7d")
POST = (
    b"POST /v1/messages HTTP/1.1\r\nHost: 127.0.0.1:3456\r\nAuthorization: Bearer client-secret\r\n"
    b"Content-Length: 4\r\n\r\nbody"
)
STREAM_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"


def chunk(data: bytes) -> bytes:
    """Bytes as one chunk of a body."""
    return b"%x\r\n%b\r\n" % (len(data), data)


def waiting(heartbeat: float = EVERY, demand: Demand | None = STREAMED) -> Exchange:
    """An exchange under that setting."""
    return exchange(rules=Rules(wait=Waiting(heartbeat=heartbeat)), demand=demand)


# Who is told

SPOKEN: dict[str, tuple[Exchange, str, float | None]] = {
    "a stream": (waiting(), "HTTP/1.1", EVERY),
    "over HTTP/2": (waiting(), "HTTP/2.0", EVERY),
    "off": (waiting(0), "HTTP/1.1", None),
    "HTTP/1.0": (waiting(), "HTTP/1.0", None),
    "whole": (waiting(demand=replace(STREAMED, streams=False)), "HTTP/1.1", None),
    "a side call": (waiting(demand=replace(STREAMED, side=True)), "HTTP/1.1", None),
    "unread": (waiting(demand=None), "HTTP/1.1", None),
    "far too often": (waiting(1e-9), "HTTP/1.1", 0.1),
    "an impatient client": (waiting(demand=replace(STREAMED, patience=timedelta(seconds=4))), "HTTP/1.1", 2.0),
}


@pytest.mark.parametrize("case", SPOKEN)
def test_who_is_told(case: str) -> None:
    """Whoever asked for a stream over HTTP/1.1 or later, if the setting is on, and before its patience ends."""
    made, version, wanted = SPOKEN[case]
    asked = request()
    asked.http_version = version

    assert interval(made, asked) == wanted


def test_a_client_that_is_told_is_patient() -> None:
    """With a heartbeat only [wait] max bounds the wait; without one the client's own patience does, too."""
    impatient = request(headers=((b"Host", b"127.0.0.1:3456"), (b"x-stainless-timeout", b"31")))

    def wait(heartbeat: float, content: bytes) -> Step:
        pool = Pool("work", wait=Waiting(max=400, margin_s=30, heartbeat=heartbeat))
        asked = impatient.copy()
        asked.content = content
        turn = pool.asks(asked)
        return turn.sent_on("work").gets(limit("5h", resets_in=300)).exchange.step

    assert wait(0, body()) == wait(EVERY, body(stream=False)) == Relay()
    assert isinstance(wait(EVERY, body()), Pause)


def test_what_waits_on_the_clients_own_credential_is_as_before() -> None:
    """Without accounts every answer is relayed as it came, so no head may go before it."""
    turn = Pool(wait=Waiting(heartbeat=EVERY)).asks()

    assert turn.exchange.heartbeat is None
    assert turn.exchange.demand is not None
    assert turn.exchange.demand.patience < PATIENT


# What is said


@pytest.mark.parametrize(("version", "framing"), [("HTTP/1.1", "chunked"), ("HTTP/2.0", None)])
def test_the_head_is_a_streams(version: str, framing: str | None) -> None:
    """It names our own id for the request, which `flowpool why` takes, and frames the body as the version wants."""
    made, asked = waiting(), request()
    asked.http_version = version
    first = head(made, asked)

    assert (first.status_code, first.http_version) == (200, version)
    assert first.headers["content-type"].startswith("text/event-stream")
    assert first.headers["request-id"] == PREFIX + made.id
    assert (first.headers.get("transfer-encoding"), "content-length" in first.headers) == (framing, False)


def test_a_beat_is_a_comment() -> None:
    """Readers of event streams find nothing in it."""
    assert [(frame.event, frame.data) for frame in Frames().feed(BEAT)] == [("", b"")]


def events_of(data: bytes) -> list[tuple[str, Any]]:
    """Events with their data."""
    return [(frame.event, json.loads(frame.data)) for frame in Frames().feed(b": \n\n" + data) if frame.data]


@given(
    kind=st.text(min_size=1),
    message=st.text(),
    status=st.integers(400, 599),
    indent=st.sampled_from([None, 2]),
)
def test_an_error_is_told_as_it_was_written(kind: str, message: str, status: int, indent: int | None) -> None:
    """Type and message of a refusal reach the client in one event, however the body was laid out."""
    error = {"type": "error", "error": {"type": kind, "message": message}}
    refused = http.Response.make(status, json.dumps(error, indent=indent).encode())

    assert events_of(told(refused, ANTHROPIC)) == [("error", error)]


@pytest.mark.parametrize(
    ("status", "content", "kind", "words"),
    [
        (502, b"<html>", "api_error", "502"),
        (429, b"", "rate_limit_error", "429"),
        (529, b"[]", "overloaded_error", "529"),
        (400, b'{"type":"message"}', "invalid_request_error", "400"),
        (404, b"[" * 100_000, "not_found_error", "404"),
        (400, b'{"type":"error"}', "invalid_request_error", "400"),
        (400, b'{"type":"error","error":"words"}', "invalid_request_error", "400"),
        (200, b'{"type":"message"}', "overloaded_error", "without a stream"),
        (302, b"", "overloaded_error", "302"),
    ],
)
def test_what_is_no_error_of_the_vendors_is_told_by_its_status(
    status: int, content: bytes, kind: str, words: str
) -> None:
    """A web page, nothing, or an answer that cannot be told in a stream: an error that says what came."""
    ((name, tree),) = events_of(told(http.Response.make(status, content), ANTHROPIC))

    assert (name, tree["error"]["type"]) == ("error", kind)
    assert words in tree["error"]["message"]


def test_a_compressed_error_is_told_as_it_was_before() -> None:
    """The event has the vendor's own words, and not the bytes that nobody could read without the head."""
    packed = http.Response.make(400, headers={"content-encoding": "gzip"})
    packed.raw_content = gzip.compress(REFUSED.body)

    assert events_of(told(packed, ANTHROPIC)) == [("error", json.loads(REFUSED.body))]


# When: the layer, driven


class Script:
    """The other addons' part, said in advance."""

    def __init__(self, *steps: Step, heartbeat: float | None = EVERY, course: Course = Course.GATE) -> None:
        self.steps, self.heartbeat, self.course = list(steps), heartbeat, course
        self.say: Callable[[http.HTTPFlow], None] = lambda _flow: None
        self.flow: http.HTTPFlow | None = None

    @property
    def exchange(self) -> Exchange:
        """The newest exchange."""
        assert self.flow is not None
        return EXCHANGES[self.flow]

    def requestheaders(self, flow: http.HTTPFlow) -> None:
        """Open the exchange."""
        self.flow = flow
        known(flow, account=AccountId("work"), heartbeat=self.heartbeat, limits=Limits(headers_s=100))

    def responseheaders(self, flow: http.HTTPFlow) -> None:
        """Choose the course; what was refused is read whole."""
        is_good = flow.response is not None and flow.response.status_code == 200
        EXCHANGES[flow].course = self.course if is_good else Course.WHOLE

    def flowpool_attempt(self, flow: http.HTTPFlow) -> None:
        """Say what comes next."""
        EXCHANGES[flow].step = self.steps.pop(0)
        if isinstance(EXCHANGES[flow].step, Relay):
            self.say(flow)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Time that passes when a test says so, and a mitmproxy without onlookers."""
    made = ticking(monkeypatch)
    monkeypatch.setattr(ctx, "master", SimpleNamespace(addons=SimpleNamespace(get=lambda _name: None)), raising=False)
    monkeypatch.setattr(ctx, "options", SimpleNamespace(save_stream_file=None), raising=False)
    return made


def talk(script: Script, clock: Clock) -> Transcript:
    """A client's connection whose addons follow a script."""
    return Transcript(signer(accounts("work", "home")), script, clock=clock)


def parts(got: bytes) -> tuple[bytes, bytes]:
    """The head and the body of a chunked answer that may not have ended."""
    first, _, rest = got.partition(b"\r\n\r\n")
    found = b""
    while rest:
        size, _, rest = rest.partition(b"\r\n")
        found, rest = found + rest[: int(size, 16)], rest[int(size, 16) + 2 :]
    return first, found


def streamed(data: bytes = TURN.body) -> bytes:
    """A whole stream as the upstream sends it."""
    return STREAM_HEAD + chunk(data) + b"0\r\n\r\n"


def test_a_request_that_waits_is_told_and_then_served(clock: Clock) -> None:
    """Head and comments come in time; then exactly the upstream's bytes, and the connection serves on."""
    script = Script(Pause(35), Send(), Send())
    made = talk(script, clock).client(POST)
    told_at = []
    for _ in range(35):
        before = len(made.got)
        made.passes(1)
        told_at += [clock.now - 1_000] if len(made.got) > before else []
    made.upstream(streamed())
    first, rest = parts(made.got)

    assert told_at == [10, 20, 30]
    assert first.startswith(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream")
    assert rest == BEAT * 3 + TURN.body
    assert made.got.count(b"HTTP/1.1 200") == 1
    assert (script.exchange.beats, script.exchange.is_complete) == (3, True)
    assert made.client(POST).upstream(streamed()).got.count(b"HTTP/1.1 200") == 2


def test_a_wait_that_is_no_longer_than_a_beat_is_silent(clock: Clock) -> None:
    """Whoever is served, or asked again, before the first beat gets the upstream's own head."""
    made = talk(script := Script(Pause(10), Send()), clock).client(POST).passes(10).upstream(streamed())

    assert made.got.startswith(STREAM_HEAD.partition(b"\r\n\r\n")[0])
    assert script.exchange.beats == 0


def test_waits_in_a_row_count_as_one(clock: Clock) -> None:
    """A request that asks again every few seconds is told as often as one that sleeps through."""
    made = talk(Script(*[Pause(4)] * 8, Send()), clock).client(POST).passes(31)

    assert parts(made.got)[1] == BEAT * 3


def test_an_upstream_that_thinks_is_no_wait_of_ours(clock: Clock) -> None:
    """A request that is with an account is told nothing, if it was not told before."""
    made = talk(Script(Pause(5), Send()), clock).client(POST).passes(60)

    assert made.got == b""


def test_who_was_told_is_told_until_something_follows(clock: Clock) -> None:
    """Having its head, the client would take silence for a fault: it hears beats while the account thinks, none afterwards."""
    made = talk(Script(Pause(15), Send()), clock).client(POST).passes(42)
    assert parts(made.got)[1] == BEAT * 4
    made.upstream(STREAM_HEAD + chunk(TURN.body[:-10])).passes(60)

    assert parts(made.got)[1] == BEAT * 4 + TURN.body[: TURN.body.rindex(b"event:")]


def test_a_refusal_after_a_beat_is_an_error_event(clock: Clock) -> None:
    """Type and message of our own answer come as the stream's last event; the log calls it refused."""
    script = Script(Pause(15), Relay(), Send())

    def limited(flow: http.HTTPFlow) -> None:
        flow.response = http.Response.make(429, REFUSED.body)

    script.say = limited
    made = talk(script, clock).client(POST).passes(15)
    first, rest = parts(made.got)

    assert first.startswith(b"HTTP/1.1 200 OK")
    assert made.got.endswith(b"\r\n0\r\n\r\n")
    assert events_of(rest) == [("error", json.loads(REFUSED.body))]
    assert script.flow is not None
    assert script.flow.response is not None
    assert script.flow.response.status_code == 200
    assert b"event: error" in (script.flow.response.content or b"")
    assert ended(script.flow, script.exchange) is Ended.REFUSED
    assert made.client(POST).upstream(streamed()).got.endswith(streamed())


def test_a_relayed_refusal_after_a_beat_is_an_error_event(clock: Clock) -> None:
    """So is the upstream's own."""
    wire = b"HTTP/1.1 400 Bad Request\r\nContent-Length: %d\r\n\r\n%b" % (
        len(REFUSED.body),
        REFUSED.body,
    )
    made = talk(Script(Pause(15), Send(), Relay()), clock).client(POST).passes(15).upstream(wire)

    assert events_of(parts(made.got)[1]) == [("error", json.loads(REFUSED.body))]


def test_what_is_no_stream_is_never_passed_on_after_a_beat(clock: Clock) -> None:
    """Paid JSON that is taken after all: the client, which has the head of a stream, gets an error event and none of its bytes."""
    wire = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 30\r\n\r\n{"
    script = Script(Pause(15), Send(), Resume(), course=Course.UNREAD)
    made = talk(script, clock).client(POST).passes(15).upstream(wire)

    ((name, tree),) = events_of(parts(made.got)[1])
    assert (name, "without a stream" in tree["error"]["message"]) == ("error", True)
    assert made.got.endswith(b"\r\n0\r\n\r\n")
    assert script.exchange.is_told
    assert made.closed == made.opened


def test_a_stream_that_begins_with_an_error_is_replayed(clock: Clock) -> None:
    """Behind the gate nothing has been said, whatever the client was told before."""
    script = Script(Pause(15), Send(), Send())
    made = talk(script, clock).client(POST).passes(15).upstream(STREAM_HEAD + chunk(stream_error().body))
    made.passes(10).upstream(streamed())

    assert parts(made.got)[1] == BEAT * 2 + TURN.body


def test_a_stream_that_breaks_after_a_beat_ends_in_an_error_event(clock: Clock) -> None:
    """Also where the upstream had announced a length, which the client never heard of."""
    wire = STREAM_HEAD.replace(b"Transfer-Encoding: chunked", b"Content-Length: 9999")
    made = (
        talk(Script(Pause(15), Send()), clock)
        .client(POST)
        .passes(15)
        .upstream(wire + TURN.body[: TURN.body.index(b"event: message_delta") + 9])
    )
    made.upstream_ends()

    assert parts(made.got)[1].endswith(b"\n\n")
    assert events_of(parts(made.got)[1])[-1][0] == "error"


@pytest.mark.parametrize(("coding", "is_whole"), [("gzip", True), ("rot13", False), ("br", False)])
def test_a_compressed_stream_is_unpacked_for_who_was_told(coding: str, is_whole: bool, clock: Clock) -> None:
    """The head promised plain events; where they cannot be had, the stream ends in an error event."""
    wire = STREAM_HEAD.replace(b"\r\n\r\n", b"\r\nContent-Encoding: %b\r\n\r\n" % coding.encode())
    script = Script(Pause(15), Send(), Relay())
    made = talk(script, clock).client(POST).passes(15).upstream(wire + chunk(gzip.compress(TURN.body)))
    if is_whole:
        assert parts(made.got)[1] == BEAT + TURN.body
    made.passes(3).upstream(b"0\r\n\r\n")  # the gate has opened

    assert is_whole or [name for name, _ in events_of(parts(made.got)[1])] == ["error"]


@pytest.mark.parametrize("seconds", [5, 15])
def test_a_client_that_leaves_ends_it_at_once(seconds: float, clock: Clock) -> None:
    """Before and after the first beat: nothing is sent any more, to nobody."""
    made = talk(script := Script(Pause(35), Send()), clock).client(POST).passes(seconds).client_leaves()
    got = made.got
    made.passes(100)

    assert (made.got, made.sent, made.opened) == (got, b"", [])
    assert made.hooks[-1] == "error"
    assert not made.layer.streams
    assert script.flow is not None
    assert (script.flow.response and script.flow.response.status_code) == (200 if got else None)


def test_a_beat_that_comes_too_late_is_dropped(clock: Clock) -> None:
    """One that was under way when the request went out tells nothing: its client gets the upstream's head."""
    made = talk(Script(Pause(5), Send()), clock).client(POST).passes(5)
    (stream,) = made.layer.streams.values()
    assert list(made.layer.event_to_child(stream, Beat())) == []

    assert made.upstream(streamed()).got.startswith(STREAM_HEAD.partition(b"\r\n\r\n")[0])


def test_without_the_setting_a_wait_is_silent(clock: Clock) -> None:
    """Off, nothing of all this happens."""
    made = talk(Script(Pause(100), Send(), heartbeat=None), clock).client(POST).passes(100)
    assert made.got == b""

    assert made.upstream(streamed()).got == streamed()


def test_a_client_that_speaks_http_2_is_told_too(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same events in its own frames, with no header that its version forbids."""

    def second(**fields: Any) -> Client:
        made = Client(**fields)
        made.alpn = b"h2"
        return made

    monkeypatch.setattr("tests.addons.transcript.Client", second)
    peer = h2.connection.H2Connection(h2.config.H2Configuration(client_side=True))
    peer.initiate_connection()
    names = {":method": "POST", ":scheme": "http", ":authority": "127.0.0.1:3456", ":path": "/v1/messages"}
    peer.send_headers(1, list(names.items()))
    peer.send_data(1, b"body", end_stream=True)
    made = talk(Script(Pause(15), Send()), clock).client(peer.data_to_send()).passes(15).upstream(streamed())
    seen = peer.receive_data(made.got)

    (first,) = (dict(event.headers) for event in seen if isinstance(event, h2.events.ResponseReceived))
    assert (first[b":status"], first[b"content-type"][:17]) == (b"200", b"text/event-stream")
    assert not {b"transfer-encoding", b"connection"} & set(first)
    assert b"".join(event.data for event in seen if isinstance(event, h2.events.DataReceived)) == BEAT + TURN.body
    assert any(isinstance(event, h2.events.StreamEnded) for event in seen)
