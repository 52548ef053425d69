"""Rows 6 and 25 of docs/verdicts.md: what happens to a stream after its first byte went to the client."""

from __future__ import annotations

import pytest

from tests.e2e.client import Reply
from tests.e2e.conftest import Make
from tests.e2e.pool import BLOCK, Pool
from tests.upstream import Answer, bad_chunk, error_event, ok, stream_error, torn_chunk

DELTA = "content_block_delta"
CUTS = [
    ok("One two three").cut("reset", after=DELTA),
    ok("One two three").cut("fin", after=DELTA),
    ok("One two three").cut("whole", after=DELTA),
    ok("One two three").cut("reset", after=DELTA, torn=True),
    ok("One two three").cut("fin", after=DELTA, torn=True),
    ok("One two three").cut("whole", after=DELTA, torn=True),
    ok("One two three").cut("reset", after="content_block_stop").crlf(),
    ok("One two three").cut("fin", after="content_block_start").framed("close"),
]


def _frames(body: bytes) -> bytes:
    """The whole frames that these bytes begin with."""
    ends = [body.rfind(mark) + len(mark) for mark in (b"\n\n", b"\r\n\r\n") if mark in body]
    return body[: max(ends, default=0)]


def _told_of_its_end(reply: Reply, sent: bytes) -> None:
    """Fail unless the client got the whole frames that were sent, one error event more, and a clean end."""
    frames = _frames(sent)
    assert reply.status == 200
    assert reply.body.startswith(frames)
    assert reply.end in ("whole", "closed")
    last = reply.events[-1]
    assert (last.name, last.json["type"], last.json["error"]["type"]) == ("error", "error", "overloaded_error")
    assert reply.names.count("error") == 1
    assert len(reply.body) - len(frames) < 400


@pytest.mark.parametrize("answer", CUTS, ids=range(len(CUTS)))
def test_row_6_a_stream_that_breaks_after_release_ends_with_an_error_event(shared: Pool, answer: Answer) -> None:
    """The client gets the whole frames so far, then one overloaded_error, then a clean end; nothing is sent again."""
    held = answer.wait("seen", after="content_block_start")
    shared.upstream.script("work", held)
    with shared.client() as client:
        client.send(request := shared.turn())
        reply = client.begin().until(BLOCK)
        shared.upstream.release("seen")
        reply.rest()
    _told_of_its_end(reply, answer.body)
    shared.saw(request, "work")
    assert shared.holds() == {}
    assert shared.logged()["ended"] == "cut"


def test_row_6_a_stream_whose_framing_breaks_ends_with_an_error_event(make: Make) -> None:
    """Chunks that lie are a break like any other."""
    pool = make("work", settings={"limits": {"gate_ms": 1}})
    for answer in (torn_chunk(), bad_chunk()):
        pool.upstream.script("work", answer)
        reply = pool.ask(pool.turn())
        assert (reply.status, reply.end) in {(200, "whole"), (529, "whole")}
        assert b"overloaded_error" in reply.body


@pytest.mark.parametrize("how", ["reset", "fin", "whole"])
@pytest.mark.parametrize("torn", [False, True])
def test_row_6_after_the_stop_reason_the_stream_counts_as_complete(shared: Pool, how: str, torn: bool) -> None:
    """Once a message_delta with a stop_reason has passed, a break costs nothing: no error event, and a success."""
    cut = {
        "reset": ok().cut("reset", after="message_delta", torn=torn),
        "fin": ok().cut("fin", after="message_delta", torn=torn),
    }
    answer = cut.get(how, ok().cut("whole", after="message_delta", torn=torn))
    shared.upstream.script("work", answer.wait("seen", after="content_block_stop"))
    with shared.client() as client:
        client.send(request := shared.turn())
        reply = client.begin().until(b"content_block_stop")
        shared.upstream.release("seen")
        reply.rest()
    assert "error" not in reply.names
    assert reply.body.startswith(_frames(answer.body))
    assert reply.names[-1] == "message_delta"
    shared.saw(request, "work")
    assert shared.logged()["ended"] == "complete"


def test_row_6_a_silent_stream_is_ended_after_the_idle_limit(make: Make) -> None:
    """Silence past stream_idle_s ends the stream with an error event, and the upstream connection."""
    pool = make("work", "home", settings={"limits": {"stream_idle_s": 0.3}})
    answer = ok("One two").cut("silence", after=DELTA, torn=True)
    pool.upstream.script("work", answer)
    reply = pool.ask(request := pool.turn())
    _told_of_its_end(reply, answer.body)
    assert pool.saw(request, "work")[0].fate.wait() == "left"


def test_row_6_pings_keep_a_stream_alive_but_not_past_its_total_limit(make: Make) -> None:
    """A stream that only pings outlives the idle limit many times over, and ends with an error event at the total one."""
    pool = make("work", "home", settings={"limits": {"stream_idle_s": 0.5, "stream_total_s": 1.2}})
    begun = ok("One").cut("silence", after=DELTA)
    ping = b": still here\n\n"
    answer = begun
    for _ in range(60):
        answer = answer.inserted(ping, after=2)
    pool.upstream.script("work", answer.gap(0.05))
    reply = pool.ask(request := pool.turn())
    assert (reply.status, reply.end, reply.events[-1].json["error"]["type"]) == (200, "whole", "overloaded_error")
    assert reply.body.count(ping) > 12
    assert 1.0 < reply.ended_at - reply.begun_at < 3.0
    assert pool.saw(request, "work")[0].fate.wait() == "left"


@pytest.mark.parametrize("coding", ["gzip", "br", "deflate", "zstd"])
def test_row_6_compressed_bytes_pass_as_they_come_and_are_cut_without_an_event(shared: Pool, coding: str) -> None:
    """What came compressed, though identity was asked, reaches the client unchanged, and nothing is added to a break."""
    codings = {"gzip": ok().encoded("gzip"), "br": ok().encoded("br"), "deflate": ok().encoded("deflate")}
    whole = codings.get(coding, ok().encoded("zstd"))
    shared.upstream.script("work", whole, whole.wait("seen", after=3).cut("reset", after=4))
    reply = shared.ask(shared.turn())
    assert (reply.status, reply.end, reply.header("content-encoding")) == (200, "whole", coding)
    assert reply.body == whole.body
    sent = b"".join(part for part in whole.parts if isinstance(part, bytes))
    with shared.client() as client:
        client.send(shared.turn())
        reply = client.begin().until(b"")
        shared.upstream.release("seen")
        reply.rest()
    assert reply.status == 200
    assert reply.body
    assert sent.startswith(reply.body)
    assert len(reply.body) < len(sent)


@pytest.mark.parametrize("kind", ["overloaded_error", "api_error", "rate_limit_error", "invalid_request_error"])
def test_row_25_an_error_event_after_release_is_relayed_as_it_came(shared: Pool, kind: str) -> None:
    """An error in mid-stream reaches the client to the byte, nothing is added, and the log calls the exchange cut."""
    answers = {
        "overloaded_error": stream_error("overloaded_error", after=DELTA),
        "api_error": stream_error("api_error", after=DELTA),
        "rate_limit_error": stream_error("rate_limit_error", after=DELTA),
    }
    answer = answers.get(kind, stream_error("invalid_request_error", after=DELTA))
    shared.upstream.script("work", answer)
    reply = shared.ask(request := shared.turn())
    assert (reply.status, reply.end, reply.body) == (200, "whole", answer.body)
    shared.saw(request, "work")
    assert shared.holds() == {}
    assert shared.logged()["ended"] == "cut"


@pytest.mark.parametrize("held", [True, False])
def test_row_25_a_limit_in_mid_stream_with_a_single_account_is_an_end(make: Make, held: bool) -> None:
    """A 429-shaped event behind the release, with nobody to hop to, is relayed and over: one request, no loop, no hold."""
    pool = make("work", settings={"limits": {"gate_ms": 1 if held else 300}})
    answer = stream_error("rate_limit_error", after="ping" if held else DELTA)
    answer = answer.wait("released", after="ping") if held else answer
    pool.upstream.script("work", answer)
    with pool.client() as client:
        client.send(request := pool.turn())
        reply = client.begin().until(b"message_start")
        pool.upstream.release("released")
        assert (reply.rest(timeout=3).body, reply.end) == (answer.body, "whole")
    pool.saw(request, "work")
    assert pool.holds() == {}
    assert pool.in_flight() == 0


def test_row_25_an_error_event_and_then_a_broken_connection(shared: Pool) -> None:
    """A break after an error event adds no second one."""
    answer = ok("One two").cut("whole", after=DELTA).inserted(error_event(), after=DELTA).cut("reset", after="error")
    shared.upstream.script("work", answer.wait("seen", after="error"))
    with shared.client() as client:
        client.send(shared.turn())
        reply = client.begin().until(b"overloaded_error")
        shared.upstream.release("seen")
        reply.rest()
    assert reply.body == answer.body
    assert reply.names.count("error") == 1
