"""The request log: one line per request, and what stands in it."""

import asyncio
import json
import logging
import re
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from addons.exchange import Ended, Path
from addons.requestlog import RequestLog, ended
from routing.transport import Failure
from routing.words import AccountId
from tests.addons.made import CLIENT_TOKEN, error_of, exchange, flow, head, request, token
from tests.addons.stories import Pool, Turn
from tests.addons.test_route import NO_RETRY, WAITLESS
from tests.upstream import bad_request, bad_token, forbidden, limit, ok, ok_json, overloaded, stream_error

KEYS = [
    "at", "id", "conversation", "model", "path", "account", "because", "tried", "status", "first_byte_ms", "total_ms",
    "usage", "answer", "ended",
]  # fmt: skip


def ok_turn() -> Turn:
    """A turn that was refused once and then served."""
    turn = Pool("work", "home").asks(request(path="/v1/messages?beta=true")).sent_on("work").gets(limit("7d"))
    turn.sent_on("home").exchange.first_byte = turn.exchange.began + 0.25
    return turn.streams(ok("x"))


def cut_turn() -> Turn:
    """A turn whose stream ended early."""
    return Pool("work").asks().sent_on("work").streams(ok("x y").cut("whole", after="content_block_delta"))


def error_turn() -> Turn:
    """A turn whose stream ended in an error of the vendor's."""
    return Pool("work").asks().sent_on("work").streams(stream_error(after="content_block_delta"))


STORIES = {
    "a stream": (ok_turn, "complete", None, 200),
    "a whole answer": (
        lambda: Pool("work").asks().sent_on("work").gets(ok_json("x")).relays(200),
        "complete",
        None,
        200,
    ),
    "a cut stream": (cut_turn, "cut", None, 200),
    "an error in a stream": (error_turn, "cut", None, 200),
    "a refusal": (lambda: Pool("work").asks().sent_on("work").gets(bad_request()).relays(400), "refused", None, 400),
    "a limit": (
        lambda: Pool("work", wait=WAITLESS).asks().sent_on("work").gets(limit("7d")).relays(429, "A"),
        "refused",
        "A",
        429,
    ),
    "no answer": (
        lambda: Pool("work", retry=NO_RETRY).asks().sent_on("work").fails(Failure.BROKEN).relays(502),
        "refused",
        None,
        502,
    ),
    "none enabled": (lambda: Pool("work", enabled=False).asks().relays(503, "C"), "refused", "C", 503),
    "a client that left": (lambda: Pool("work").asks().sent_on("work").breaks(), "client_left", None, None),
    "a stream that was left": (
        lambda: Pool("work").asks().sent_on("work").begins(ok("x")).breaks(),
        "client_left",
        None,
        200,
    ),
    "killed": (lambda: Pool("work").asks().sent_on("work").breaks(client_left=False), "refused", None, None),
    "the client's own": (lambda: Pool().asks().sent_on("client").streams(ok("x")), "complete", "G", 200),
    "another path": (
        lambda: Pool("work").asks(request("GET", "/v1/models")).sent_on("client").begins(ok_json("x")).responds(),
        "passed",
        None,
        200,
    ),
}


SERVED = {
    "a stream": "home",
    "a limit": None,
    "no answer": None,
    "none enabled": None,
    "a client that left": None,
    "killed": None,
    "the client's own": "client",
    "another path": "client",
}


@pytest.mark.parametrize("story", STORIES)
def test_the_account_is_who_served(story: str) -> None:
    """Whose answer the client got, a refusal included; nobody where it got none, or one of our own."""
    assert STORIES[story][0]().line["account"] == SERVED.get(story, "work")


def test_an_earlier_answer_is_its_own_account_s() -> None:
    """Where the last account's login was refused, the answer before it is relayed: that account gave it."""
    turn = Pool("work", "home").asks().sent_on("work").gets(forbidden()).sent_on("home").gets(bad_request())
    assert turn.relays(400).line["account"] == "home"

    turn = Pool("work", "home", retry=NO_RETRY).asks().sent_on("work").gets(overloaded())
    assert turn.sent_on("home").gets(bad_token()).relays(529).line["account"] == "work"


def test_a_fault_of_ours_is_nobody_s_answer() -> None:
    """A hook that failed answers for itself, whoever was asked."""
    turn = Pool("work").asks().sent_on("work").begins(ok("x"))
    turn.exchange.faulty = True
    assert turn.responds().line["account"] is None


@pytest.mark.parametrize("story", STORIES)
def test_each_end_has_its_word(story: str) -> None:
    """How an exchange ended, what the client got, and which of our own answers it was."""
    play, end, answer, status = STORIES[story]
    line = play().line

    assert list(line) == KEYS
    assert (line["ended"], line["answer"], line["status"]) == (end, answer, status)


@given(st.booleans(), st.sampled_from(Path), st.none() | st.sampled_from([200, 204, 302, 404, 529]), st.booleans())
def test_an_end_is_one_of_five(left: bool, path: Path, status: int | None, is_complete: bool) -> None:
    """Only a 2xx is complete or cut; a client that left, then a request that passed, are told before all else."""
    made = flow()
    made.response = None if status is None else head(ok_json("x"))
    if made.response is not None and status is not None:
        made.response.status_code = status

    end = ended(made, exchange(path, client_left=left, is_complete=is_complete))
    assert (end is Ended.CLIENT_LEFT) is left
    assert left or (end is Ended.PASSED) is (path is Path.PASSED)
    if not left and path is not Path.PASSED:
        assert (end in {Ended.COMPLETE, Ended.CUT}) is (status in {200, 204})
        assert end is not Ended.COMPLETE or is_complete


def test_a_line_tells_the_whole_exchange() -> None:
    """Who asked for what, who was tried with what result, who served and why, when, and for what charge."""
    turn = ok_turn()
    line = turn.line

    assert line["tried"] == [
        {"account": "work", "status": 429, "row": 13, "verdict": "limit"},
        {"account": "home", "status": 200, "row": 8, "verdict": "ok"},
    ]
    assert (line["account"], line["path"], line["model"]) == ("home", "/v1/messages", "claude-opus-5-5")
    assert line["because"].startswith("hop: work refused")
    assert line["id"] == turn.exchange.id
    assert line["conversation"]
    assert line["usage"] == {
        "input": 12, "output": 25, "cache_read": 9_000, "cache_write_5m": 100, "cache_write_1h": 700,
    }  # fmt: skip
    assert line["usage"] == asdict(turn.exchange.usage) if turn.exchange.usage else False
    assert line["first_byte_ms"] == 250.0
    assert 0 <= line["total_ms"] < 60_000
    assert datetime.fromisoformat(line["at"]).utcoffset() == timedelta()
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00", line["at"])


def test_what_is_not_known_is_null() -> None:
    """A request that was answered before anybody looked into it has no model, account, charge or first byte."""
    turn = Pool("work", enabled=False).asks()
    turn.exchange.demand = None
    line = turn.line

    assert [line[key] for key in ("conversation", "model", "account", "first_byte_ms", "usage", "tried")] == [
        None, None, None, None, None, [],
    ]  # fmt: skip


def test_an_account_that_is_gone_is_told_by_its_id() -> None:
    """The line names accounts by their names; one that was removed meanwhile by its id."""
    turn = Pool("work").asks()
    turn.exchange.served = AccountId("removed")

    assert turn.line["account"] == "removed"


def logged(caplog: pytest.LogCaptureFixture) -> list[dict[str, object]]:
    """The lines of the request log."""
    return [json.loads(r.getMessage()) for r in caplog.records if r.name == "flowpool.requests"]


@pytest.mark.parametrize("ends", ["response error", "error response error", "response response"])
def test_an_exchange_is_logged_once(caplog: pytest.LogCaptureFixture, ends: str) -> None:
    """However its end is reported, an exchange has one line, and that is one line of text."""
    caplog.set_level(logging.INFO, "flowpool.requests")
    turn = Pool("work").asks().sent_on("work").begins(ok("x"))
    for end in ends.split():
        turn.responds() if end == "response" else turn.breaks()

    assert [line["id"] for line in logged(caplog)] == [turn.exchange.id]
    assert "\n" not in caplog.records[-1].getMessage()


def test_every_sink_gets_the_line(caplog: pytest.LogCaptureFixture) -> None:
    """The same document as the log's, once."""
    first, second = list[dict[str, Any]](), list[dict[str, Any]]()
    turn = ok_turn()
    turn.exchange.is_logged = False
    with caplog.at_level(logging.INFO, "flowpool.requests"):
        RequestLog(turn.pool.accounts, first.append, second.append).response(turn.flow)

    assert first == second == [json.loads(caplog.messages[-1])]


def test_lines_wait_a_moment_for_others(caplog: pytest.LogCaptureFixture) -> None:
    """In a running proxy nobody waits for the writing of a line; the end writes what waits."""
    caplog.set_level(logging.INFO, "flowpool.requests")
    turn = ok_turn()
    caplog.clear()
    log = RequestLog(turn.pool.accounts)

    async def two() -> None:
        log.running()
        for _ in range(2):
            turn.exchange.is_logged = False
            log.response(turn.flow)
        assert logged(caplog) == []
        log.done()

    asyncio.run(two())
    assert [line["id"] for line in logged(caplog)] == 2 * [turn.exchange.id]


def test_our_own_paths_are_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    """Asking for the status, or for nothing that admission saw, leaves no line."""
    caplog.set_level(logging.INFO, "flowpool.requests")
    pool = Pool("work")
    status, unseen = flow(request("GET", "/_flowpool/status")), flow()
    pool.admit.requestheaders(status)
    for made in (status, unseen):
        pool.log.response(made)
        pool.log.error(made)

    assert logged(caplog) == []


REFUSED = [
    (request(headers=[(b"host", b"evil.example")]), "E", 400),
    (request(path="/v1/v1/messages"), "F", 404),
]


@pytest.mark.parametrize(("asked", "answer", "status"), REFUSED)
def test_a_request_that_is_not_let_in_is_logged_too(
    caplog: pytest.LogCaptureFixture, asked: object, answer: str, status: int
) -> None:
    """Own answers E and F have their line: a wrong base URL is just what one looks for in the log."""
    caplog.set_level(logging.INFO, "flowpool.requests")
    pool, made = Pool("work"), flow(asked)  # type: ignore[arg-type]
    pool.admit.requestheaders(made)
    pool.log.response(made)

    assert [(line["answer"], line["status"], line["ended"]) for line in logged(caplog)] == [(answer, status, "refused")]
    assert str(logged(caplog)[0]["because"]) in error_of(made.response)[2]
    assert logged(caplog)[0]["because"]


@pytest.mark.parametrize("story", STORIES)
def test_a_line_holds_no_secret_and_nothing_that_was_said(story: str) -> None:
    """Neither a credential, nor the question, nor the answer is in the log."""
    line = json.dumps(STORIES[story][0]().line)

    assert not [
        secret for secret in (CLIENT_TOKEN, token("work"), token("home"), "hello", "session-1") if secret in line
    ]


@pytest.mark.parametrize(
    ("beats", "says"), [(0, ""), (1, "; 1 heartbeat while it waited"), (3, "; 3 heartbeats while it waited")]
)
def test_a_client_that_was_told_to_wait_is_counted(beats: int, says: str) -> None:
    """How often, behind the reason; a refusal that such a client was told inside its stream is one all the same."""
    turn = ok_turn()
    turn.exchange.beats = beats
    assert turn.line["because"] == turn.exchange.because + says
    turn.exchange.is_told = True

    assert ended(turn.flow, turn.exchange) is Ended.REFUSED
