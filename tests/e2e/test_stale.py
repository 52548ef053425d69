"""Row 2 of docs/verdicts.md: a keep-alive connection that was gone before the request was written to it."""

from __future__ import annotations

import time

from tests.e2e.conftest import Make
from tests.upstream import drop, ok, stale

EASY = {"retry": {"stale_s": 0.2}}
STRICT = {"retry": {"stale_s": 5}}


def _idle(begun: float, seconds: float) -> None:
    """Let a connection be idle for so long: the time itself is what is tested."""
    time.sleep(max(0.0, begun + seconds - time.monotonic()))


def test_row_2_a_request_on_a_connection_that_was_gone_is_sent_again(make: Make) -> None:
    """The idle connection ends at once: the same account gets the same request on a new one, and nobody is blamed."""
    pool = make("work", "home", settings=EASY)
    with pool.client() as client:
        request = pool.turn()
        assert client.ask(request).status == 200
        pool.upstream.script("work", stale(), ok("Here again."))
        _idle(time.monotonic(), 0.3)
        reply = client.ask(request)
    assert (reply.status, reply.text) == (200, "Here again.")
    assert pool.upstream.requests.accounts() == ["work", "work", "work"]
    assert pool.holds() == {}


def test_row_2_happens_once_then_it_is_row_3(make: Make) -> None:
    """A new connection that ends too was not stale: the client may decide."""
    pool = make("work", "home", settings=EASY)
    with pool.client() as client:
        assert client.ask(pool.turn()).status == 200
        pool.upstream.script("work", stale(), drop("fin"))
        _idle(time.monotonic(), 0.3)
        reply = client.ask(pool.turn())
    assert (reply.status, reply.error[0]) == (502, "api_error")
    assert pool.upstream.requests.accounts() == ["work", "work", "work"]


def test_row_2_does_not_take_a_busy_connection(make: Make) -> None:
    """A connection that was in use a moment ago and ends was not idle: row 3, nothing is sent again."""
    pool = make("work", "home", settings=STRICT)
    with pool.client() as client:
        assert client.ask(pool.turn()).status == 200
        pool.upstream.script("work", stale())
        reply = client.ask(pool.turn())
    assert (reply.status, reply.error[0]) == (502, "api_error")
    assert pool.upstream.requests.accounts() == ["work", "work"]
