"""Row 7 of docs/verdicts.md: the client leaves, at any moment, and nothing more goes upstream."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from tests.e2e.client import Client
from tests.e2e.conftest import Make
from tests.e2e.pool import BLOCK, Pool
from tests.upstream import bad_request, drop, limit, ok, ok_json, overloaded, server_error, silent

WAYS = ["reset", "fin"]


def _leave(client: Client, way: str) -> None:
    if way == "reset":
        client.abort()
    else:
        client.close()


def _over(pool: Pool, requests: int) -> None:
    """Fail unless the exchange ends: its upstream connection is left, nothing is in flight, held or sent again."""
    for received in pool.upstream.requests:
        assert received.fate.wait() in ("left", "answered")
    pool.settle()
    assert len(pool.upstream.requests) == requests
    assert pool.holds() == {}


@pytest.mark.parametrize("way", WAYS)
def test_row_7_during_the_body(shared: Pool, way: str) -> None:
    """A body that never comes to its end goes nowhere."""
    with shared.client() as client:
        request = shared.turn()
        client.write(
            request.head("127.0.0.1:1").replace(b"127.0.0.1:1", shared.proxy.url[7:].encode()) + request.body[:100]
        )
        _leave(client, way)
    assert shared.ask(shared.turn()).status == 200
    _over(shared, 1)


@pytest.mark.parametrize("way", WAYS)
def test_row_7_before_the_headers(shared: Pool, way: str) -> None:
    """The upstream's connection ends with the client's."""
    shared.upstream.script("work", silent())
    with shared.client() as client:
        client.send(shared.turn())
        shared.upstream.requests.wait_for(1)
        _leave(client, way)
    assert shared.upstream.requests[0].fate.wait() == "left"
    _over(shared, 1)
    assert shared.logged()["ended"] == "client_left"


@pytest.mark.parametrize("way", WAYS)
def test_row_7_in_the_gate(shared: Pool, way: str) -> None:
    """A stream that has begun behind the gate is given up."""
    shared.upstream.script("work", ok().wait("never", after="ping"))
    with shared.client() as client:
        client.send(shared.turn())
        shared.upstream.wait_held("never")
        _leave(client, way)
    assert shared.upstream.requests[0].fate.wait() == "left"
    _over(shared, 1)
    assert shared.logged()["ended"] == "client_left"


@pytest.mark.parametrize("way", WAYS)
def test_row_7_in_mid_stream(shared: Pool, way: str) -> None:
    """A stream that the client has begun to read is given up, and is no success that makes its conversation stick."""
    shared.upstream.script("work", ok().wait("never", after="content_block_start"))
    with shared.client() as client:
        client.send(shared.turn())
        client.begin().until(BLOCK)
        _leave(client, way)
    assert shared.upstream.requests[0].fate.wait() == "left"
    _over(shared, 1)
    assert shared.logged()["ended"] == "client_left"


def test_row_7_between_two_tries(make: Make) -> None:
    """Clients that leave during the wait before another try take the try with them."""
    pool = make("work", settings={"retry": {"overloaded": [0.4, 0.4]}})
    for way in WAYS:
        pool.upstream.reset()
        pool.proxy.mark()
        pool.upstream.script("work", overloaded())
        with pool.client() as client:
            client.send(pool.turn())
            assert pool.upstream.requests.wait_for(1)[0].fate.wait() == "answered"
            _leave(client, way)
        pool.proxy.wait_log('"ended":"client_left"')
    pool.upstream.default("work", overloaded())
    assert pool.ask(pool.turn()).status == 529  # takes longer than the last one's wait would have
    assert len(pool.upstream.requests) == 4
    _over(pool, 4)


def test_row_7_while_waiting_for_a_recovery(make: Make) -> None:
    """Of two who wait for the same account, the one that left is not sent when it recovers."""
    pool = make("work")
    pool.upstream.script("work", limit("7d", resets_in=1.5, unit="ms", retry_after=None))
    with pool.client() as leaving, pool.client() as staying:
        leaving.send(pool.turn())
        assert pool.upstream.requests.wait_for(1)[0].fate.wait() == "answered"
        staying.send(request := pool.turn())
        leaving.abort()
        pool.proxy.wait_log('"ended":"client_left"')
        assert staying.begin().rest().text == "This is work speaking."
    assert len(pool.upstream.requests) == 2
    pool.check(pool.upstream.requests[1], request)
    pool.settle()


def test_row_7_a_client_that_leaves_is_no_blame(shared: Pool) -> None:
    """Ten clients that leave in mid-stream change nothing for the eleventh."""
    shared.upstream.script("work", *[ok().wait("never", after="content_block_start")] * 10)
    for _ in range(10):
        with shared.client() as client:
            client.send(shared.turn())
            client.begin().until(BLOCK)
            client.abort()
    assert shared.ask(shared.turn()).text == "This is work speaking."
    _over(shared, 11)
    assert shared.proxy.account("work")["state"] == "healthy"


STORIES = {  # what the pool meets while the client leaves: answers of work, and of home
    "good": ((ok("One two three."),), ()),
    "whole": ((ok_json("One two three."),), ()),
    "slow": ((ok("One two three.").gap(0.002),), ()),
    "late": ((ok().late(0.02),), ()),
    "replayed": ((overloaded(), overloaded(), ok("after all")), ()),
    "moved": ((server_error(), server_error()), (ok("from home").gap(0.002),)),
    "broken": ((drop("reset"),), ()),
    "cut": ((ok("One two.").cut("reset", after="content_block_delta"),), ()),
    "refused": ((bad_request(),), ()),
}


@pytest.mark.parametrize("seed", range(6))
def test_row_7_at_any_moment(shared: Pool, seed: int) -> None:
    """X67: in the head, in the body, before, within or behind the answer, in a pause: wherever it leaves, nothing stays behind."""
    chance = random.Random(seed)  # noqa: S311  # repeatable
    for _ in range(12):
        story = chance.choice([*STORIES])
        work, home = STORIES[story]
        shared.upstream.script("work", *work)
        shared.upstream.script("home", *home)
        request = shared.turn(stream=story != "whole")
        request = replace(request, chunked=chance.choice([None, 50, 5000]))
        data = request.head(shared.proxy.url.removeprefix("http://")) + b"".join(request.pieces())
        is_sent = chance.random() < 0.7
        with shared.client() as client:
            client.write(data if is_sent else data[: chance.randrange(len(data))])
            if is_sent and chance.random() < 0.8:
                client.take(chance.choice([1, 17, 500, 1500, 100_000]), timeout=chance.choice([0.01, 0.1, 0.5]))
            _leave(client, chance.choice(WAYS))
        shared.settle()
        for received in shared.upstream.requests:
            received.fate.wait()
        shared.upstream.reset()
    assert shared.holds() == {}
    assert shared.ask(shared.turn()).text == "This is work speaking."
    assert shared.upstream.open_connections <= 3


def test_x67_two_hundred_clients_that_leave_leave_nothing(shared: Pool) -> None:
    """X67: two hundred leave at random points, eight at a time; then no lease, hold or connection is left, and the next is served."""
    for name in ("work", "home", "third"):
        shared.upstream.default(name, ok("One two three four five.").gap(0.001))

    def leave(seed: int) -> None:
        chance = random.Random(seed)  # noqa: S311  # repeatable
        request = shared.turn()
        data = request.head(shared.proxy.url.removeprefix("http://")) + request.body
        with shared.client() as client:
            client.write(data[: chance.randrange(1, 3 * len(data))])  # two in three send all of it
            client.take(chance.choice([1, 300, 900, 100_000]), timeout=chance.choice([0.01, 0.05, 0.2, 0.4]))
            _leave(client, chance.choice(WAYS))

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(leave, range(200)))
    shared.settle()
    for received in shared.upstream.requests:
        received.fate.wait()
    account = shared.proxy.account("work")
    assert (account["in_flight"], account["state"], shared.holds()) == (0, "healthy", {})
    assert len(shared.upstream.requests) > 50
    assert shared.upstream.open_connections <= 8
    assert shared.ask(shared.turn()).status == 200
