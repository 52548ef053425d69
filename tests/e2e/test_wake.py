"""X68: this machine slept. What was connected leads nowhere; what was on its way and is lost is nobody's fault."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from tests.e2e.conftest import Make
from tests.e2e.pool import BLOCK, Pool
from tests.e2e.tunnelled import Tunnelled
from tests.upstream import Answer, Received, Reply, closed_port, limit, ok, ok_json, silent
from tests.upstream.asks import count_tokens

ASLEEP = ("-s", str(Path(__file__).with_name("asleep.py")))


def sleep(pool: Pool) -> None:
    """Have the proxy's machine sleep for a minute, in an instant."""
    os.kill(pool.proxy.pid, signal.SIGUSR1)
    pool.proxy.wait_log("this machine slept for 60 s")


def dead(first: int) -> Reply:
    """What an upstream says on a connection that no longer leads to it: nothing, and no end either."""

    def answer(received: Received) -> Answer:
        return silent() if received.connection == first else ok("Awake.")

    return answer


def test_an_idle_connection_is_not_used_again(make: Make) -> None:
    """The socket was dropped without a word; after the sleep a new one is made, and the turn takes no longer than ever."""
    pool = make("work", "home", args=ASLEEP)
    with pool.client() as client:
        assert client.ask(pool.turn()).status == 200
        first = pool.upstream.requests[0].connection
        sleep(pool)
        pool.upstream.script("work", dead(first))
        assert client.ask(pool.turn()).text == "Awake."
    assert pool.upstream.requests[1].connection != first
    assert pool.upstream.requests.accounts() == ["work", "work"]


def test_an_idle_connection_is_not_used_again_inside_a_tunnel(make: Make) -> None:
    """Where clients come by HTTPS_PROXY it is the same."""
    pool = make("work", "home", args=ASLEEP, settings={"listen": {"forward": f"127.0.0.1:{closed_port()}"}})
    with Tunnelled(pool.proxy.forward, pool.proxy.ca) as client:
        assert client.ask(pool.turn()).status == 200
        first = pool.upstream.requests[0].connection
        sleep(pool)
        pool.upstream.script("work", dead(first))
        assert client.ask(pool.turn()).text == "Awake."
    assert pool.upstream.requests.accounts() == ["work", "work"]


@pytest.mark.parametrize("stream", [True, False])
def test_a_request_that_was_on_its_way_is_sent_again(make: Make, stream: bool) -> None:
    """Its connection breaks after the sleep: the same account gets the same request on a new one, and nobody is blamed."""
    pool = make("work", "home", args=ASLEEP)
    answer = ok("Lost.") if stream else ok_json("Lost.")
    pool.upstream.script("work", answer.late("never"), ok("Awake.") if stream else ok_json("Awake."))
    with pool.client() as client:
        client.send(request := pool.turn(stream=stream))
        pool.upstream.requests.wait_for(1)
        sleep(pool)
        pool.upstream.close_connections(reset=True)
        reply = client.begin().rest()
    assert (reply.status, reply.text) == (200, "Awake.")
    pool.saw(request, "work", "work")
    assert pool.holds() == {}
    assert pool.proxy.account("work")["state"] == "healthy"
    assert [tried["row"] for tried in pool.logged()["tried"]] == [2, 8]


def test_without_a_sleep_it_is_not_sent_again(make: Make) -> None:
    """What was worked on may not be paid twice: row 3."""
    pool = make("work", "home", args=ASLEEP)
    pool.upstream.script("work", ok("Lost.").late("never"))
    with pool.client() as client:
        client.send(pool.turn())
        pool.upstream.requests.wait_for(1)
        pool.upstream.close_connections(reset=True)
        assert client.begin().rest().status == 502
    assert pool.upstream.requests.accounts() == ["work"]


def test_a_stream_that_the_client_has_begun_to_read_is_ended_as_ever(make: Make) -> None:
    """Row 6: nothing is replayed after release; the client tries again by itself, and no account is blamed."""
    pool = make("work", "home", args=ASLEEP)
    pool.upstream.script("work", ok("One two.").wait("never", after="content_block_start"))
    with pool.client() as client:
        client.send(pool.turn())
        begun = client.begin()
        begun.until(BLOCK)
        sleep(pool)
        pool.upstream.close_connections(reset=True)
        assert b"overloaded_error" in begun.rest().body
    assert pool.upstream.requests.accounts() == ["work"]
    assert pool.holds() == {}


def test_a_short_sleep_disturbs_no_request(make: Make) -> None:
    """What goes on after it is the answer; small calls beside it are served on new connections."""
    pool = make("work", args=ASLEEP)
    pool.upstream.script("work", ok("One two.").wait("go", after="content_block_start"))
    with pool.client() as client, pool.client() as other:
        assert other.ask(count_tokens(pool.token)).status == 200
        client.send(pool.turn())
        begun = client.begin()
        begun.until(BLOCK)
        sleep(pool)
        assert other.ask(count_tokens(pool.token)).status == 200
        pool.upstream.release("go")
        reply = begun.rest()
    assert (reply.status, reply.end, reply.text) == (200, "whole", "One two.")


def test_a_request_that_waits_looks_at_the_clock(make: Make) -> None:
    """What it waits for may be over by now: its choice is made anew, and when nothing has changed it waits on."""
    pool = make("work", args=ASLEEP)
    pool.upstream.script("work", limit("7d", resets_in=1.5, unit="ms", retry_after=None), ok("Awake."))
    with pool.client() as client:
        client.send(pool.turn())
        pool.upstream.requests.wait_for(1)
        sleep(pool)
        reply = client.begin().rest()
    assert (reply.status, reply.text) == (200, "Awake.")
    assert len(pool.upstream.requests) == 2
