"""Many requests at once and one after another: stickiness, leases, connections, and nothing that piles up."""

from __future__ import annotations

import os
import re
import signal
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.e2e.client import Client, Reply, Request, count_tokens
from tests.e2e.conftest import Make
from tests.e2e.harness import Member
from tests.e2e.pool import Pool, about
from tests.upstream import Answer, bad_request, bare, drop, limit, ok, overloaded, padded, plant, stream_error


def _unranked(*names: str) -> list[Member]:
    return [Member(name=name, secret=plant(name)) for name in names]


def _at_once(pool: Pool, requests: list[Request]) -> list[Reply]:
    with ThreadPoolExecutor(len(requests)) as threads:
        return list(threads.map(pool.ask, requests))


def test_a_conversation_stays_on_its_account(make: Make) -> None:
    """Ten turns of one session, two models and a subagent: each conversation stays where its first turn went."""
    pool = make(members=_unranked("work", "home", "third"))
    sessions = [f"{n}1111111-2222-4333-8444-555555555555" for n in range(4)]
    for session in sessions:
        for agent in (None, "sub"):
            pool.upstream.reset()
            for _ in range(4):
                assert pool.ask(pool.turn(session=session, agent=agent)).status == 200
            assert len(set(pool.upstream.requests.accounts())) == 1
    assert pool.proxy.status()["conversations"] == 8


def test_a_conversation_moves_for_good_when_its_account_refuses(make: Make) -> None:
    """After a hop the conversation sticks to the account that served it, also once the first is free again."""
    pool = make("work", "home")
    session = "aaaaaaaa-2222-4333-8444-555555555555"
    pool.ask(pool.turn(session=session))
    pool.upstream.script("work", limit("7d_opus"))
    for _ in range(3):
        assert pool.ask(pool.turn(session=session)).status == 200
    assert pool.upstream.requests.accounts() == ["work", "work", "home", "home", "home"]


def test_two_conversations_spread_over_two_unmeasured_accounts(make: Make) -> None:
    """While the first is still without an answer, the second conversation takes the other account; a third one waits for neither."""
    pool = make(members=_unranked("work", "home"))
    for name in ("work", "home"):
        pool.upstream.script(name, ok().late("go"))
    with pool.client() as one, pool.client() as two, pool.client() as three:
        one.send(pool.turn())
        pool.upstream.requests.wait_for(1)
        two.send(pool.turn())
        pool.upstream.requests.wait_for(2)
        assert sorted(pool.upstream.requests.accounts()) == ["home", "work"]
        assert pool.in_flight() == 2
        three.send(pool.turn())
        assert three.begin().rest().status == 200
        pool.upstream.release("go")
        assert [client.begin().rest().status for client in (one, two)] == [200, 200]


def test_a_conversation_in_flight_draws_its_other_requests(make: Make) -> None:
    """A second request of a conversation whose first is in flight goes to the same account, before any stick."""
    pool = make(members=_unranked("work", "home"))
    for name in ("work", "home"):
        pool.upstream.script(name, ok().late("go"), ok().late("go"))
    session = "bbbbbbbb-2222-4333-8444-555555555555"
    with pool.client() as one, pool.client() as two:
        one.send(pool.turn(session=session))
        pool.upstream.requests.wait_for(1)
        two.send(pool.turn(session=session))
        first, second = pool.upstream.requests.wait_for(2)
        assert first.account == second.account
        pool.upstream.release("go")
        assert [client.begin().rest().status for client in (one, two)] == [200, 200]
    pool.upstream.reset()


def test_twenty_conversations_at_once_while_an_account_refuses(make: Make) -> None:
    """All twenty get a whole good turn; the account that refuses gets at most what was under way, and one hold."""
    pool = make("work", "home", "third")
    pool.upstream.default("work", limit("7d", resets_in=3600))
    requests = [pool.turn(stream=number % 2 == 0) for number in range(20)]
    replies = _at_once(pool, requests)
    assert [(reply.status, reply.end) for reply in replies] == [(200, "whole")] * 20
    assert {reply.text for reply in replies} <= {"This is home speaking.", "This is third speaking."}
    bodies = [received.body for received in pool.upstream.requests if received.account != "work"]
    assert sorted(bodies) == sorted(request.body for request in requests)
    assert pool.holds() == {"work": [("account", 13, about(3600))]}
    pool.settle()
    asked = len(pool.upstream.requests.to("work"))
    assert pool.ask(pool.turn()).status == 200
    assert len(pool.upstream.requests.to("work")) == asked


MIXED: list[tuple[Answer | None, int]] = [
    (None, 200),
    (overloaded(), 200),
    (drop("reset"), 502),
    (bad_request(), 400),
    (ok().cut("fin", after="ping"), 529),
    (stream_error("api_error"), 200),
    (bare(), 200),
    (ok().cut("reset", after="content_block_start"), 200),
    (ok().encoded("gzip"), 200),
    (drop(), 502),
]


def test_one_connection_carries_thirty_mixed_requests(shared: Pool) -> None:
    """Good, refused, broken and cut answers one after another leave the client's connection usable."""
    with shared.client() as client:
        port = client.socket.getsockname()[1]
        for answer, status in MIXED * 3:
            if answer is not None:
                shared.upstream.script("work", answer)
            reply = client.ask(shared.turn(stream=answer is None or answer.status != 400))
            assert (reply.status, reply.end) == (status, "whole")
        assert client.ask(count_tokens(shared.token)).status == 200
        assert client.ask(Request(method="GET", path="/_flowpool/health")).status == 200
        assert client.socket.getsockname()[1] == port
    assert shared.holds() == {}


def test_pipelined_requests_are_answered_in_order(shared: Pool) -> None:
    """Three requests written at once are answered one after another on the same connection."""
    with shared.client() as client:
        client.send(*[shared.turn(stream=stream) for stream in (True, False, True)])
        replies = [client.begin().rest() for _ in range(3)]
    assert [(reply.status, reply.end) for reply in replies] == [(200, "whole")] * 3


def test_two_hundred_large_refusals_leave_nothing_behind(shared: Pool) -> None:
    """X70: 50 kB of refusal two hundred times over four connections: leases and upstream connections do not pile up."""
    shared.upstream.default("work", padded(bare(), 50_000))

    def run(_: int) -> list[int]:
        with Client(shared.proxy.url) as client:
            return [client.ask(shared.turn()).status for _ in range(50)]

    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(run, range(4))) == [[200] * 50] * 4
    asked = shared.upstream.requests.accounts()  # while many move to home at once, one may go on to third
    assert (asked.count("work"), asked.count("home") + asked.count("third")) == (200, 200)
    shared.settle()
    assert shared.upstream.open_connections <= 8
    assert shared.holds() == {}


@pytest.mark.skipif(sys.platform != "linux", reason="other systems tell a process's memory in other ways")
def test_x70_large_refusals_are_not_kept_in_memory(make: Make) -> None:
    """X70: of 150 discarded bodies of 200 kB, 30 MB in all, nothing stays once the proxy has warmed up."""
    pool = make("work", "home")
    pool.upstream.default("work", padded(bare(), 200_000))

    def run(count: int) -> None:
        with Client(pool.proxy.url) as client:
            assert {client.ask(pool.turn()).status for _ in range(count)} == {200}

    def resident() -> int:
        found = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{pool.proxy.pid}/status").read_text())
        assert found is not None
        return int(found[1])

    with ThreadPoolExecutor(2) as threads:
        list(threads.map(run, [50, 50]))
        before = resident()
        list(threads.map(run, [75, 75]))
    assert len(pool.upstream.requests.to("work")) >= 250
    assert resident() - before < 10_000


def test_x71_nothing_of_a_request_outlives_it(make: Make) -> None:
    """X71: one client connection carries 120 requests of all kinds; of their flows, exchanges and streams none stays while it is open."""
    pool = make("work", "home", args=("-s", str(Path(__file__).with_name("census.py"))))
    answers = [answer for answer, _ in MIXED if answer is not None]
    with pool.client() as client:
        for at in range(120):
            pool.upstream.script("work", answers[at % len(answers)])
            client.ask(count_tokens(pool.token) if at % 5 == 0 else pool.turn(stream=at % 2 == 0))
            if at % 5 == 0:
                pool.upstream.reset()
        pool.upstream.reset()
        pool.proxy.mark()
        os.kill(pool.proxy.pid, signal.SIGUSR1)
        alive = {kind: int(count) for kind, count in re.findall(r"(\w+)=(\d+)", pool.proxy.wait_log(r"census: .*\."))}
        assert alive.keys() == {"HTTPFlow", "Exchange", "ReplayStream", "known"}
        assert max(alive.values()) <= 2, alive
        assert client.ask(pool.turn()).status == 200


@pytest.mark.parametrize("count", [12])
def test_clients_that_leave_one_after_another_leave_no_lease(shared: Pool, count: int) -> None:
    """While others stream, clients that leave take their leases with them."""
    shared.upstream.default("work", ok("One two three").wait("go", after="content_block_start"))
    staying, leaving = shared.client(), [shared.client() for _ in range(count)]
    staying.send(shared.turn())
    for client in leaving:
        client.send(shared.turn())
    shared.upstream.requests.wait_for(count + 1)
    threads = [threading.Thread(target=client.abort) for client in leaving]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    left = [received for received in shared.upstream.requests if received.fate.end is None]
    assert left
    shared.upstream.release("go")
    assert staying.begin().rest().text == "One two three"
    staying.close()
    shared.settle()
