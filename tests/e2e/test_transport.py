"""Rows 1 to 5 of docs/verdicts.md: what goes wrong before an answer can be judged."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from tests.e2e.client import Client, Request, turn
from tests.e2e.conftest import Make
from tests.e2e.harness import Proxy
from tests.e2e.pool import Pool, ranked
from tests.upstream import (
    Answer,
    End,
    Upstream,
    bad_chunk,
    bad_request,
    broken_json,
    drop,
    garbage,
    json_cut,
    ok,
    overloaded,
    pings,
    plant,
    short_of_its_length,
    silent,
    torn_head,
    two_lengths,
)
from tests.upstream.answer import How

BROKEN = [
    drop("fin"),
    drop("reset"),
    garbage(),
    torn_head(),
    two_lengths(),
    two_lengths().joined().named("two lengths in one write"),
]
LOST = [json_cut("reset"), json_cut("fin"), short_of_its_length(), broken_json()]
EMPTY = [
    ok().cut("fin", after="message_start"),
    ok().cut("reset", after="message_start"),
    ok().cut("whole", after="ping"),
    ok().cut("reset", after="ping", torn=True),
    ok().cut("fin", after=-1),
    ok().cut("whole", after=-1),
    pings(),
    bad_chunk(),
    bad_chunk().joined(),
]


def _models(token: str, method: str = "GET") -> Request:
    headers = (("Authorization", f"Bearer {token}"), ("anthropic-version", "2023-06-01"))
    return Request(method=method, path="/v1/models?limit=3", headers=headers)


# -- row 1 ---------------------------------------------------------------------------------------------------------


def test_row_1_a_refused_connection_is_502_that_may_be_retried(shared: Pool) -> None:
    """When nobody listens upstream, the client gets a retryable 502 for any method, and no account is blamed."""
    shared.upstream.refuse()
    try:
        replies = [shared.ask(shared.turn()), shared.ask(_models(shared.token))]
    finally:
        shared.upstream.accept()
    for reply in replies:
        assert (reply.status, reply.end, reply.error[0]) == (502, "whole", "api_error")
        assert reply.header("x-should-retry") is None
    assert len(shared.upstream.requests) == 0
    assert shared.holds() == {}


def test_row_1_the_same_account_is_tried_again_until_it_answers(make: Make) -> None:
    """A connection that fails at first is dialled again, and the client sees a good turn from the same account."""
    pool = make("work", "home", settings={"retry": {"connect": [0.3, 3], "budget_s": 5}, "log": {"level": "debug"}})
    pool.upstream.refuse()
    with pool.client() as client:
        client.send(request := pool.turn())
        pool.proxy.wait_log("error establishing server connection|Connect call failed")
        pool.upstream.accept()
        reply = client.begin().rest()
    assert (reply.status, reply.end, reply.text) == (200, "whole", "This is work speaking.")
    pool.saw(request, "work")
    assert pool.holds() == {}


def test_row_1_a_failed_tls_handshake_is_dialled_three_times(tmp_path: Path) -> None:
    """A server that does not speak TLS is dialled three times, gets no request, and the client a 502."""
    with Upstream() as plain:
        for _ in range(3):
            plain.greet(End())
        address = plain.url.replace("http:", "https:")
        with Proxy(tmp_path, address, ranked("work", "home")) as proxy, Client(proxy.url) as client:
            reply = client.ask(turn(plant("client")))
            assert (reply.status, reply.error[0]) == (502, "api_error")
            assert plain.connections == 3
            assert len(plain.requests) == 0
            assert proxy.holds("work") == []


def test_row_1_an_unknown_name_and_a_full_queue_are_given_up_in_time(tmp_path: Path) -> None:
    """A host without an address, and one that never takes a connection, are a 502 within the connect time-outs."""
    settings = {"limits": {"connect_s": 0.2}}
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        port = listener.getsockname()[1]
        fillers = [_dial(port) for _ in range(4)]
        for at, address in enumerate((f"http://127.0.0.1:{port}", "https://nowhere.invalid")):
            with Proxy(tmp_path / str(at), address, ranked("work"), settings=settings) as proxy:
                with Client(proxy.url) as client:
                    reply = client.ask(turn(plant("client")))
                assert (reply.status, reply.end, reply.error[0]) == (502, "whole", "api_error")
                assert (proxy.holds("work"), proxy.account("work")["in_flight"]) == ([], 0)
        for filler in fillers:
            filler.close()


def _dial(port: int) -> socket.socket:
    connection = socket.socket()
    connection.setblocking(False)
    connection.connect_ex(("127.0.0.1", port))
    return connection


# -- row 3 ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("answer", BROKEN, ids=lambda answer: answer.label)
def test_row_3_a_post_that_breaks_before_its_headers_is_not_sent_again(shared: Pool, answer: Answer) -> None:
    """Whether the upstream began to work cannot be told, so the client gets a retryable 502 and decides."""
    shared.upstream.script("work", answer)
    reply = shared.ask(request := shared.turn())
    assert (reply.status, reply.end, reply.error[0]) == (502, "whole", "api_error")
    assert reply.header("x-should-retry") is None
    shared.saw(request, "work")
    assert shared.holds() == {}


@pytest.mark.parametrize("answer", LOST, ids=lambda answer: answer.label)
def test_row_3_a_json_answer_that_breaks_in_its_body_is_502(shared: Pool, answer: Answer) -> None:
    """Nothing of a JSON answer is released before it is whole, so its breaking is a retryable 502."""
    shared.upstream.script("work", answer)
    reply = shared.ask(request := shared.turn(stream=False))
    assert (reply.status, reply.end, reply.error[0]) == (502, "whole", "api_error")
    shared.saw(request, "work")
    assert shared.holds() == {}


@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize("how", ["fin", "reset"])
def test_row_3_a_get_is_sent_once_more(shared: Pool, method: str, how: str) -> None:
    """GET and HEAD may be repeated, once, on the client's own credential."""
    shared.upstream.script("client", drop(how), path="/v1/models")
    reply = shared.ask(request := _models(shared.token, method))
    assert (reply.status, reply.end) == (200, "whole")
    shared.saw(request, "client", "client")


def test_row_3_a_get_that_breaks_twice_is_502(shared: Pool) -> None:
    """After the second break nothing more is tried."""
    shared.upstream.script("client", drop(), drop("reset"), path="/v1/models")
    reply = shared.ask(request := _models(shared.token))
    assert (reply.status, reply.error[0]) == (502, "api_error")
    shared.saw(request, "client", "client")


def test_row_3_no_headers_in_time_is_504(make: Make) -> None:
    """An upstream that takes the request and says nothing is given up with a retryable 504; the connection is closed."""
    pool = make("work", "home", settings={"limits": {"headers_s": 0.3}})
    pool.upstream.script("work", silent())
    reply = pool.ask(request := pool.turn())
    assert (reply.status, reply.end, reply.error[0]) == (504, "whole", "timeout_error")
    assert reply.header("x-should-retry") is None
    assert pool.saw(request, "work")[0].fate.wait() == "left"
    assert pool.holds() == {}


def test_rows_3_and_4_hop_once_where_ambiguous_replay_is_allowed(make: Make) -> None:
    """With [replay] ambiguous a broken POST, a broken JSON body and an empty stream are each sent to one more account."""
    pool = make("work", "home", "third", settings={"replay": {"ambiguous": True}})
    for answer, stream in ((drop("reset"), True), (json_cut(), False), (EMPTY[0], True)):
        pool.upstream.reset()
        pool.upstream.script("work", answer)
        reply = pool.ask(request := pool.turn(stream=stream))
        assert (reply.status, reply.end, reply.text) == (200, "whole", "This is home speaking.")
        pool.saw(request, "work", "home")
    for answer, status in ((drop(), 502), (EMPTY[0], 529)):
        pool.upstream.reset()
        pool.upstream.script("work", answer)
        pool.upstream.script("home", answer)
        request = pool.turn()
        assert pool.ask(request).status == status
        pool.saw(request, "work", "home")
    assert pool.holds() == {}


# -- row 4 ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("answer", EMPTY, ids=range(len(EMPTY)))
def test_row_4_a_stream_that_ends_before_it_begins_is_529(shared: Pool, answer: Answer) -> None:
    """A stream without a deciding event is an overloaded_error in JSON, of which the client saw no byte before."""
    shared.upstream.script("work", answer)
    reply = shared.ask(request := shared.turn())
    assert (reply.status, reply.end, reply.error[0]) == (529, "whole", "overloaded_error")
    assert reply.header("x-should-retry") is None
    shared.saw(request, "work")
    assert shared.holds() == {}


# -- row 5 ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["reset", "fin"])
def test_row_5_a_refusal_that_breaks_in_its_body_is_judged_by_what_was_read(shared: Pool, how: How) -> None:
    """A torn 400 is relayed as a vendor-shaped 400; a torn 529 is tried again as a whole one would be."""
    shared.upstream.script("work", bad_request().cut_at(30, how))
    reply = shared.ask(request := shared.turn())
    assert (reply.status, reply.end, reply.error[0]) == (400, "whole", "invalid_request_error")
    shared.saw(request, "work")
    shared.upstream.reset()
    shared.upstream.script("work", overloaded().cut_at(30, how))
    reply = shared.ask(request := shared.turn())
    assert (reply.status, reply.text) == (200, "This is work speaking.")
    shared.saw(request, "work", "work")
    assert shared.holds() == {}
