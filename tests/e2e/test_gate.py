"""The gate of docs/verdicts.md: when a stream's head is released, and what goes out with it."""

from __future__ import annotations

import time

import pytest

from tests.e2e.conftest import Make
from tests.e2e.pool import BLOCK, Pool
from tests.upstream import PING, Answer, event, ok, stream, undecodable
from tests.upstream.answer import Coding

LONG = {"limits": {"gate_ms": 60_000, "gate_kb": 1, "stream_idle_s": 60}}
CODINGS: tuple[Coding, ...] = ("gzip", "br", "deflate", "zstd")
START = event("message_start", message={"id": "m", "type": "message", "role": "assistant", "content": []})
STOP = event("message_stop")


def _begins(pool: Pool, answer: Answer, upto: bytes) -> None:
    """Fail unless everything up to the answer's own gate comes while the answer is held there."""
    pool.upstream.script("work", answer)
    with pool.client() as client:
        client.send(pool.turn())
        reply = client.begin().until(upto)
        assert reply.status == 200
        assert reply.end is None
        pool.upstream.release("more")
        assert reply.rest().body == answer.body


def test_gate_is_opened_by_the_first_deciding_event(make: Make) -> None:
    """A block's start, a message's end and an error each release the head at once; until then nothing goes out."""
    pool = make("work", settings=LONG)
    for answer, upto in (
        (ok().wait("more", after="content_block_start"), BLOCK),
        (ok().crlf().bytewise().wait("more", after=len(b"".join(ok().crlf().parts[:3])) - 1), BLOCK),  # type: ignore[arg-type]
        (
            stream(START, event("message_delta", delta={"stop_reason": "end_turn"}), STOP).wait("more", after=1),
            b"end_turn",
        ),
        *((ok(comments=True).encoded(coding).wait("more", after=4), b"") for coding in CODINGS),
    ):
        pool.upstream.reset()
        _begins(pool, answer, upto)
    pool.upstream.reset()
    pool.upstream.script("work", ok().wait("more", after="ping"))
    with pool.client() as client:
        client.send(pool.turn())
        pool.upstream.wait_held("more")
        with pytest.raises(TimeoutError):
            client.begin(timeout=0.15)
        pool.upstream.release("more")
        assert client.begin().rest().text == "Hello there, friend."


def test_gate_is_opened_by_its_size(make: Make) -> None:
    """More than gate_kb of pings and comments is released, in the order in which they came."""
    pool = make("work", settings=LONG)
    answer = stream(START, *(PING, b": still here\n\n") * 30, STOP).wait("more", after=60)
    _begins(pool, answer, b": still here\n\n" * 1)


def test_gate_is_opened_by_time(shared: Pool) -> None:
    """After gate_ms without a deciding event what there is goes out, pings and comments in order; the rest follows."""
    answer = stream(START, PING, b": hi\n\n", PING).inserted(STOP, after=3).wait("more", after=3)
    shared.upstream.script("work", answer)
    with shared.client() as client:
        client.send(shared.turn())
        (received,) = shared.upstream.requests.wait_for(1)
        reply = client.begin().until(b": hi\n\n" + PING)
        assert reply.begun_at - received.at > 0.25
        shared.upstream.release("more")
        assert reply.rest().body == answer.body


def test_gate_time_counts_from_the_headers(shared: Pool) -> None:
    """Headers that come late leave the gate its whole time."""
    shared.upstream.script("work", ok().late(0.4).wait(0.1, after="message_start").cut("whole", after="ping"))
    reply = shared.ask(shared.turn())
    assert (reply.status, reply.error[0]) == (529, "overloaded_error")


def test_gate_releases_what_cannot_be_decoded_at_once(make: Make) -> None:
    """Bytes that lie about their coding, or come in one that cannot be read in pieces, pass unchanged and unheld."""
    pool = make("work", settings=LONG)
    for answer in (undecodable(), ok().having(("content-encoding", "x-own"))):
        pool.upstream.reset()
        pool.upstream.script("work", answer.wait("more", after=0))
        with pool.client() as client:
            client.send(pool.turn())
            reply = client.begin().until(b"message_start")
            pool.upstream.release("more")
            assert (reply.rest().status, reply.body) == (200, answer.body)


def test_gate_events_go_out_as_they_come(shared: Pool) -> None:
    """Behind the gate each event is with the client before the next one is sent."""
    answer = ok("One two three").wait("first", after="content_block_start")
    answer = answer.wait("second", after="content_block_delta").wait("third", after="content_block_delta", nth=2)
    shared.upstream.script("work", answer)
    with shared.client() as client:
        client.send(shared.turn())
        reply = client.begin()
        for mark, name in ((BLOCK, "first"), (b"One ", "second"), (b"two ", "third")):
            reply.until(mark)
            shared.upstream.wait_held(name)
            shared.upstream.release(name)
        begun = time.monotonic()
        assert reply.rest().text == "One two three"
        assert time.monotonic() - begun < 1


def test_gate_torn_events_go_out_whole(shared: Pool) -> None:
    """A stream that comes byte by byte, with CRLF, comments and pings, reaches the client to the byte."""
    answer = ok("Grüße an alle", comments=True).crlf().bytewise()
    shared.upstream.script("work", answer)
    reply = shared.ask(shared.turn())
    assert (reply.status, reply.end, reply.body) == (200, "whole", answer.body)
    for _, chunk in reply.chunks:
        assert chunk.endswith((b"\n\r", b"\n"))  # a CR ends a line by itself
