"""Limits: what the head of an answer tells the Router, and how the rest is to be read."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mitmproxy import http

from addons.exchange import EXCHANGES, Course, Path
from addons.limits import head_of, request_head
from routing.rules import Overage, Routing
from routing.words import AccountId
from tests.addons.made import flow, head, known, request
from tests.addons.stories import Pool
from tests.upstream import bad_token, bare, classic, healthy, limit, ok, ok_json, overage, overloaded, stream_error
from tests.upstream.answer import Answer

HTML = ok_json("x").having(("content-type", "text/html"))
NO_TYPE = ok_json("x").without("content-type")

COURSES = [
    ("a stream", ok("x"), Course.GATE, 8),
    ("a stream that will begin with an error", stream_error(), Course.GATE, 8),
    ("JSON", ok_json("x"), Course.WHOLE, 8),
    ("JSON by another name", ok_json("x").having(("content-type", "Application/Problem+JSON")), Course.WHOLE, 8),
    ("a stream, in capitals", ok("x").having(("content-type", "TEXT/EVENT-STREAM")), Course.GATE, 8),
    ("a page", HTML, Course.UNREAD, None),
    ("nobody knows what", NO_TYPE, Course.UNREAD, None),
    ("a paid stream", overage(ok("x")), Course.UNREAD, None),
    ("paid JSON", overage(ok_json("x")), Course.UNREAD, None),
    ("a limit", limit("7d"), Course.WHOLE, None),
    ("a refused login", bad_token(), Course.WHOLE, None),
    ("an overload", overloaded(), Course.WHOLE, None),
]


@pytest.mark.parametrize(("answer", "course", "row"), [case[1:] for case in COURSES], ids=[case[0] for case in COURSES])
def test_the_head_says_how_an_answer_is_read(answer: Answer, course: Course, row: int | None) -> None:
    """A good stream goes through the gate, JSON and refusals are read whole, what is good by status alone is not read."""
    turn = Pool("work").asks().sent_on("work").begins(answer)

    assert turn.exchange.course is course
    assert (turn.exchange.verdict.row if turn.exchange.verdict else None) == row


@pytest.mark.parametrize("answer", [ok("x"), ok_json("x"), limit("7d"), HTML, overage(ok("x"))])
def test_readings_are_taken_whatever_the_status(answer: Answer) -> None:
    """The windows that an answer reports are read from its head, before anything is judged."""
    keys = [reading.window.key for reading in Pool("work").asks().sent_on("work").begins(answer).exchange.readings]

    assert keys == ["5h", "7d"]


@pytest.mark.parametrize(
    ("answer", "shown"), [(ok("x"), ["5h", "7d"]), (ok("x", headers=()), []), (HTML, []), (limit("7d"), [])]
)
def test_a_good_head_is_observed_at_once(answer: Answer, shown: list[str]) -> None:
    """The Router learns of a good answer while it still streams; of every other one when it is judged."""
    turn = Pool("work").asks().sent_on("work").begins(answer)

    assert [window.key for window in turn.pool.account("work").windows] == shown


def test_a_good_head_lifts_a_hold() -> None:
    """An account that answers again is no longer held, before its answer has ended."""
    pool = Pool("work")
    early, late = pool.asks().sent_on("work"), pool.asks().sent_on("work")
    early.gets(limit("7d"))
    assert pool.holds("work") == [("account", 13)]

    late.exchange.sent_at = datetime.now(UTC)
    late.begins(ok("x", headers=healthy()))
    assert pool.holds("work") == []


def test_overage_may_be_allowed() -> None:
    """With routing.overage = "allow" a paid answer is an answer."""
    pool = Pool("work", routing=Routing(overage=Overage.ALLOW))
    turn = pool.asks().sent_on("work").begins(overage(ok("x")))

    assert turn.exchange.course is Course.GATE


def test_each_attempt_is_read_anew() -> None:
    """What the head of an earlier attempt said is forgotten with it."""
    turn = Pool("work", "home").asks().sent_on("work").begins(ok("x"))
    turn.begins(bare())

    assert (turn.exchange.course, turn.exchange.verdict, turn.exchange.readings) == (Course.WHOLE, None, ())


@pytest.mark.parametrize(("answer", "course"), [(ok("x"), Course.STREAM), (bad_token(), Course.WHOLE)])
def test_on_the_clients_own_credential_a_heartbeats_client_gets_no_body_but_a_streams(
    answer: Answer, course: Course
) -> None:
    """Its accounts were removed while it waited: what is no stream is read whole, to be told as an event."""
    turn = Pool().asks().sent_on("client")
    turn.exchange.beats = 1

    assert turn.begins(answer).exchange.course is course


@pytest.mark.parametrize("answer", [ok("x"), limit("7d"), bad_token(), HTML])
def test_on_the_clients_own_credential_everything_streams(answer: Answer) -> None:
    """Own answer G: the client gets each answer as it comes; its windows are followed under its own name."""
    turn = Pool().asks().sent_on("client").begins(answer)

    assert turn.exchange.course is Course.STREAM
    assert turn.exchange.verdict is not None
    assert len(turn.pool.account("client").windows) == len(turn.exchange.readings)


@pytest.mark.parametrize("answer", [ok("x"), limit("7d"), HTML])
def test_what_passes_is_not_read(answer: Answer) -> None:
    """Another path's answer streams, and nothing is learnt from it."""
    turn = Pool("work").asks(request("GET", "/v1/models")).sent_on("client").begins(answer)

    assert (turn.exchange.course, turn.exchange.verdict, turn.exchange.readings) == (Course.STREAM, None, ())


@pytest.mark.parametrize("fields", [None, {}, {"account": AccountId("work")}])
def test_what_was_never_sent_has_no_answer_to_read(fields: dict[str, AccountId] | None) -> None:
    """Answers of our own, and flows that admission never saw, are left alone."""
    made = flow()
    made.response = head(ok("x"))
    if fields is not None:
        known(made, Path.POOLED, **fields)

    Pool("work").limits.responseheaders(made)
    assert made not in EXCHANGES or EXCHANGES[made].course is Course.WHOLE


def test_a_flow_without_a_response_is_left_alone() -> None:
    """Where there is no head there is nothing to read."""
    made = flow()
    known(made, sent_at=datetime.now(UTC))

    Pool("work").limits.responseheaders(made)
    assert EXCHANGES[made].readings == ()


def test_a_keys_limits_are_no_windows() -> None:
    """The classic headers of an API key make no reading."""
    assert Pool("work").asks().sent_on("work").begins(ok("x", headers=classic())).exchange.readings == ()


names = st.sampled_from([b"X-A", b"x-a", b"X-B", b"x-c"])
values = st.binary(max_size=4)


@given(st.lists(st.tuples(names, values), max_size=8))
def test_heads_are_read_by_their_first_values(fields: list[tuple[bytes, bytes]]) -> None:
    """Of a repeated name the first value counts, whatever its case and its bytes."""
    made = http.Response.make(200)
    made.headers = http.Headers(fields)
    wanted: dict[str, str] = {}
    for name, value in fields:
        wanted.setdefault(name.decode().lower(), value.decode("latin-1"))

    assert head_of(made).headers == wanted
    assert request_head(request("PUT", "/a?b", headers=fields)).headers == wanted


def test_a_requests_head_has_its_method_and_path() -> None:
    """The path keeps its query."""
    seen = request_head(request("PUT", "/a?b=1"))

    assert (seen.method, seen.path) == ("PUT", "/a?b=1")
