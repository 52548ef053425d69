"""Ten representative rows behave the same in every program that can run the addons."""

from __future__ import annotations

import pytest

from tests.e2e.conftest import Make
from tests.e2e.pool import Pool
from tests.upstream import (
    bad_request,
    bad_token,
    drop,
    forbidden,
    limit,
    ok,
    overage,
    overloaded,
    server_error,
    stream_error,
    throttle,
)

ACCOUNTS = tuple(f"a{number}" for number in range(1, 8))


def _turn(pool: Pool, *asked: str, status: int = 200) -> None:
    """One turn, and the accounts that were asked for it, in order."""
    before = len(pool.upstream.requests)
    reply = pool.ask(pool.turn())
    assert reply.status == status
    assert pool.upstream.requests.accounts()[before:] == list(asked)
    if status == 200:
        assert reply.text == f"This is {asked[-1]} speaking."


@pytest.mark.parametrize("program", ["flowpool serve", "mitmweb"])
def test_rows_1_3_6_9_13_14_18_21_23_24_behave_alike(make: Make, program: str) -> None:
    """What the client sees, who was asked, and the holds left behind are those of mitmdump."""
    pool = make(*ACCOUNTS, program=program)
    script = pool.upstream.script

    _turn(pool, "a1")
    pool.upstream.refuse()
    _turn(pool, status=502)  # row 1
    pool.upstream.accept()
    script("a1", drop("reset"))
    _turn(pool, "a1", status=502)  # row 3
    script("a1", ok("cut here").cut("reset", after="content_block_delta"))
    reply = pool.ask(pool.turn())  # row 6
    assert (reply.status, reply.end, reply.names[-1]) == (200, "whole", "error")
    script("a1", throttle(1))
    _turn(pool, "a1", "a1")  # row 14
    script("a1", overloaded())
    _turn(pool, "a1", "a1")  # row 21
    script("a1", server_error(), server_error())
    _turn(pool, "a1", "a1", "a2")  # row 22
    script("a1", bad_request())
    _turn(pool, "a1", status=400)  # row 23
    script("a1", stream_error("overloaded_error"))
    _turn(pool, "a1", "a1")  # row 24
    assert pool.holds() == {}

    script("a1", overage(ok(), "7d"))
    _turn(pool, "a1", "a2")  # row 9
    script("a2", limit("7d"))
    _turn(pool, "a2", "a3")  # row 13
    script("a3", bad_token())
    _turn(pool, "a3", "a4")  # row 18
    script("a4", forbidden())
    _turn(pool, "a4", "a5")  # row 19
    held = {name: [row for _, row, _ in holds] for name, holds in pool.holds().items()}
    assert held == {"a1": [9], "a2": [13], "a3": [18], "a4": [19]}
