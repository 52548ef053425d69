"""The judge: what an ended attempt means, and what the client would get of it."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mitmproxy import http

from addons.exchange import Answered, AttemptEnd, Exchange, Failed
from addons.judge import NOT_AN_ANSWER, judge
from addons.limits import head_of
from providers.anthropic import ANTHROPIC
from providers.contract import ErrorEvent, Reply, Usage
from routing.rules import Rules
from routing.transport import Failure
from routing.verdicts import Verdict
from routing.words import Demand, Family
from tests.addons.made import exchange, head
from tests.upstream import (
    bad_gateway,
    bad_request,
    bad_token,
    error_event,
    forbidden,
    limit,
    ok,
    ok_json,
    overage,
    overloaded,
    payment_required,
    server_error,
    throttle,
)
from tests.upstream.answer import Answer
from tests.upstream.messages import ErrorKind

DEMAND = Demand(provider="anthropic", model="claude-opus-5-5", family=Family("opus"))
WHOLE = Answered()

failures = st.sampled_from(Failure)
answers = [
    (bad_request(), 23),
    (bad_token(), 18),
    (forbidden(), 19),
    (payment_required(), 20),
    (limit("7d"), 13),
    (limit("7d_opus"), 12),
    (throttle(), 14),
    (overloaded(), 21),
    (server_error(), 22),
]


def judged(end: AttemptEnd, answer: Answer | None = None, **fields: Any) -> tuple[Verdict, Exchange]:
    """The verdict on an attempt, and its exchange."""
    response = None
    if answer is not None:
        response = head(answer)
        response.data.content = answer.body
    made = exchange(end=end, **fields)
    if answer is not None:  # as addons/limits.py leaves it
        made.verdict = ANTHROPIC.classify(head_of(head(answer)), DEMAND, made.rules, made.now())
    return judge(response, made, ANTHROPIC, DEMAND), made


def error_of(reply: Reply | None) -> tuple[int, str]:
    """Status and type of what the client would get."""
    assert reply is not None
    return reply.status, json.loads(reply.body)["error"]["type"]


@given(failures, st.booleans(), st.text(max_size=9), st.booleans())
def test_a_failure_is_transport(failure: Failure, timed_out: bool, why: str, ambiguous: bool) -> None:
    """Rows 1 to 4: the failure's own row; the client would get a gateway's error that allows another try."""
    verdict, made = judged(Failed(failure, why, timed_out), rules=Rules(ambiguous=ambiguous))

    assert (verdict.row, verdict.because) == (failure.value, why)
    status = 504 if timed_out else {Failure.EMPTY_STREAM: 529}.get(failure, 502)
    assert error_of(made.leftover)[0] == status
    assert made.leftover is not None
    assert "x-should-retry" not in dict(made.leftover.headers)


@pytest.mark.parametrize(("answer", "row"), answers)
def test_a_refusal_is_judged_by_its_whole_answer(answer: Answer, row: int) -> None:
    """A refused answer falls under its row, and is kept as the provider shapes it for the client."""
    verdict, made = judged(WHOLE, answer)

    assert verdict.row == row
    assert made.leftover is not None
    assert (made.leftover.status, made.leftover.body) == (answer.status, answer.body)
    assert not made.is_complete


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "zstd"])
@pytest.mark.parametrize(("answer", "row"), answers)
def test_a_compressed_refusal_is_read(answer: Answer, row: int, coding: Any) -> None:
    """A refusal that came compressed is judged by what it says, and kept as it came."""
    encoded = answer.encoded(coding)
    verdict, made = judged(WHOLE, encoded)

    assert verdict.row == row
    assert made.leftover is not None
    assert made.leftover.body == encoded.body
    assert dict(made.leftover.headers)["content-encoding"] == coding


@pytest.mark.parametrize(("answer", "row"), answers)
def test_a_refusal_that_broke_off_is_shaped_anew(answer: Answer, row: int) -> None:
    """Row 5: judged by what was read; the client would get that status with a whole body of ours."""
    verdict, made = judged(Answered(broken=True), answer)

    assert verdict.row == row
    assert error_of(made.leftover)[0] == answer.status


def test_a_page_becomes_the_vendors_shape() -> None:
    """Row 22: an edge's web page is not what the client's program can read."""
    verdict, made = judged(WHOLE, bad_gateway())

    assert verdict.row == 22
    assert error_of(made.leftover) == (502, "api_error")


def test_a_whole_answer_is_a_success() -> None:
    """Row 8: a whole JSON answer tells what it was charged with, and is relayed as it stands."""
    verdict, made = judged(WHOLE, ok_json("x"))

    assert (verdict.row, made.leftover, made.is_complete) == (8, None, True)
    assert made.usage == Usage(input=12, output=25, cache_read=9_000, cache_write_5m=100, cache_write_1h=700)


def test_a_compressed_answer_is_a_success() -> None:
    """Row 8: the charge is read from a compressed answer too."""
    verdict, made = judged(WHOLE, ok_json("x").encoded("gzip"))

    assert verdict.row == 8
    assert made.usage is not None


@given(st.data())
def test_a_json_answer_that_is_cut_is_broken(data: st.DataObject) -> None:
    """Row 3: of a JSON answer that is not whole nothing is relayed; the client gets a 502."""
    answer = ok_json("x")
    cut = answer.body[: data.draw(st.integers(1, len(answer.body) - 1))]
    response = head(answer)
    response.data.content = cut
    made = exchange(end=WHOLE)

    assert judge(response, made, ANTHROPIC, DEMAND).row == 3
    assert error_of(made.leftover) == (502, "api_error")
    assert not made.is_complete


def test_a_2xx_that_is_no_answer() -> None:
    """Neither JSON nor an event stream: 502, no hop, no hold."""
    verdict, made = judged(Answered(unread=True), ok("x").having(("content-type", "text/html")))

    assert verdict == NOT_AN_ANSWER
    assert (verdict.hop.value, verdict.hold, verdict.same) == ("no", None, ())
    assert error_of(made.leftover) == (502, "api_error")


def test_paid_overage_is_judged_by_its_head() -> None:
    """Row 9: of what was served for pay nothing is read, and nothing stands in for it."""
    verdict, made = judged(Answered(unread=True), overage(ok("x")))

    assert (verdict.row, made.leftover, made.may_resume) == (9, None, True)


@pytest.mark.parametrize(
    ("kind", "word", "status"),
    [
        ("overloaded_error", "overloaded", 529),
        ("api_error", "server", 502),
        ("timeout_error", "server", 502),
        ("rate_limit_error", "bare", 429),
        ("authentication_error", "auth", 502),
        ("permission_error", "forbidden", 502),
        ("invalid_request_error", "client_fault", 400),
    ],
)
def test_a_stream_that_began_with_an_error(kind: ErrorKind, word: str, status: int) -> None:
    """Row 24: judged as the row of its type; an error of ours stands ready for when the stream is gone.

    A login's own status is never given to the client, which would drop its login.
    """
    data = error_event(kind).split(b"data: ")[1].strip()
    verdict, made = judged(ErrorEvent(data=data), ok("x"))

    assert (verdict.row, verdict.kind.value, verdict.left.value) == (24, word, "relay")
    assert error_of(made.leftover)[0] == status
    assert made.may_resume


@pytest.mark.parametrize("answer", [ok_json("x"), ok("x")])
def test_an_empty_2xx_is_no_success(answer: Answer) -> None:
    """Rows 3 and 4: a body that never came is not a whole answer, whatever the head promised."""
    response = head(answer)
    response.data.content = b""
    made = exchange(end=WHOLE)

    assert judge(response, made, ANTHROPIC, DEMAND).row in {3, 4}
    assert not made.is_complete


def test_only_what_ended_is_judged() -> None:
    """An attempt in flight has no verdict."""
    with pytest.raises(AssertionError, match="ended"):
        judge(http.Response.make(200), exchange(), ANTHROPIC, DEMAND)
