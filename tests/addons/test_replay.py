"""Replay: first what it and its neighbours use of mitmproxy, name by name; then a request's attempts, driven without sockets.

Longer than 250 lines: the pinned names and the stream's behaviour are one module's tests (tests/test_tree.py).
"""

import collections
import dataclasses
import inspect
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import h11
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mitmproxy import connection, ctx, flow, http
from mitmproxy.net.http import validate
from mitmproxy.net.server_spec import ServerSpec
from mitmproxy.proxy import commands, context, events, layer, server
from mitmproxy.proxy.layers import http as layers
from mitmproxy.proxy.layers.http import _events, _hooks

from addons import replay
from addons.exchange import EXCHANGES, Answered, Course, Failed, Path, Pause, Relay, Resume, Send
from addons.gathering import Gathering
from addons.replay import SLEPT, ReplayStream
from addons.replaylayer import ReplayLayer
from providers.contract import ErrorEvent
from routing.transport import Failure
from tests.addons.made import CLIENT_TOKEN, signer, token
from tests.addons.scripted import (
    BODY,
    GET,
    GOOD,
    HEAD,
    HOME,
    POST,
    REFUSED,
    STREAM_HEAD,
    TURN,
    WORK,
    Script,
    chunk,
    plain_layer,
    talk,
    unchunked,
    wire,
    woken,
)
from tests.addons.stories import Pool
from tests.addons.transcript import UPSTREAM, Clock, Transcript, is_alive, ticking
from tests.upstream import (
    PING,
    bad_request,
    bad_token,
    error_event,
    limit,
    ok,
    ok_json,
    overage,
    overloaded,
    stream_error,
    throttle,
)
from tests.upstream.answer import Answer

# What is used of mitmproxy

METHODS: list[tuple[type, str, list[str]]] = [
    (layers.HttpStream, "__init__", ["context", "stream_id"]),
    (layers.HttpStream, "_handle_event", ["event"]),
    (layers.HttpStream, "passthrough", ["event"]),
    (layers.HttpStream, "state_wait_for_request_headers", ["event"]),
    (layers.HttpStream, "state_consume_request_body", ["event"]),
    (layers.HttpStream, "start_request_stream", []),
    (layers.HttpStream, "check_body_size", ["request"]),
    (layers.HttpStream, "state_wait_for_response_headers", ["event"]),
    (layers.HttpStream, "state_stream_response_body", ["event"]),
    (layers.HttpStream, "state_consume_response_body", ["event"]),
    (layers.HttpStream, "state_done", ["_"]),
    (layers.HttpStream, "state_errored", ["_"]),
    (layers.HttpStream, "handle_protocol_error", ["event"]),
    (layers.HttpStream, "check_invalid", ["request"]),
    (layers.HttpStream, "check_killed", ["emit_error_hook"]),
    (layers.HttpStream, "make_server_connection", []),
    (layers.HttpStream, "start_response_stream", []),
    (layers.HttpStream, "send_response", ["already_streamed"]),
    (layers.HttpLayer, "_handle_event", ["event"]),
    (layers.HttpLayer, "event_to_child", ["child", "event"]),
    (layers.HttpLayer, "make_stream", ["stream_id"]),
    (layer.Layer, "handle_event", ["event"]),
    (layer.Layer, "_handle_event", ["event"]),
    (context.Context, "fork", []),
    (layers.SendHttp, "__init__", ["event", "connection"]),
    (layers.DropStream, "__init__", ["stream_id"]),
    (_events.RequestHeaders, "__init__", ["stream_id", "request", "end_stream", "replay_flow"]),
    (_events.RequestData, "__init__", ["stream_id", "data"]),
    (_events.RequestEndOfMessage, "__init__", ["stream_id"]),
    (_events.RequestProtocolError, "__init__", ["stream_id", "message", "code"]),
    (_events.ResponseHeaders, "__init__", ["stream_id", "response", "end_stream"]),
    (_events.ResponseData, "__init__", ["stream_id", "data"]),
    (_events.ResponseTrailers, "__init__", ["stream_id", "trailers"]),
    (_events.ResponseEndOfMessage, "__init__", ["stream_id"]),
    (_events.ResponseProtocolError, "__init__", ["stream_id", "message", "code"]),
    (_hooks.HttpRequestHook, "__init__", ["flow"]),
    (_hooks.HttpResponseHeadersHook, "__init__", ["flow"]),
    (_hooks.HttpErrorHook, "__init__", ["flow"]),
    (commands.RequestWakeup, "__init__", ["delay"]),
    (commands.CloseConnection, "__init__", ["connection"]),
    (flow.Error, "__init__", ["msg", "timestamp"]),
]


@pytest.mark.parametrize(("owner", "name", "wanted"), METHODS)
def test_a_method_that_replay_uses_is_as_it_was(owner: type, name: str, wanted: list[str]) -> None:
    """Every method that is overridden, extended or called still takes what replay gives it."""
    method = getattr(owner, name, None)
    assert method is not None, f"mitmproxy moved {owner.__name__}.{name}, which the replaying layers use"
    takes = list(inspect.signature(method).parameters)[1:]
    assert takes == wanted, (
        f"mitmproxy changed {owner.__name__}.{name}: it takes {takes}, the replaying layers give {wanted}"
    )


@pytest.mark.parametrize("owner", [Gathering, ReplayStream, ReplayLayer])
def test_what_replay_overrides_takes_what_mitmproxy_gives(owner: type) -> None:
    """An overriding method takes the parameters of the one below it."""
    parent = owner.__base__
    assert parent is not None
    for name, method in vars(owner).items():
        if inspect.isfunction(method) and hasattr(parent, name):
            ours, theirs = (len(inspect.signature(f).parameters) for f in (method, getattr(parent, name)))
            assert ours == theirs, f"{owner.__module__} overrides {parent.__name__}.{name} with other parameters"


ATTRIBUTES: list[tuple[str, type]] = [
    ("command_sources", dict),
    ("streams", dict),
    ("connections", dict),
    ("waiting_for_establishment", collections.defaultdict),
    ("_paused_event_queue", collections.deque),
]
STREAM_ATTRIBUTES = [
    "stream_id", "context", "request_body_buf", "response_body_buf", "client_state", "server_state", "_paused",
    "_paused_event_queue", "child_layer",
]  # fmt: skip


@pytest.mark.parametrize(("name", "kind"), ATTRIBUTES)
def test_an_attribute_of_the_layer_is_as_it_was(name: str, kind: type) -> None:
    """The tables that replay reads and mends are where they were, and of their kind."""
    held = getattr(plain_layer(), name, None)
    assert type(held) is kind, (
        f"mitmproxy moved HttpLayer.{name}, which the replaying layers use: now {type(held).__name__}"
    )


@pytest.mark.parametrize("name", STREAM_ATTRIBUTES)
def test_an_attribute_of_the_stream_is_as_it_was(name: str) -> None:
    """What replay reads and sets on a stream is where it was."""
    stream = layers.HttpStream(plain_layer().context, 1)
    assert hasattr(stream, name), f"mitmproxy moved HttpStream.{name}, which the replaying layers use"


@pytest.mark.parametrize("member", ["CONNECT_FAILED", "KILL"])
def test_an_error_code_is_as_it_was(member: str) -> None:
    """The error codes that replay reads or sends are there."""
    assert member in _events.ErrorCode.__members__, f"mitmproxy moved ErrorCode.{member}"


FIELDS: list[tuple[type, list[str]]] = [
    (layer.Paused, ["command", "generator"]),
    (_events.RequestData, ["stream_id", "data"]),
    (_events.ResponseHeaders, ["stream_id", "response", "end_stream"]),
    (_events.ResponseTrailers, ["stream_id", "trailers"]),
    (_events.ResponseProtocolError, ["stream_id", "message", "code"]),
    (events.Wakeup, ["command", "reply"]),
]


@pytest.mark.parametrize(("owner", "wanted"), FIELDS)
def test_the_fields_of_a_value_are_as_they_were(owner: Any, wanted: list[str]) -> None:
    """The fields that replay reads are there under their names."""
    has = getattr(owner, "_fields", None) or [field.name for field in dataclasses.fields(owner)]
    assert set(wanted) - {"reply"} <= set(has), f"mitmproxy changed the fields of {owner.__name__}: {list(has)}"


@pytest.mark.parametrize("name", ["validate_inbound_headers", "connection_strategy", "keep_host_header", "http2"])
def test_an_option_is_as_it_was(name: str) -> None:
    """The options that replay reads, or that our start relies on, have their names."""
    opts = Transcript(signer({}), clock=Clock()).layer.context.options
    assert name in opts, f"mitmproxy moved the option {name}"


def test_other_names_are_where_they_were() -> None:
    """The hook's base, the header check and the state of a failed server are as replay takes them."""
    assert list(inspect.signature(validate.validate_headers).parameters) == ["message"]
    assert connection.Server(address=None).error is None
    assert commands.StartHook.blocking is True, "mitmproxy's hooks no longer pause their layer"
    assert "killed" in flow.Error.KILLED_MESSAGE.lower()
    assert "layer" in server.ConnectionHandler.__annotations__, "mitmproxy moved a connection's layers"


# The layer, driven


def left_behind(got: bytes) -> bytes:
    """What a strict client finds behind one whole answer to its POST."""
    client = h11.Connection(h11.CLIENT)
    client.send(h11.Request(method="POST", target="/", headers=[("host", "x"), ("content-length", "0")]))
    client.send(h11.EndOfMessage())
    client.receive_data(got)
    while not isinstance(event := client.next_event(), h11.EndOfMessage):
        assert event is not h11.NEED_DATA, "the answer is not whole"
    return client.trailing_data[0]


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Time that passes when a test says so, and a mitmproxy without onlookers."""
    made = ticking(monkeypatch)
    monkeypatch.setattr("addons.route.time", made)
    monkeypatch.setattr(ctx, "master", SimpleNamespace(addons=SimpleNamespace(get=lambda _name: None)), raising=False)
    monkeypatch.setattr(ctx, "options", SimpleNamespace(save_stream_file=None), raising=False)
    return made


def current_clock() -> Clock:
    """The clock of the test that runs."""
    made = vars(replay)["time"]
    assert isinstance(made, Clock)
    return made


def test_a_request_is_signed_on_its_way(clock: Clock) -> None:
    """The upstream gets the account's credential and the body; the flow and the client's secret stay apart."""
    script = Script(Send(), Relay())
    sent = talk(script, clock).client(POST).take()

    assert f"authorization: Bearer {token('work')}\r\n".encode() in sent
    assert b"client-secret" not in sent
    assert sent.endswith(b"\r\n\r\nbody")
    assert script.flow is not None
    assert token("work") not in str(script.flow.get_state())


def test_a_refused_answer_is_never_seen(clock: Clock) -> None:
    """Refused, the same bytes go out again on another account, and the client gets the second answer alone."""
    script = Script(Send(), Send(), Relay())
    script.say = lambda _flow, exchange: setattr(exchange, "account", HOME if len(script.ends) > 1 else WORK)
    made = talk(script, clock).client(POST)
    first = made.take()
    made.upstream(REFUSED)

    assert made.take() == first.replace(token("work").encode(), token("home").encode())
    assert made.got == b""
    assert made.upstream(GOOD).got == GOOD
    assert script.ends == [None, Answered(), Answered()]
    assert is_alive(made.layer)


def test_the_connection_serves_the_next_request(clock: Clock) -> None:
    """After a replayed turn both connections are used again."""
    made = talk(Script(Send(), Send(), Relay(), Send(), Relay()), clock)
    made.client(POST).upstream(REFUSED).upstream(GOOD).client(GET).upstream(GOOD)

    assert made.got == GOOD + GOOD
    assert (len(made.opened), made.closed, made.layer.streams) == (1, [], {})


@given(st.lists(st.integers(0, len(BODY)), max_size=8).map(sorted))
def test_a_stream_passes_in_whole_frames_however_it_is_cut(at: list[int]) -> None:
    """The client's bytes are the upstream's; nothing goes out before the first deciding event."""
    script = Script(Send(), course=Course.GATE)
    made = talk(script, current_clock()).client(POST).upstream(STREAM_HEAD)
    seen = 0
    for start, end in zip([0, *at], [*at, len(BODY)], strict=True):
        seen = end
        if end > start:
            made.upstream(chunk(BODY[start:end]))
        if b"content_block_start" not in BODY[:seen]:
            assert made.got == b""
    made.upstream(b"0\r\n\r\n")

    assert unchunked(made.got) == BODY
    assert script.exchange.is_complete
    assert script.exchange.usage is not None
    assert made.hooks[-1] == "response"


def test_an_error_behind_the_gate_is_replayed(clock: Clock) -> None:
    """A stream that begins with an error is given up, its connection with it; its late bytes reach nobody."""
    made = talk(script := Script(Send(), Send(), course=Course.GATE), clock).client(POST)
    made.upstream(STREAM_HEAD + chunk(PING) + chunk(error_event()) + chunk(BODY))

    assert isinstance(script.ends[1], ErrorEvent)
    assert (made.got, len(made.opened), made.closed) == (b"", 2, [made.opened[0]])
    made.upstream_ends(0).upstream(STREAM_HEAD + chunk(BODY) + b"0\r\n\r\n")
    assert unchunked(made.got) == BODY


def test_a_stream_is_taken_after_all(clock: Clock) -> None:
    """Resume goes on with the answer that was judged by its beginning."""
    made = talk(Script(Send(), Resume(), course=Course.GATE), clock).client(POST)
    made.upstream(STREAM_HEAD + chunk(error_event())).upstream(b"0\r\n\r\n")

    assert unchunked(made.got) == error_event()


def test_an_unread_answer_is_taken_after_all(clock: Clock) -> None:
    """Resume goes on with an answer of which only the head was looked at, all bytes in order."""
    made = talk(script := Script(Send(), Resume(), course=Course.UNREAD), clock).client(POST)
    made.upstream(STREAM_HEAD + chunk(BODY)).upstream(b"0\r\n\r\n")

    assert script.ends[1] == Answered(unread=True)
    assert unchunked(made.got) == BODY


def test_what_an_ended_attempt_still_says_is_not_the_next_ones(clock: Clock) -> None:
    """Bytes that arrive while the hook decides belong to the old attempt; the next answer is read clean."""
    made = talk(Script(Send(), Send(), Relay(), course=Course.UNREAD), clock)
    made.client(POST)
    made.holds = "flowpool_attempt"
    made.upstream(STREAM_HEAD).upstream(chunk(BODY)).upstream_ends()
    made.addons[0].course = Course.WHOLE  # type: ignore[attr-defined]

    assert made.answer().upstream(GOOD).got == GOOD


@pytest.mark.parametrize("ends", [b"", chunk(PING + b"event: content_block_d"), chunk(PING)[:-9]])
def test_a_cut_stream_ends_in_an_error_event(clock: Clock, ends: bytes) -> None:
    """Row 6: whole frames, one error event, a clean end; the client's connection stays usable."""
    made = talk(script := Script(Send(), course=Course.GATE), clock).client(POST)
    begun = b"".join(part for part in TURN.parts[:4] if isinstance(part, bytes))
    made.upstream(STREAM_HEAD + chunk(begun) + ends).upstream_ends()

    body = unchunked(made.got)
    assert body.startswith(begun)
    assert body.count(b"event: error") == 1
    assert body.endswith(b"\n\n")
    assert not script.exchange.is_complete
    assert made.peer not in made.closed


def measured(body: bytes, length: int) -> bytes:
    """A stream whose length was announced."""
    return STREAM_HEAD.replace(b"Transfer-Encoding: chunked", b"Content-Length: %d" % length) + body


@pytest.mark.parametrize("end", [b"", b"event: content_block_de"])
def test_nothing_follows_where_the_length_was_announced(clock: Clock, end: bytes) -> None:
    """A stream of announced length that lacks its end gets no event behind it: no byte too many, none waited for."""
    begun = b"".join(part for part in TURN.parts[:4] if isinstance(part, bytes))
    made = (
        talk(Script(Send(), course=Course.GATE), clock).client(POST).upstream(measured(begun + end, len(begun + end)))
    )

    got = made.got.partition(b"\r\n\r\n")[2]
    assert begun + end == got or (begun + end).startswith(got)
    assert got == begun + end or made.peer in made.closed


def test_a_stream_of_announced_length_passes(clock: Clock) -> None:
    """A whole stream need not be chunked."""
    made = talk(script := Script(Send(), course=Course.GATE), clock).client(POST).upstream(measured(BODY, len(BODY)))

    assert made.got == measured(BODY, len(BODY))
    assert script.exchange.is_complete


@pytest.mark.parametrize("before", [0, 9])
def test_a_stream_of_announced_length_that_breaks_is_cut(clock: Clock, before: int) -> None:
    """Nothing can be put behind it, so the client's connection ends."""
    begun = b"".join(part for part in TURN.parts[:4] if isinstance(part, bytes))
    made = talk(Script(Send(), course=Course.GATE), clock).client(POST)
    made.upstream(measured(begun[: len(begun) - before], len(BODY))).upstream_ends()

    assert b"event: error" not in made.got
    assert made.peer in made.closed


def test_a_refusal_without_a_length_is_replayed(clock: Clock) -> None:
    """A refusal that ends with its connection is whole; the next attempt has one of its own."""
    made = talk(script := Script(Send(), Send(), Relay()), clock).client(POST)
    made.upstream(b"HTTP/1.1 429 Too Many Requests\r\nConnection: close\r\n\r\nno").upstream_ends()

    assert script.ends[1] == Answered()
    assert made.upstream(GOOD).got == GOOD


def test_an_empty_stream_of_announced_length_was_no_answer(clock: Clock) -> None:
    """Row 4: a stream that is announced to be empty is not a success."""
    one = Pool("work")
    made = played(one, clock).client(POST).upstream(measured(b"", 0))

    assert made.got.startswith((b"HTTP/1.1 529", b"HTTP/1.1 502"))


def test_an_empty_stream_is_a_failed_attempt(clock: Clock) -> None:
    """Row 4: a stream that ends behind the gate was no answer."""
    made = talk(script := Script(Send(), Relay(), course=Course.GATE), clock).client(POST)
    made.upstream(STREAM_HEAD + chunk(PING) + b"0\r\n\r\n")

    assert script.ends[1].failure is Failure.EMPTY_STREAM


GARBAGE = [
    b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
    b"SSH-2.0-OpenSSH_9.9\r\n\r\n",
]


@pytest.mark.parametrize("head", GARBAGE)
def test_garbage_is_a_failed_attempt(clock: Clock, head: bytes) -> None:
    """Row 3: a head that cannot be trusted ends the attempt; another one may follow, on a connection of its own."""
    made = talk(script := Script(Send(), Send(), Relay()), clock).client(POST).upstream(head)

    assert isinstance(script.ends[1], Failed)
    assert script.ends[1].failure is Failure.BROKEN
    assert made.upstream(GOOD).got == GOOD
    assert len(made.opened) == 2


def test_a_reset_before_the_head_is_a_failed_attempt(clock: Clock) -> None:
    """Row 3: the connection ended after dispatch."""
    made = talk(script := Script(Send(), Send(), Relay()), clock).client(POST).upstream_ends()

    assert script.ends[1].failure is Failure.BROKEN
    assert made.upstream(GOOD).got == GOOD


@pytest.mark.parametrize(("head", "end"), [(REFUSED, Answered(broken=True)), (GOOD, Failure.BROKEN)])
def test_a_body_that_breaks_off(clock: Clock, head: bytes, end: object) -> None:
    """Row 5: a refusal is judged by what was read; row 3: a good body is lost."""
    made = talk(script := Script(Send(), Relay()), clock).client(POST).upstream(head[:-1]).upstream_ends()

    assert script.ends[1] == end or script.ends[1].failure is end
    assert made.hooks[-1] == "response"


def test_a_refused_body_is_read_to_a_bound(clock: Clock) -> None:
    """At most 1 MiB of a refused body is read; the rest is left, and the connection given up."""
    made = talk(script := Script(Send(), Send(), Relay()), clock).client(POST)
    made.upstream(REFUSED.replace(b"Length: 2", b"Length: 9999999")[:-2])
    for _ in range(17):
        made.upstream(b"x" * 65_536)

    assert script.ends[1] == Answered(broken=True)
    assert made.upstream(GOOD).got == GOOD


# Time


def test_a_pause_ends_when_its_time_has_come(clock: Clock) -> None:
    """Paused, the stream asks again at its deadline and not before; nothing is sent meanwhile."""
    made = talk(script := Script(Send(), Pause(7), Send(), Relay()), clock).client(POST)
    made.upstream(REFUSED).take()

    assert (made.passes(6.9).take(), len(script.ends)) == (b"", 2)
    assert made.passes(0.2).take() != b""
    assert made.upstream(GOOD).got == GOOD


@pytest.mark.parametrize(
    ("limits", "sent"),
    [
        ({"headers_s": 3.0}, b""),
        ({"stream_idle_s": 3.0}, GOOD[:-1]),
        ({"stream_total_s": 3.0, "stream_idle_s": 9.0}, GOOD[:-1]),
    ],
)
def test_an_upstream_that_is_too_slow_ends_the_attempt(clock: Clock, limits: dict[str, Any], sent: bytes) -> None:
    """Without a head, or without the rest of a body, in time the attempt has failed and its connection is closed."""
    made = talk(script := Script(Send(), Relay(), **limits), clock).client(POST)
    made = made.upstream(sent) if sent else made

    made.passes(2.9)
    assert len(script.ends) == 1
    made.passes(0.2)
    assert isinstance(script.ends[1], Failed)
    assert made.closed == [made.opened[0]]


# A sleep of this machine, and the proxy of a network


@pytest.mark.parametrize("sent", [b"", GOOD[:-1]], ids=["before the head", "in a whole body"])
def test_what_a_sleep_cut_is_nobodys_fault(clock: Clock, sent: bytes) -> None:
    """X68: a request that was on the wire is left alone; if it fails, it is as stale as an idle connection's: sent again, nobody blamed."""
    made = talk(script := Script(Send(), Send(), Relay()), clock).client(POST)
    made = made.upstream(sent) if sent else made
    assert woken(made).closed == []
    made.upstream_ends()
    assert (script.ends[1].failure, script.ends[1].timed_out) == (Failure.STALE, False)
    assert script.ends[1].why.startswith(SLEPT)
    assert made.upstream(GOOD).got == GOOD
    assert len(made.opened) == 2


def test_silence_after_a_sleep_is_nobodys_fault(clock: Clock) -> None:
    """X68: an upstream that never answers again is given up at its time-out, and asked anew."""
    made = woken(talk(script := Script(Send(), Send(), Relay(), headers_s=3.0), clock).client(POST))
    made.passes(3.1)
    assert script.ends[1].failure is Failure.STALE
    assert made.closed == [made.opened[0]]
    assert made.upstream(GOOD).got == GOOD


def test_a_stream_behind_the_gate_that_a_sleep_cut_is_asked_anew(clock: Clock) -> None:
    """Its client has seen nothing of it."""
    made = talk(script := Script(Send(), Send(), Relay(), course=Course.GATE), clock).client(POST)
    woken(made.upstream(STREAM_HEAD + chunk(PING))).upstream_ends()
    assert script.ends[1].failure is Failure.STALE


def test_a_short_sleep_costs_nothing(clock: Clock) -> None:
    """An answer that comes after all is the answer; the next attempt has not slept."""
    made = woken(talk(script := Script(Send(), Relay(), Send(), Send(), Relay()), clock).client(POST)).upstream(GOOD)
    assert made.got == GOOD
    made.client(POST).upstream_ends()
    assert script.ends[3].failure is Failure.BROKEN


VIA: ServerSpec = ("http", ("127.0.0.1", 3128))
TUNNEL = b"HTTP/1.1 200 Connection established\r\n\r\n"


def proxied(script: Script, clock: Clock) -> Transcript:
    """A client's connection whose upstream is reached through a proxy; its requests are for TLS that nobody speaks here."""
    made = talk(script, clock)
    made.layer.via = VIA
    script.say = lambda flow, _: setattr(flow.request, "scheme", "https")
    return made


def test_a_request_for_tls_asks_the_proxy_for_a_tunnel(clock: Clock) -> None:
    """With the upstream's address and nothing else; one without TLS goes straight."""
    made = proxied(Script(Send()), clock).client(POST)
    assert made.opened[0].address == VIA[1]
    assert made.sent.startswith(b"CONNECT 127.0.0.1:9000 HTTP/1.1\r\n")
    assert b"secret" not in made.sent
    plain = talk(Script(Send()), clock)
    plain.layer.via = VIA
    assert plain.client(POST).opened[0].address == UPSTREAM


def test_a_proxy_that_refuses_ends_the_attempt_before_anything_was_sent(clock: Clock) -> None:
    """Row 1, in the proxy's name; the next attempt dials anew."""
    made = proxied(script := Script(Send(), Send(), Relay()), clock).client(POST)
    made.upstream(b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n")
    assert script.ends[1].failure is Failure.UNREACHABLE
    assert script.ends[1].why.startswith("your network's proxy at 127.0.0.1:3128 refused with 407")
    assert len(made.opened) == 2
    assert made.closed == [made.opened[0]]


def test_a_proxy_that_says_nothing_is_given_up_in_time(clock: Clock) -> None:
    """The time to connect is for the tunnel too; the socket that is closed is the one to the proxy."""
    made = proxied(script := Script(Send(), Relay(), connect_s=2.0), clock).client(POST)
    made.passes(2.1)
    assert made.closed == [made.opened[0]]
    made.upstream_ends()
    assert script.ends[1].failure is Failure.UNREACHABLE
    assert "gave no connection" in script.ends[1].why


def test_the_gate_opens_in_time(clock: Clock) -> None:
    """A stream that only pings is released after a second, what was held in order with it."""
    made = talk(Script(Send(), course=Course.GATE, gate_ms=1000), clock).client(POST)
    made.upstream(STREAM_HEAD + chunk(PING))

    assert made.passes(0.9).got == b""
    assert made.passes(0.2).got.endswith(chunk(PING))
    made.upstream(chunk(BODY) + b"0\r\n\r\n")
    assert unchunked(made.got) == PING + BODY


def test_the_gate_opens_when_it_is_full(clock: Clock) -> None:
    """A stream that decides nothing within 64 kB is released."""
    made = talk(Script(Send(), course=Course.GATE, gate_kb=1), clock).client(POST).upstream(STREAM_HEAD)
    note = b": " + b"x" * 600 + b"\n\n"

    assert made.upstream(chunk(note)).got == b""
    assert made.upstream(chunk(note)).got != b""


@pytest.mark.parametrize(("idle", "total"), [(3.0, 900.0), (900.0, 3.0)])
def test_a_silent_stream_is_ended(clock: Clock, idle: float, total: float) -> None:
    """Row 6: past the idle limit or the total one, an error event ends the stream and the upstream is let go."""
    made = talk(Script(Send(), course=Course.GATE, stream_idle_s=idle, stream_total_s=total), clock).client(POST)
    begun = b"".join(part for part in TURN.parts[:4] if isinstance(part, bytes))
    made.upstream(STREAM_HEAD + chunk(begun)).passes(2.9)
    assert b"event: error" not in made.got

    made.passes(0.3)
    assert unchunked(made.got).startswith(begun + b"event: error")
    assert made.closed == [made.opened[0]]


def test_six_minutes_of_pings_reach_the_client_as_they_come(clock: Clock) -> None:
    """With the settings as they are, pings alone keep a stream alive, each is handed on at once, and the turn ends well."""
    made = talk(Script(Send(), course=Course.GATE), clock).client(POST)
    made.upstream(STREAM_HEAD).passes(2)
    for count in range(1, 361):
        made.upstream(chunk(PING)).passes(1)
        assert made.got.count(chunk(PING)) == count
    made.upstream(chunk(BODY) + b"0\r\n\r\n")

    assert unchunked(made.got) == PING * 360 + BODY
    assert made.closed == []


def test_a_stream_that_speaks_lives(clock: Clock) -> None:
    """Each event puts the idle limit off."""
    made = talk(Script(Send(), course=Course.GATE, stream_idle_s=3.0), clock).client(POST).upstream(STREAM_HEAD)
    for part in TURN.parts:
        assert isinstance(part, bytes)
        made.upstream(chunk(part)).passes(2.5)
    made.upstream(b"0\r\n\r\n")

    assert unchunked(made.got) == BODY


def test_a_silent_answer_of_known_length_is_cut(clock: Clock) -> None:
    """Nothing may follow where the length was announced: the client's connection is closed."""
    made = talk(Script(Send(), course=Course.STREAM, path=Path.PASSED, stream_idle_s=3.0), clock).client(GET)
    made.upstream(GOOD[:-1]).passes(3.1)

    assert made.got == GOOD[:-1]
    assert made.peer in made.closed


# The client


@pytest.mark.parametrize("moment", ["hook", "pause", "dispatch", "stream", "dial"])
def test_a_client_that_leaves_stops_everything(clock: Clock, moment: str) -> None:
    """Row 7: whenever the client leaves, the error hook comes once and nothing more goes upstream."""
    steps = [Send(), Pause(9)] if moment == "pause" else [Send()]
    made = talk(Script(*steps, course=Course.WHOLE if moment == "pause" else Course.GATE), clock)
    made.holds = {"hook": "flowpool_attempt", "dial": "dial"}.get(moment, "")
    made.client(POST)
    if moment == "pause":
        made.upstream(REFUSED)
    if moment == "stream":
        made.upstream(STREAM_HEAD + chunk(BODY[: BODY.index(b"event: message_delta")]))
    made.take()

    made.client_leaves()
    if moment == "hook":
        made.answer()
    if moment == "dial":
        made.dialled()
    made.passes(1_000)
    assert made.take() == b""
    assert made.hooks.count("error") == 1
    assert "response" not in made.hooks
    assert made.layer.streams == {} or all(
        s.due is None for s in made.layer.streams.values() if isinstance(s, ReplayStream)
    )


class Killer(Script):
    """Kills the flow at one hook, as a person in mitmweb may."""

    at = ""

    def __getattribute__(self, name: str) -> Any:
        """Kill the flow before the hook does its part."""
        held = super().__getattribute__(name)
        if name != super().__getattribute__("at"):
            return held

        def kill(flow: http.HTTPFlow) -> None:
            held(flow)
            flow.kill()

        return kill

    def request(self, flow: http.HTTPFlow) -> None:
        """Do nothing."""

    response = request


@pytest.mark.parametrize("hook", ["requestheaders", "request", "flowpool_attempt", "responseheaders", "response"])
def test_a_flow_that_is_killed_stops(clock: Clock, hook: str) -> None:
    """Killed at whatever hook, the client's connection ends without an answer, and nothing more is sent."""
    script = Killer(Send(), Relay())
    script.at = hook
    made = talk(script, clock).client(POST)
    made = made.upstream(GOOD) if made.opened else made

    assert (made.got, made.peer in made.closed) == (b"", True)
    assert (made.take() == b"") is (hook in {"requestheaders", "request", "flowpool_attempt"})
    assert made.hooks.count("error") == (hook != "response")
    assert script.exchange.end is None or hook == "response"


def test_a_stream_that_breaks_behind_the_gate_is_a_failed_attempt(clock: Clock) -> None:
    """Row 4: a stream that was cut before it decided was no answer; another attempt may follow."""
    made = talk(script := Script(Send(), Send(), course=Course.GATE), clock).client(POST)
    made.upstream(STREAM_HEAD + chunk(PING)).upstream_ends()
    assert script.ends[1].failure is Failure.EMPTY_STREAM

    made.upstream(STREAM_HEAD + chunk(BODY) + b"0\r\n\r\n")
    assert unchunked(made.got) == BODY


def test_an_answer_to_a_head_request_has_no_body(clock: Clock) -> None:
    """An answer of our own to HEAD is its head alone, so that the connection stays in step."""
    made = talk(script := Script(Relay(), Relay(), path=Path.PASSED), clock)
    script.say = lambda flow, _exchange: setattr(flow, "response", http.Response.make(502, b"ours"))
    made.client(HEAD)

    assert made.got.startswith(b"HTTP/1.1 502")
    assert made.got.endswith(b"\r\n\r\n")


def test_a_head_request_passes(clock: Clock) -> None:
    """The upstream's answer to HEAD keeps the length that it announced, and the connection stays in step."""
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: 55\r\n\r\n"
    made = talk(Script(Send(), Relay(), Send(), course=Course.STREAM, path=Path.PASSED), clock)

    assert made.client(HEAD).upstream(answer).got == answer
    assert made.client(GET).upstream(GOOD).got == answer + GOOD


def test_an_upgraded_connection_is_left_to_mitmproxy(clock: Clock) -> None:
    """Once both sides have agreed to upgrade, bytes pass both ways and no deadline of ours disturbs them."""
    asked = GET.replace(
        b"\r\n\r\n",
        b"\r\nConnection: upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
        b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
    )
    agreed = (
        b"HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n"
        b"Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n"
    )
    hello = b"\x81\x05hello"
    made = talk(Script(Send(), Relay(), course=Course.STREAM, path=Path.PASSED, stream_idle_s=3.0), clock)
    made.client(asked).upstream(agreed)
    assert made.got == agreed

    assert made.passes(100).upstream(hello).got == agreed + hello
    assert made.closed == []


@pytest.mark.parametrize("asks", ["", "foo", "h2c", "websocket"])
@pytest.mark.parametrize("agrees", ["", "foo", "websocket"])
def test_an_upgrade_to_anything_but_a_websocket_is_garbage(clock: Clock, asks: str, agrees: str) -> None:
    """Nor may an upstream leave HTTP unasked: what the client sends next would pass raw, unmasked and unsigned."""
    version = b"Sec-WebSocket-Version: 13\r\n" if asks == agrees == "websocket" else b""
    asked = GET.replace(b"\r\n\r\n", b"\r\nConnection: upgrade\r\nUpgrade: %s\r\n" % asks.encode() + version + b"\r\n")
    agreed = b"HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: %s\r\n\r\n" % agrees.encode()
    made = talk(Script(Send(), Relay(), course=Course.STREAM, path=Path.PASSED), clock).client(asked)
    made.take()
    made.upstream(agreed)

    assert (b" 101 " in made.got) is bool(version)
    if not version:
        assert made.got.startswith(b"HTTP/1.1 502 ")
        assert made.client(b"raw\r\n\r\n").take() == b""


# Whole exchanges, with the real addons


@pytest.fixture
def pool() -> Iterator[Pool]:
    """Two accounts."""
    return iter([Pool("work", "home")])


def played(pool: Pool, clock: Clock) -> Transcript:
    """A connection to the real addons."""
    return Transcript(pool.signer, pool.admit, pool.limits, pool.route, pool.log, clock=clock)


def test_a_refused_turn_streams_on_from_another_account(pool: Iterator[Pool], clock: Clock) -> None:
    """The whole of it: refused on the first account, the turn streams from the second as if nothing had happened."""
    made = played(one := next(pool), clock).client(POST)
    made.upstream(wire(limit("7d")))
    assert made.got == b""

    made.upstream(wire(TURN))
    assert unchunked(made.got) == BODY
    assert [one.account(name).in_flight for name in ("work", "home")] == [0, 0]
    assert made.hooks == [
        "requestheaders", "request", "flowpool_attempt", "responseheaders", "flowpool_attempt", "responseheaders", "response",
    ]  # fmt: skip


class Without:
    """An addon one of whose hooks does nothing, as when it raised and mitmproxy went on."""

    def __init__(self, addon: Any, hook: str) -> None:
        self._addon, self._hook = addon, hook

    def __getattr__(self, name: str) -> Any:
        if name == self._hook:
            raise AttributeError(name)
        return getattr(self._addon, name)


HOOKS = [
    ("admit", "requestheaders"),
    ("route", "request"),
    ("route", "flowpool_attempt"),
    ("limits", "responseheaders"),
    ("route", "response"),
    ("log", "response"),
]


@pytest.mark.parametrize(("part", "hook"), HOOKS)
@pytest.mark.parametrize("target", [b"POST /v1/messages", b"GET /api/oauth/profile"])
def test_no_hook_that_is_lost_lets_a_wrong_credential_go(clock: Clock, part: str, hook: str, target: bytes) -> None:
    """What is pooled goes out on an account's or not at all; what is the client's goes out on its own or not at all."""
    one = Pool("work", "home")
    parts = {name: getattr(one, name) for name in ("admit", "limits", "route", "log")}
    parts[part] = Without(parts[part], hook)
    made = Transcript(one.signer, *parts.values(), clock=clock)
    shown = f"authorization: Bearer {CLIENT_TOKEN}\r\n".encode()
    made.client(target + b" HTTP/1.1\r\nhost: 127.0.0.1:3456\r\n" + shown + b"content-length: 2\r\n\r\n{}")
    sent = made.take()

    is_pooled = target.startswith(b"POST")
    assert (CLIENT_TOKEN.encode() in sent) is (bool(sent) and not is_pooled)
    assert (token("work").encode() in sent) is (bool(sent) and is_pooled)
    assert not sent or hook not in {"requestheaders", "request", "flowpool_attempt"}


def test_a_fault_in_reading_the_head_sends_nothing_more(
    pool: Iterator[Pool], clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When a hook of ours raises on an answer's head, the client gets a 502 and the request is not sent again."""
    one = next(pool)
    monkeypatch.setattr(one.limits, "_read_head", lambda *_: 1 / 0)
    made = played(one, clock).client(POST)
    made.take()
    made.upstream(wire(ok_json("x")))

    assert made.take() == b""
    assert made.got.startswith(b"HTTP/1.1 502")


WIRES = [
    (wire(TURN), True),
    (wire(TURN.crlf().bytewise()), True),
    (wire(ok_json("x")), True),
    (wire(TURN.encoded("gzip")), True),
    (STREAM_HEAD + chunk(BODY[:700]), False),
    (STREAM_HEAD + chunk(PING), False),
    (wire(ok_json("x"))[:-5], False),
    (wire(limit("7d")), True),
    (wire(limit("5h", resets_in=20)), True),
    (wire(overloaded()), True),
    (wire(bad_token()), True),
    (wire(throttle(1)), True),
    (wire(stream_error()), True),
    (wire(overage(TURN)), True),
    (wire(overage(TURN)) + b"more", False),
    (wire(bad_request().framed("close")), False),
    (measured(BODY[:700], 700), True),
    *((head, False) for head in GARBAGE),
    (b"", False),
]


@given(st.lists(st.tuples(st.sampled_from(WIRES), st.lists(st.integers(0, 2_000), max_size=4)), max_size=9), st.data())
def test_whatever_the_upstream_says_the_exchange_ends_once(
    said: list[tuple[tuple[bytes, bool], list[int]]], data: st.DataObject
) -> None:
    """Answers of every sort, in any order and cut anywhere: no layer crashes, one end is reported, and no lease is left.

    The client may leave at any moment; then nothing more goes upstream.
    """
    one = Pool("work", "home")
    made = played(one, current_clock()).client(POST)
    leaves = data.draw(st.integers(0, 12))
    for (text, stays), at in [*said, *[(WIRES[2], list[int]())] * 12]:
        made.passes(0 if made.take() else 300)
        made.take()
        cuts = sorted(min(cut, len(text)) for cut in at)
        current = len(made.opened)
        for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True):
            leaves -= 1
            if leaves == 0 and made.peer not in made.closed:
                made.client_leaves().take()
            if len(made.opened) == current and made.opened[-1].connected and end > start:
                made.upstream(text[start:end])
        if not stays and len(made.opened) == current and made.opened[-1].connected:
            made.upstream_ends()
        if "response" in made.hooks or "error" in made.hooks:
            break

    made.passes(10_000)
    assert made.hooks.count("response") + made.hooks.count("error") == 1
    assert [one.account(name).in_flight for name in ("work", "home")] == [0, 0]
    assert (made.wakeups, made.layer.command_sources) == ([], {})
    if made.peer.connected:
        assert left_behind(made.got) == b""


@pytest.mark.parametrize("answer", [ok_json("x"), ok("x")])
def test_what_a_client_pays_itself_counts_as_complete(clock: Clock, answer: Answer) -> None:
    """Own answer G: a whole answer on the client's own credential ends as complete, JSON or stream."""
    one = Pool()
    lines: list[dict[str, Any]] = []
    last = SimpleNamespace(response=lambda flow: lines.append(one.log.line(flow, EXCHANGES[flow])))
    made = (
        Transcript(one.signer, one.admit, one.limits, one.route, last, clock=clock).client(POST).upstream(wire(answer))
    )

    assert b"client-secret" in made.sent
    assert made.got == wire(answer) or unchunked(made.got) == answer.body
    assert (lines[0]["ended"], lines[0]["answer"]) == ("complete", "G")


@pytest.mark.parametrize(("view", "saved", "keeps"), [(None, None, False), ("view", None, True), (None, "file", True)])
def test_bodies_are_kept_for_onlookers(
    clock: Clock, monkeypatch: pytest.MonkeyPatch, view: str | None, saved: str | None, keeps: bool
) -> None:
    """A released request's body is dropped, unless mitmweb shows flows or a file keeps them."""
    monkeypatch.setattr(ctx, "master", SimpleNamespace(addons=SimpleNamespace(get=lambda _name: view)))
    monkeypatch.setattr(ctx, "options", SimpleNamespace(save_stream_file=saved))
    talk(script := Script(Send(), course=Course.GATE), clock).client(POST).upstream(STREAM_HEAD + chunk(BODY))

    assert script.flow is not None
    assert (script.flow.request.raw_content == b"body") is keeps
