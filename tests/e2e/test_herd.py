"""Forty conversations over four accounts, of which one meets its limit: they move one by one, and no client notices."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.e2e.client import Reply
from tests.e2e.conftest import Make
from tests.e2e.instructions import pin
from tests.e2e.pool import Pool
from tests.upstream import Answer, bad_token, credit_balance, forbidden, limit, ok, overage

NAMES = ("work", "home", "third", "fourth")
OTHERS = NAMES[1:]
HERD, RESIDENTS = 25, 5  # on the first account, on each of the others: 40 in all
PATIENT = {"wait": {"max": 60, "margin_s": 1}, "limits": {"headers_s": 60, "stream_idle_s": 60}}

REFUSALS = [
    pytest.param(overage(ok("paid")), id="row 9"),
    pytest.param(limit("7d_opus"), id="row 12"),
    pytest.param(limit("7d"), id="row 13"),
    pytest.param(bad_token(), id="row 18"),
    pytest.param(forbidden(), id="row 19"),
    pytest.param(credit_balance(), id="row 20"),
]


def _ask(pool: Pool, sessions: Iterable[str]) -> list[Reply]:
    """The next turn of each conversation, all at once."""
    requests = [pool.turn(session=session) for session in sessions]
    with ThreadPoolExecutor(len(requests)) as threads:
        return list(threads.map(lambda request: pool.ask(request, 60), requests))


def _settle_on(pool: Pool, name: str, count: int) -> list[str]:
    """So many conversations that are warm on the account."""
    pin(pool, name)
    sessions = [str(uuid.uuid4()) for _ in range(count)]
    assert [reply.status for reply in _ask(pool, sessions)] == [200] * count
    pin(pool)
    return sessions


def _are_served(replies: Iterable[Reply], *names: str) -> bool:
    """Whether all have a whole good turn of one of these accounts."""
    texts = {f"This is {name} speaking." for name in names} | {"moved"}
    return all((one.status, one.end) == (200, "whole") and one.text in texts for one in replies)


@pytest.mark.parametrize("answer", REFUSALS)
def test_a_herd_moves_one_by_one(make: Make, answer: Answer) -> None:
    """No account takes more than its ramp before its first success, nobody waits for a stranger's refusal, and nobody is refused."""
    pool = make(*NAMES, settings=PATIENT)
    herd = _settle_on(pool, "work", HERD)
    residents = [session for name in OTHERS for session in _settle_on(pool, name, RESIDENTS)]
    assert pool.proxy.status()["conversations"] == HERD + len(OTHERS) * RESIDENTS
    pool.upstream.requests.clear()
    pool.upstream.default("work", answer)
    for name in OTHERS:
        pool.upstream.script(name, ok("moved").late("first"))

    with ThreadPoolExecutor(1) as aside:
        moving = aside.submit(_ask, pool, herd)
        for name in OTHERS:
            pool.upstream.requests.wait_for(1, account=name)
        assert _are_served(_ask(pool, residents), *OTHERS)
        moved = [one for name in OTHERS for one in pool.upstream.requests.to(name)]
        assert len(moved) == len(OTHERS) * (1 + RESIDENTS)  # each has one of the herd, and its own
        assert not moving.done()
        pool.upstream.release("first")
        replies = moving.result(120)

    assert _are_served(replies, *OTHERS)
    assert len(pool.upstream.requests.to("work")) <= HERD
    pool.upstream.reset()
    assert _are_served(_ask(pool, herd), *OTHERS)
    assert len(pool.upstream.requests.to("work")) == 0
