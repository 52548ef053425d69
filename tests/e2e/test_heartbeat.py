"""The wait heartbeat: a client that asked for a stream is told that its request waits, and then gets it, or an error event."""

from __future__ import annotations

import http.client
import json
from dataclasses import replace
from typing import Any

import pytest

from tests.e2e.client import Client
from tests.e2e.conftest import Make
from tests.e2e.pool import Pool
from tests.upstream import Answer, limit, ok

BEAT = b": waiting\n\n"
WAITS = {"max": 30, "margin_s": 1, "heartbeat": 0.2}
PASSWORD = "only-for-this-test"


def spent(seconds: float = 1.2) -> Answer:
    """A limit that is soon over."""
    return limit("7d", resets_in=seconds, unit="ms", retry_after=None)


def waiting(make: Make, **wait: Any) -> Pool:
    """A pool of one account whose waits are told."""
    return make("work", settings={"wait": WAITS | wait})


def beats(body: bytes) -> tuple[int, bytes]:
    """How often the client was told first, and what followed."""
    count = 0
    while body.startswith(BEAT):
        count, body = count + 1, body[len(BEAT) :]
    return count, body


def test_a_request_that_waits_is_told_and_then_served(make: Make) -> None:
    """Comments and then the upstream's stream to the byte; no account's refusal is seen; the log counts them."""
    pool = waiting(make)
    answer = ok("after all").wait(0.6, after="message_start")
    pool.upstream.script("work", spent(), answer)
    request = pool.turn()
    with pool.client() as client:
        reply = client.ask(request)
        count, rest = beats(reply.body)
        assert (reply.status, reply.end, reply.text) == (200, "whole", "after all")
        assert 3 <= count <= 8
        assert rest == answer.body
        assert reply.header("content-type") == "text/event-stream; charset=utf-8"
        assert reply.header("anthropic-ratelimit-unified-status") is None
        line = pool.logged()
        assert reply.header("request-id") == f"flowpool-{line['id']}"
        assert line["because"].endswith(f"; {count} heartbeats while it waited")
        assert (line["ended"], line["status"]) == ("complete", 200)
        assert [one["row"] for one in line["tried"]] == [13, 8]
        assert client.ask(pool.turn()).text == "This is work speaking."  # the connection serves on
    assert pool.upstream.requests[0].body == pool.upstream.requests[1].body == request.body


def test_the_first_beat_comes_in_time(make: Make) -> None:
    """The client has its head and a comment long before an account recovers."""
    pool = waiting(make)
    pool.upstream.script("work", spent(2.5))
    with pool.client() as client:
        client.send(pool.turn())
        reply = client.begin().until(BEAT)
        assert len(pool.upstream.requests) == 1
        assert reply.rest().text == "This is work speaking."


def test_a_refusal_after_a_beat_is_an_error_event(make: Make) -> None:
    """Refused again for long: the honest message and its type, as the last event of a whole answer."""
    pool = waiting(make)
    pool.upstream.script("work", spent(), limit("7d", resets_in=7200))
    reply = pool.ask(pool.turn())
    count, rest = beats(reply.body)
    assert (reply.status, reply.end) == (200, "whole")
    assert count >= 3
    assert reply.names == ["error"]
    error = reply.events[0].json["error"]
    assert error["type"] == "rate_limit_error"
    assert "work: 7d limit until" in error["message"]
    assert rest.endswith(b"\n\n")
    line = pool.logged()
    assert (line["status"], line["ended"], line["answer"]) == (200, "refused", "A")
    assert line["because"].endswith(f"; {count} heartbeats while it waited")
    assert pool.ask(pool.turn()).status == 429  # who need not wait is refused as ever


def test_off_a_wait_is_silent(make: Make) -> None:
    """By default the client gets the upstream's own head and nothing before it."""
    pool = waiting(make, heartbeat=0)
    pool.upstream.script("work", spent())
    reply = pool.ask(pool.turn())
    assert (reply.status, reply.text, b": waiting" in reply.body) == (200, "This is work speaking.", False)
    assert reply.header("anthropic-ratelimit-unified-status") == "allowed"
    assert "heartbeat" not in pool.logged()["because"]


@pytest.mark.parametrize("who", ["asks for a whole answer", "speaks HTTP/1.0"])
def test_others_are_never_told(make: Make, who: str) -> None:
    """A whole answer cannot follow a stream's head, and HTTP/1.0 has no such streams."""
    pool = waiting(make)
    pool.upstream.script("work", spent())
    is_old = who == "speaks HTTP/1.0"
    request = pool.turn(stream=is_old)
    with Client(pool.proxy.url) as client:
        if is_old:
            head = request.head(pool.proxy.url.removeprefix("http://")).replace(b" HTTP/1.1\r\n", b" HTTP/1.0\r\n", 1)
            client.write(head + request.body)
            reply = client.begin().rest()
        else:
            reply = client.ask(request)
    assert (reply.status, reply.text, BEAT in reply.body) == (200, "This is work speaking.", False)
    assert "heartbeat" not in pool.logged()["because"]


def test_with_a_heartbeat_only_the_setting_bounds_the_wait(make: Make) -> None:
    """A client that said it waits for a second waits for two when it is told, and is refused at once when it is not."""
    pool = waiting(make)
    request = pool.turn()
    hasty = tuple((n, "1" if n == "X-Stainless-Timeout" else v) for n, v in request.headers)
    pool.upstream.script("work", spent(2.2))
    assert pool.ask(replace(request, headers=hasty)).text == "This is work speaking."
    pool.upstream.script("work", spent(2.2))
    whole = pool.turn(stream=False)
    assert pool.ask(replace(whole, headers=hasty)).status == 429


@pytest.mark.parametrize("way", ["reset", "fin"])
def test_a_client_that_leaves_while_it_is_told_ends_the_exchange(make: Make, way: str) -> None:
    """At once, and nothing more goes upstream."""
    pool = waiting(make)
    pool.upstream.script("work", limit("7d", resets_in=20))
    with pool.client() as client:
        client.send(pool.turn())
        client.begin().until(BEAT)
        client.abort() if way == "reset" else client.close()
    line = pool.logged()
    assert (line["ended"], line["total_ms"] < 10_000, "heartbeat" in line["because"]) == ("client_left", True, True)
    pool.settle()
    assert len(pool.upstream.requests) == 1


def test_mitmweb_shows_what_the_client_got(make: Make) -> None:
    """The refused attempt, and the one that was served; after a refusal the stream that told it."""
    args = ("--set", f"web_password={PASSWORD}")
    pool = make("work", settings={"wait": WAITS}, program="mitmweb", args=args)
    pool.upstream.script("work", spent())
    assert pool.ask(pool.turn()).text == "This is work speaking."
    pool.upstream.script("work", spent(), limit("7d", resets_in=7200))
    assert pool.ask(pool.turn()).names == ["error"]
    served, refused = [flow for flow in _flows(pool) if not flow["marked"]]

    assert [flow["response"]["status_code"] for flow in (served, refused)] == [200, 200]
    assert served["comment"].startswith("work: ")
    assert ["content-type", "text/event-stream; charset=utf-8"] in refused["response"]["headers"]
    assert sum(bool(flow["marked"]) for flow in _flows(pool)) == 2


def _flows(pool: Pool) -> list[dict[str, Any]]:
    connection = http.client.HTTPConnection("127.0.0.1", pool.proxy.web_port, timeout=10)
    try:
        connection.request("GET", "/flows", headers={"Authorization": f"Bearer {PASSWORD}"})
        flows: list[dict[str, Any]] = json.loads(connection.getresponse().read())
    finally:
        connection.close()
    return flows
