"""Rows 21 to 24 of docs/verdicts.md: the vendor's own trouble, the request's own fault, and errors that begin a stream."""

from __future__ import annotations

import pytest

from tests.e2e.conftest import Make
from tests.e2e.pool import Pool, about
from tests.upstream import (
    Answer,
    as_json,
    bad_gateway,
    bad_request,
    html_200,
    ok_json,
    overloaded,
    padded,
    redirect,
    server_error,
    stream_error,
    throttle,
)
from tests.upstream.messages import ErrorKind

OTHERS = [bad_request("no", status) for status in (400, 404, 405, 409, 413, 415, 422, 451)] + [
    redirect(),
    redirect(status=304),
]


# -- rows 21, 22 ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [529, 503])
def test_row_21_overload_is_waited_out_on_the_same_account(shared: Pool, status: int) -> None:
    """A 529, or a 5xx that says overloaded_error, is asked again twice with rising waits; then the turn is good."""
    shared.upstream.script("work", overloaded(status), overloaded(status))
    reply = shared.ask(request := shared.turn())
    assert (reply.status, reply.end, reply.text) == (200, "whole", "This is work speaking.")
    first, second, third = shared.saw(request, "work", "work", "work")
    assert second.at - first.at >= 0.05
    assert third.at - second.at >= 0.1
    assert shared.holds() == {}


def test_row_21_overload_on_two_accounts_is_six_requests(shared: Pool) -> None:
    """Three on each, one shared hop, the third account is left alone; the last 529 is relayed, retry-after at most 60."""
    shared.upstream.default("work", overloaded())
    shared.upstream.default("home", answer := overloaded(retry_after=600))
    reply = shared.ask(request := shared.turn())
    assert (reply.status, reply.end, reply.body) == (529, "whole", answer.body)
    assert reply.header("retry-after") == "60"
    shared.saw(request, *["work"] * 3, *["home"] * 3)
    assert shared.holds() == {}


@pytest.mark.parametrize("answer", [server_error(), bad_gateway()], ids=["json", "html"])
def test_row_22_a_server_error_is_asked_again_once_and_hops_once(shared: Pool, answer: Answer) -> None:
    """Two requests on each of two accounts; what is relayed at the end is JSON in the vendor's shape with that status."""
    shared.upstream.default("work", answer)
    shared.upstream.default("home", answer.having(("retry-after", "3600")))
    reply = shared.ask(request := shared.turn())
    assert (reply.status, reply.end, reply.error[0]) == (answer.status, "whole", "api_error")
    assert reply.header("content-type") == "application/json"
    assert reply.header("retry-after") == "60"
    shared.saw(request, "work", "work", "home", "home")
    assert shared.holds() == {}


def test_row_22_a_server_error_that_passes_is_invisible(shared: Pool) -> None:
    """The same account is asked once more after a wait, and its good turn is all that the client sees."""
    shared.upstream.script("work", server_error())
    reply = shared.ask(request := shared.turn(stream=False))
    assert (reply.status, reply.text) == (200, "This is work speaking.")
    first, second = shared.saw(request, "work", "work")
    assert second.at - first.at >= 0.05


def test_row_22_should_retry_false_is_relayed_at_once(shared: Pool) -> None:
    """Where the vendor says that another try is useless, there is none."""
    shared.upstream.script("work", answer := server_error(should_retry=False))
    reply = shared.ask(request := shared.turn())
    assert (reply.status, reply.body) == (500, answer.body)
    assert reply.header("x-should-retry") == "false"
    shared.saw(request, "work")


# -- bounds --------------------------------------------------------------------------------------------------------


def test_bounds_rows_that_say_one_hop_share_it(shared: Pool) -> None:
    """After a hop for a 500, a 529 on the second account does not hop again."""
    shared.upstream.default("work", server_error())
    shared.upstream.default("home", answer := overloaded())
    reply = shared.ask(request := shared.turn())
    assert (reply.status, reply.body) == (529, answer.body)
    shared.saw(request, *["work"] * 2, *["home"] * 3)


def test_bounds_tries_of_one_account_are_one_counter_over_all_rows(shared: Pool) -> None:
    """A 529 and then a 500 on the same account: the 500 finds its only try used up, and hops."""
    shared.upstream.script("work", overloaded(), server_error())
    reply = shared.ask(request := shared.turn())
    assert reply.text == "This is home speaking."
    shared.saw(request, "work", "work", "home")


def test_bounds_waits_between_tries_share_a_budget(make: Make) -> None:
    """A retry-after that no longer fits what is left of the budget counts as a longer one: hold, and one hop."""
    pool = make("work", "home", settings={"retry": {"budget_s": 1.5}})
    pool.upstream.script("work", throttle(1), throttle(1))
    reply = pool.ask(request := pool.turn())
    assert reply.text == "This is home speaking."
    pool.saw(request, "work", "work", "home")
    assert pool.holds() == {"work": [("account", 14, about(1, 1.5))]} or pool.holds() == {}


def test_bounds_at_most_a_mebibyte_of_a_refused_body_is_read(shared: Pool) -> None:
    """Of a refusal of 40 MiB the beginning is enough: it is judged, the connection is closed, the proxy goes on."""
    big = padded(server_error(), 40 * 1024 * 1024).slow_start(0.0)
    shared.upstream.script("work", big)
    with shared.client() as client:
        request = shared.turn()
        reply = client.ask(request)
        assert (reply.status, reply.text) == (200, "This is work speaking.")
        received = shared.saw(request, "work", "work")
        assert received[0].fate.wait() == "left"
        assert client.ask(shared.turn()).status == 200


def test_bounds_a_client_fault_of_two_mebibytes_keeps_its_status(shared: Pool) -> None:
    """A relayed refusal that is over the mebibyte comes as a whole vendor-shaped JSON with that status."""
    shared.upstream.script("work", padded(bad_request(), 2 * 1024 * 1024))
    reply = shared.ask(request := shared.turn())
    assert (reply.status, reply.end, reply.error[0]) == (400, "whole", "invalid_request_error")
    shared.saw(request, "work")


# -- row 23 --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("answer", OTHERS, ids=lambda answer: answer.label)
def test_row_23_the_request_s_own_fault_is_relayed_unchanged(shared: Pool, answer: Answer) -> None:
    """Nobody is blamed and nobody else is asked: status, headers and body come as they were."""
    shared.upstream.script("work", answer)
    reply = shared.ask(request := shared.turn())
    assert (reply.status, reply.end, reply.body) == (
        answer.status,
        "whole",
        answer.body if answer.status != 304 else b"",
    )
    for name, value in answer.headers:
        assert reply.header(name) == value
    shared.saw(request, "work")
    assert shared.holds() == {}


def test_row_23_an_early_refusal_of_a_large_body_is_relayed(shared: Pool) -> None:
    """A 413 that comes while the body is still being written reaches the client as it came."""
    answer = bad_request("too large", 413).at_once()
    shared.upstream.script("work", answer)
    reply = shared.ask(shared.turn(extra={"padding": "x" * 3_000_000}))
    assert (reply.status, reply.body) == (413, answer.body)


# -- row 24 --------------------------------------------------------------------------------------------------------

FIRST: dict[ErrorKind, list[str]] = {
    "overloaded_error": ["work"] * 3 + ["home"] * 3,
    "api_error": ["work"] * 2 + ["home"] * 2,
    "timeout_error": ["work"] * 2 + ["home"] * 2,
    "rate_limit_error": ["work", "home"],
    "invalid_request_error": ["work"],
}


@pytest.mark.parametrize("kind", FIRST)
def test_row_24_an_error_as_the_first_event_is_judged_as_its_type(shared: Pool, kind: ErrorKind) -> None:
    """It is tried again as its row says, without the client seeing it; at the end the stream is relayed as it came."""
    answer = stream_error(kind).inserted(b": hello\n\n").named(kind)
    shared.upstream.default("work", answer)
    shared.upstream.default("home", answer)
    reply = shared.ask(request := shared.turn())
    assert (reply.status, reply.end, reply.body) == (200, "whole", answer.body)
    shared.saw(request, *FIRST[kind])
    assert shared.holds() == {}


@pytest.mark.parametrize("kind", ["overloaded_error", "api_error", "rate_limit_error"])
def test_row_24_an_error_as_the_first_event_that_passes_is_invisible(shared: Pool, kind: ErrorKind) -> None:
    """A good turn after it is all that the client sees."""
    shared.upstream.script("work", stream_error(kind))
    reply = shared.ask(request := shared.turn())
    account = "home" if kind == "rate_limit_error" else "work"
    assert (reply.status, reply.end, reply.text) == (200, "whole", f"This is {account} speaking.")
    assert "error" not in reply.names
    shared.saw(request, "work", account)


def test_row_24_a_login_or_permission_error_as_the_first_event_holds_and_hops(make: Make) -> None:
    """authentication_error holds the account as row 18 does, permission_error account and family as row 19 does."""
    pool = make("work", "home", "third")
    pool.upstream.script("work", stream_error("authentication_error"))
    pool.upstream.script("home", stream_error("permission_error"))
    reply = pool.ask(request := pool.turn())
    assert (reply.status, reply.text) == (200, "This is third speaking.")
    pool.saw(request, "work", "home", "third")
    held = {name: [(scope, left) for scope, _, left in holds] for name, holds in pool.holds().items()}
    assert held == {"work": [("account", about(900))], "home": [("opus", about(600))]}


# -- a 2xx that is no answer ---------------------------------------------------------------------------------------


def test_a_2xx_that_is_neither_json_nor_a_stream_is_502(shared: Pool) -> None:
    """A captive portal's page is a retryable 502 without hop or hold."""
    for answer in (html_200(), as_json("bin", {}).having(("content-type", "application/octet-stream"))):
        shared.upstream.reset()
        shared.upstream.script("work", answer)
        reply = shared.ask(request := shared.turn())
        assert (reply.status, reply.end, reply.error[0]) == (502, "whole", "api_error")
        assert reply.header("x-should-retry") is None
        shared.saw(request, "work")
    assert shared.holds() == {}


def test_a_json_answer_to_a_stream_request_is_relayed(shared: Pool) -> None:
    """The client asked for a stream, the vendor answered in JSON: the client gets it to the byte."""
    shared.upstream.script("work", answer := ok_json("All at once."))
    reply = shared.ask(request := shared.turn())
    assert (reply.status, reply.end, reply.body) == (200, "whole", answer.body)
    shared.saw(request, "work")
    assert shared.logged()["ended"] == "complete"
