"""A cap on an account: what is over it waits in the proxy, and is served one by one."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from home import accounts as book
from tests.e2e.client import PATIENCE
from tests.e2e.conftest import Make
from tests.e2e.pool import Pool
from tests.upstream import ok

PATIENT = {"wait": {"max": 60, "margin_s": 1}, "limits": {"headers_s": 60, "stream_idle_s": 60}}


def until(holds: Callable[[], bool], what: str) -> None:
    """Return as soon as it holds."""
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, what


def cap(pool: Pool, at: int) -> None:
    """Cap every account, while the proxy runs."""
    book.edit(pool.proxy.home / "accounts.toml", lambda known: tuple(replace(one, cap=at) for one in known))
    pool.proxy.wait_log("capped")


def queued(pool: Pool) -> int:
    """How many wait."""
    count: int = pool.proxy.status()["queued"]
    return count


def test_a_queue_of_five_is_served_one_by_one(make: Make) -> None:
    """First come, first served; never two at once, and none is refused."""
    pool = make("work", settings=PATIENT)
    cap(pool, 1)
    pool.upstream.script("work", *[ok(f"answer {n}").wait(f"go {n}", after="message_start") for n in range(5)])
    requests = [pool.turn(prompt=f"number {n}") for n in range(5)]
    with ThreadPoolExecutor(5) as threads:
        answers = []
        for n, request in enumerate(requests):
            answers.append(threads.submit(pool.ask, request, 60))
            until(lambda n=n: queued(pool) == n if n else len(pool.upstream.requests) == 1, f"request {n} is not there")  # type: ignore[misc]
        for n in range(5):
            pool.upstream.requests.wait_for(n + 1)
            until(lambda n=n: queued(pool) == 4 - n, "the queue did not move up")  # type: ignore[misc]
            assert len(pool.upstream.requests) == n + 1
            assert pool.in_flight() == 1
            pool.upstream.release(f"go {n}")
        replies = [answer.result(60) for answer in answers]

    assert [(reply.status, reply.text) for reply in replies] == [(200, f"answer {n}") for n in range(5)]
    assert [one.body for one in pool.upstream.requests] == [request.body for request in requests]


def test_who_leaves_the_queue_leaves_no_trace(make: Make) -> None:
    """The next one moves up, and the upstream never hears of it."""
    pool = make("work", settings=PATIENT)
    cap(pool, 1)
    pool.upstream.script("work", ok("first").wait("go", after="message_start"))
    with pool.client() as first, pool.client() as leaving, pool.client() as staying:
        first.send(pool.turn())
        pool.upstream.requests.wait_for(1)
        leaving.send(pool.turn())
        until(lambda: queued(pool) == 1, "nobody waits")
        staying.send(last := pool.turn())
        until(lambda: queued(pool) == 2, "only one waits")
        leaving.abort()
        until(lambda: queued(pool) == 1, "who left still waits")
        pool.upstream.release("go")
        assert first.begin().rest().status == 200
        assert staying.begin().rest().status == 200
    assert [one.body for one in pool.upstream.requests][1:] == [last.body]


def test_who_cannot_wait_is_throttled(make: Make) -> None:
    """A 429 that names no limit, so that the client tries again by itself."""
    pool = make("work", settings={"wait": {"max": 0, "margin_s": 1}})
    cap(pool, 1)
    pool.upstream.script("work", ok("first").wait("go", after="message_start"))
    with pool.client() as first:
        first.send(pool.turn())
        pool.upstream.requests.wait_for(1)
        reply = pool.ask(pool.turn())
        assert (reply.status, reply.header("retry-after")) == (429, "5")
        assert not [name for name, _ in reply.headers if "unified" in name.lower()]
        pool.upstream.release("go")
        assert first.begin().rest().status == 200


def test_a_raised_cap_lets_who_waits_through(make: Make) -> None:
    """Without waiting for anybody's end."""
    pool = make("work", settings=PATIENT)
    cap(pool, 1)
    pool.upstream.script("work", *[ok("x").wait("go", after="message_start") for _ in range(2)])
    with pool.client() as first, pool.client() as second:
        first.send(pool.turn())
        pool.upstream.requests.wait_for(1)
        second.send(pool.turn())
        until(lambda: queued(pool) == 1, "nobody waits")
        book.edit(pool.proxy.home / "accounts.toml", lambda known: tuple(replace(one, cap=2) for one in known))
        pool.upstream.requests.wait_for(2)
        pool.upstream.release("go")
        assert [client.begin().rest().status for client in (first, second)] == [200, 200]
