"""The fake upstream and the raw client, held against each other over a real socket."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator

import pytest

from tests.e2e.client import Client, Request, count_tokens, startup_check, turn
from tests.upstream import (
    Answer,
    End,
    Received,
    Reset,
    Upstream,
    bad_chunk,
    drop,
    early,
    garbage,
    html_200,
    json_cut,
    limit,
    ok,
    ok_json,
    past_its_length,
    pings,
    plant,
    redirect,
    short_of_its_length,
    silent,
    stale,
    stream_error,
    torn_chunk,
    torn_head,
    two_lengths,
)

WORK, HOME, KEY = plant("work"), plant("home"), plant("key", "api-key")
BLOCK = b"event: content_block_stop"


@pytest.fixture
def upstream() -> Iterator[Upstream]:
    """A fake with three accounts; a fault of its own fails the test."""
    with Upstream({"work": WORK, "home": HOME, "key": KEY}) as running:
        yield running
        assert running.faults == []


@pytest.fixture
def client(upstream: Upstream) -> Iterator[Client]:
    """A client connected to it."""
    with Client(upstream.url) as connected:
        yield connected


# -- scripts and accounts ------------------------------------------------------------------------------------------


def test_scripted_answers_come_in_order_then_the_default(upstream: Upstream, client: Client) -> None:
    """Each queued answer is used once, then the account's default, on one connection."""
    upstream.script("work", limit("7d"), ok("second"))
    upstream.default("work", ok("ever after"))
    replies = [client.ask(turn(WORK)) for _ in range(4)]
    assert replies[0].status == 429
    assert [reply.text for reply in replies[1:]] == ["second", "ever after", "ever after"]
    assert {received.connection for received in upstream.requests} == {1}
    assert [received.index for received in upstream.requests] == [0, 1, 2, 3]


def test_accounts_are_told_apart_by_credential(upstream: Upstream, client: Client) -> None:
    """A bearer token and an x-api-key each reach their own account's script."""
    upstream.script("home", ok("from home"))
    upstream.script("key", ok("from key"))
    assert client.ask(turn(HOME)).text == "from home"
    assert client.ask(turn(KEY)).text == "from key"
    assert upstream.requests.accounts() == ["home", "key"]
    assert upstream.left() == {}


def test_without_a_script_a_turn_is_good(client: Client) -> None:
    """An account without a script answers by name, in the form and from the model that was asked."""
    streamed, whole = client.ask(turn(WORK)), client.ask(turn(WORK, stream=False, model="claude-haiku-5-5"))
    assert streamed.text == whole.text == "This is work speaking."
    assert streamed.names[-1] == "message_stop"
    assert whole.json()["model"] == "claude-haiku-5-5"


def test_a_strangers_token_is_refused_and_not_named(upstream: Upstream, client: Client) -> None:
    """An unknown token gets the vendor's 401, and the log's own words hold only a label."""
    stranger = plant("stranger")
    reply = client.ask(turn(stranger))
    assert (reply.status, reply.error[0]) == (401, "authentication_error")
    assert stranger not in repr(upstream.requests[0])
    assert upstream.requests[0].account.startswith("unknown-")


@pytest.mark.parametrize(
    "broken",
    [
        turn(WORK).having(("anthropic-beta", "claude-code-20250219")),
        turn(WORK).without("Authorization").having(("x-api-key", WORK)),
        turn(WORK).without("Authorization"),
    ],
)
def test_an_ill_signed_request_is_refused_as_the_vendor_does(client: Client, broken: Request) -> None:
    """An OAuth token without its beta or in x-api-key, and no credential at all, are 401."""
    assert client.ask(broken).status == 401


def test_a_reply_may_be_a_function_of_the_request(upstream: Upstream, client: Client) -> None:
    """A script can look at what it received."""

    def answer(received: Received) -> Answer:
        return ok(f"{received.size} bytes")

    upstream.script("work", answer)
    request = turn(WORK)
    assert client.ask(request).text == f"{len(request.body)} bytes"


# -- the log -------------------------------------------------------------------------------------------------------


def test_the_log_has_the_request_to_the_byte(upstream: Upstream, client: Client) -> None:
    """Path with query, header order and case, and body are what was sent."""
    request = turn(WORK, prompt="Grüße, 世界")
    client.ask(request)
    received = upstream.requests[0]
    assert (received.method, received.path) == (request.method, request.path)
    assert received.headers[: len(request.headers)] == request.headers
    assert received.body == request.body
    assert received.whole
    assert received.fate.wait() == "answered"


def test_chunked_and_pipelined_requests_are_read(upstream: Upstream, client: Client) -> None:
    """A chunked body is joined, and two requests in one write are answered in order."""
    body = turn(WORK).body
    chunked = Request(headers=turn(WORK).headers, body=body, chunked=700)
    upstream.script("work", ok("one"), ok("two"))
    client.send(chunked, turn(WORK))
    assert [client.begin().rest().text, client.begin().rest().text] == ["one", "two"]
    assert upstream.requests[0].body == body


def test_threads_can_wait_for_requests(upstream: Upstream) -> None:
    """wait_for returns once as many requests have come, whichever thread sends them."""

    def ask() -> None:
        with Client(upstream.url) as own:
            own.ask(turn(WORK))

    threads = [threading.Thread(target=ask) for _ in range(3)]
    for thread in threads:
        thread.start()
    assert len(upstream.requests.wait_for(3, "work", path="/v1/messages")) == 3
    for thread in threads:
        thread.join()
    with pytest.raises(TimeoutError):
        upstream.requests.wait_for(4, timeout=0.01)


def test_a_body_that_breaks_off_is_logged_as_such(upstream: Upstream, client: Client) -> None:
    """A client that leaves in mid-body leaves an entry that is not whole."""
    client.send_head(turn(WORK))
    client.write(b'{"model"')
    client.abort()
    received = upstream.requests.wait_for(1)[0]
    assert (received.whole, received.body, received.fate.wait()) == (False, b'{"model"', "left")


def test_a_client_that_leaves_in_mid_stream_is_noted(upstream: Upstream, client: Client) -> None:
    """An abort while a gate holds the stream settles the answer as left."""
    upstream.script("work", ok("a b c").wait("gate", after="content_block_delta"))
    client.send(turn(WORK))
    client.begin().until(b"content_block_delta")
    client.abort()
    assert upstream.requests[0].fate.wait() == "left"


# -- time ----------------------------------------------------------------------------------------------------------


def test_gates_hold_head_and_events_until_released(upstream: Upstream, client: Client) -> None:
    """A late head and a held event come only after the test has opened their gates."""
    upstream.script("work", ok("a b").late("head").wait("event", after="content_block_start"))
    client.send(turn(WORK))
    upstream.wait_held("head")
    upstream.release("head")
    reply = client.begin()
    upstream.wait_held("event")
    reply.until(b"content_block_start")
    assert b"content_block_delta" not in reply.body
    upstream.release("event")
    assert reply.rest().text == "a b"


def test_gaps_are_seen_in_the_arrival_times(upstream: Upstream, client: Client) -> None:
    """Events that are sent with gaps arrive with gaps."""
    upstream.script("work", ok("a").gap(0.02))
    events = client.ask(turn(WORK)).events
    assert events[-1].at - events[0].at >= 0.02 * (len(events) - 1)


def test_a_slow_body_is_waited_for(upstream: Upstream, client: Client) -> None:
    """A body that trickles in is one whole request."""
    request = turn(WORK)
    half = len(request.body) // 2
    client.trickle(request, (request.body[:half], request.body[half:]), gap=0.01)
    assert client.begin().rest().status == 200
    assert upstream.requests[0].body == request.body


# -- whole answers -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "answer",
    [
        ok("a b c"),
        ok("a b c").crlf(),
        ok("a b c").bytewise(),
        ok("a b c").joined(),
        ok("a b c", comments=True),
        ok("a b c").encoded("gzip"),
        ok("a b c").framed("length"),
        ok("a b c").framed("close"),
        ok_json("a b c"),
        ok_json("a b c").framed("chunked"),
    ],
)
def test_every_form_of_a_good_answer_arrives_whole(upstream: Upstream, client: Client, answer: Answer) -> None:
    """The client gets the answer's very bytes, whatever their framing."""
    upstream.script("work", answer)
    reply = client.ask(turn(WORK))
    assert reply.body == answer.body
    assert reply.end == ("closed" if answer.framing == "close" else "whole")
    if reply.header("content-encoding") is None:
        assert reply.text == "a b c"


def test_single_bytes_come_as_single_chunks(upstream: Upstream, client: Client) -> None:
    """The client's record keeps the chunks of the wire apart."""
    upstream.script("work", ok("a").bytewise())
    reply = client.ask(turn(WORK))
    assert {len(chunk) for _, chunk in reply.chunks} == {1}


def test_side_paths_answer_without_a_script(client: Client) -> None:
    """Counting, models, usage, the hello and any other path have an answer of their own."""
    known = turn(WORK).headers
    assert client.ask(count_tokens(WORK)).json()["input_tokens"] > 0
    assert client.ask(startup_check(WORK)).json()["role"] == "assistant"
    assert client.ask(Request(method="HEAD", path="/api/hello")).status == 200
    assert client.ask(Request(method="GET", path="/v1/models?limit=1000", headers=known)).json()["data"]
    assert client.ask(Request(method="GET", path="/api/oauth/usage", headers=known)).json()["five_hour"]
    echo = client.ask(Request(path="/v1/files?a=b", headers=known, body=b"x\x00y")).json()
    assert (echo["path"], echo["body"], echo["account"]) == ("/v1/files?a=b", "x\x00y", "work")
    assert WORK not in str(echo)


def test_other_paths_can_be_scripted(upstream: Upstream, client: Client) -> None:
    """A script may be for a path other than that of a turn, which it leaves alone."""
    upstream.script("work", limit("5h"), path="/v1/messages/count_tokens")
    assert client.ask(turn(WORK)).status == 200
    assert client.ask(count_tokens(WORK)).status == 429
    assert client.ask(count_tokens(WORK)).status == 200


# -- broken answers ------------------------------------------------------------------------------------------------

BROKEN = [  # what the client must see: status (0: no head), how the connection ended
    (drop("fin"), 0, "cut"),
    (drop("reset"), 0, "reset"),
    (torn_head(), 0, "cut"),
    (ok("a b").cut("reset", after="content_block_stop"), 200, "reset"),
    (ok("a b").cut("fin", after="content_block_stop"), 200, "cut"),
    (ok("a b").cut("fin", after=-1), 200, "cut"),
    (ok("a b").cut("reset", after="message_start", torn=True), 200, "reset"),
    (ok("a b").cut("fin", after="message_delta"), 200, "cut"),
    (ok("a b").cut("whole", after="message_delta"), 200, "whole"),
    (json_cut("reset"), 200, "reset"),
    (json_cut("fin"), 200, "cut"),
    (short_of_its_length(), 200, "cut"),
    (past_its_length(), 200, "whole"),
    (torn_chunk(), 200, "cut"),
    (html_200(), 200, "whole"),
    (pings(), 200, "whole"),
    (stream_error("api_error"), 200, "whole"),
    (stream_error(after="content_block_delta"), 200, "whole"),
    (redirect(), 302, "whole"),
]


@pytest.mark.parametrize(("answer", "status", "end"), BROKEN)
def test_every_break_is_seen_as_what_it_is(
    upstream: Upstream, client: Client, answer: Answer, status: int, end: str
) -> None:
    """A reset, a clean end inside the framing and a whole end are told apart, and what came before is kept."""
    upstream.script("work", answer)
    reply = client.ask(turn(WORK))
    assert (reply.status, reply.end) == (status, end)
    if answer.framing != "raw":
        assert answer.body.startswith(reply.body)
        assert end == "whole" or reply.body == answer.body


@pytest.mark.parametrize("answer", [garbage(), two_lengths(), bad_chunk()])
def test_what_is_not_http_goes_out_as_it_is(upstream: Upstream, client: Client, answer: Answer) -> None:
    """Garbage, a head with two lengths and a chunk without a length come to the byte."""
    upstream.script("work", answer)
    client.send(turn(WORK))
    assert _all(client.socket) == answer.body


def test_silence_lasts_until_the_client_leaves(upstream: Upstream, client: Client) -> None:
    """A silent answer sends nothing, and ends as left."""
    upstream.script("work", silent())
    client.send(turn(WORK))
    upstream.requests.wait_for(1)
    with pytest.raises(TimeoutError):
        client.begin(timeout=0.02)
    client.close()
    assert upstream.requests[0].fate.wait() == "left"


def test_a_stale_connection_ends_as_the_next_request_arrives(upstream: Upstream, client: Client) -> None:
    """The first request is answered; the second meets the end of the connection, its body unread."""
    upstream.script("work", ok("one"), stale())
    assert client.ask(turn(WORK)).text == "one"
    client.send_head(turn(WORK))
    reply = client.begin()
    assert (reply.status, reply.head) == (0, b"")
    assert (upstream.requests[1].index, upstream.requests[1].whole) == (1, False)


def test_an_early_answer_comes_before_the_body(upstream: Upstream, client: Client) -> None:
    """An answer may come while the request's body is not sent yet."""
    upstream.script("work", early(limit("7d")))
    client.send_head(turn(WORK))
    assert client.begin().status == 429


def test_a_refusal_may_be_compressed(upstream: Upstream, client: Client) -> None:
    """A coded refusal has a true length and decodes to the same error."""
    upstream.script("work", limit("7d").encoded("gzip"))
    reply = client.ask(turn(WORK))
    assert (reply.end, reply.error[0]) == ("whole", "rate_limit_error")


# -- connections ---------------------------------------------------------------------------------------------------


def test_connections_can_be_refused_and_taken_again(upstream: Upstream, client: Client) -> None:
    """While the listener is closed a new connection is refused and an old one lives on."""
    assert client.ask(turn(WORK)).status == 200
    upstream.refuse()
    with Client(upstream.url) as second, pytest.raises(ConnectionRefusedError):
        second.ask(turn(WORK))
    assert client.ask(turn(WORK)).status == 200
    upstream.accept()
    with Client(upstream.url) as third:
        assert third.ask(turn(WORK)).status == 200


@pytest.mark.parametrize("act", [Reset(), End()])
def test_a_connection_can_end_as_it_begins(upstream: Upstream, client: Client, act: Reset | End) -> None:
    """A greeting ends the next connection before a request is read, and only that one."""
    upstream.greet(act)
    assert client.closed_by_peer()
    client.close()
    assert client.ask(turn(WORK)).status == 200


def test_open_connections_can_be_ended_from_outside(upstream: Upstream, client: Client) -> None:
    """close_connections ends an idle kept-alive connection."""
    client.ask(turn(WORK))
    upstream.close_connections()
    assert client.closed_by_peer()


def test_reset_forgets_scripts_and_log(upstream: Upstream, client: Client) -> None:
    """After reset nothing of the earlier test is left."""
    upstream.script("work", limit("7d"))
    upstream.default("work", limit("7d"))
    client.ask(turn(HOME))
    upstream.reset()
    assert client.ask(turn(WORK)).status == 200
    assert upstream.requests.accounts() == ["work"]


def _all(connection: socket.socket) -> bytes:
    data = b""
    while chunk := connection.recv(65_536):
        data += chunk
    return data
