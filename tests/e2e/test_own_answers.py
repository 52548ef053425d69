"""Own answers A and C of docs/verdicts.md, and G: what flowpool says, or does, when no account may serve."""

from __future__ import annotations

import json
import time
from dataclasses import replace

from tests.e2e.client import count_tokens, startup_check
from tests.e2e.conftest import Make
from tests.e2e.pool import about, ranked
from tests.upstream import bad_token, drop, limit, ok, overloaded, throttle

UNIFIED = "anthropic-ratelimit-unified-"


# -- A -------------------------------------------------------------------------------------------------------------


def test_own_answer_a_waits_for_a_recovery_that_is_near(make: Make) -> None:
    """Both accounts are spent; the first recovers in a second: the client sees nothing but a good turn, a little later."""
    pool = make("work", "home")
    pool.upstream.script("home", limit("7d", resets_in=7200))
    for stream, asked in ((True, ("work", "home", "work")), (False, ("work", "work"))):
        pool.upstream.requests.clear()
        pool.upstream.script("work", limit("7d", resets_in=1.2, unit="ms", retry_after=None))
        begun = time.time()
        reply = pool.ask(request := pool.turn(stream=stream))
        assert (reply.status, reply.end, reply.text) == (200, "whole", "This is work speaking.")
        assert time.time() - begun > 1.0
        pool.saw(request, *asked)
    assert pool.holds() == {"home": [("account", 13, about(7200))]}


def test_own_answer_a_waits_for_the_recovery_and_for_nobody_else(make: Make) -> None:
    """Moved, refused there too, and waiting for that second account: it goes when that recovers, not when the patience ends."""
    pool = make("work", "home", settings={"wait": {"max": 10, "margin_s": 1}})
    pool.upstream.script("work", limit("7d", resets_in=7200))
    pool.upstream.script("home", limit("5h", resets_in=1.2, unit="ms", retry_after=None))
    begun = time.monotonic()
    reply = pool.ask(request := pool.turn())
    assert (reply.status, reply.text) == (200, "This is home speaking.")
    assert time.monotonic() - begun < 5
    pool.saw(request, "work", "home", "home")


def test_own_answer_a_counts_anew_after_a_wait(make: Make) -> None:
    """After a wait for recovery the tries, the hop and the accounts are as good as new."""
    pool = make("work", "home")
    pool.upstream.script("work", overloaded(), limit("7d", resets_in=1.2, unit="ms", retry_after=None))
    pool.upstream.script("home", limit("7d", resets_in=1.2, unit="ms", retry_after=None))
    pool.upstream.script("work", overloaded(), overloaded(), ok("after all"))
    reply = pool.ask(request := pool.turn())
    assert (reply.status, reply.text) == (200, "after all")
    pool.saw(request, "work", "work", "home", "work", "work", "work")


def test_own_answer_a_tells_what_recovers_first_when_that_is_far(make: Make) -> None:
    """The 429 has the fields of the account that recovers first, a retry-after, and a word about every account."""
    pool = make("work", "home")
    pool.upstream.script("work", limit("7d", resets_in=7200))
    pool.upstream.script("home", limit("5h", resets_in=3600))
    now = time.time()
    for _ in range(2):
        reply = pool.ask(pool.turn())
        kind, message = reply.error
        assert (reply.status, reply.end, kind) == (429, "whole", "rate_limit_error")
        assert reply.header(UNIFIED + "status") == "rejected"
        assert reply.header(UNIFIED + "representative-claim") == "five_hour"
        assert int(reply.header(UNIFIED + "reset") or 0) == about(now + 3600)
        assert int(reply.header("retry-after") or 0) == about(3600)
        assert reply.header(UNIFIED + "5h-status") == "rejected"
        assert reply.header(UNIFIED + "5h-utilization") == "1"
        assert int(reply.header(UNIFIED + "5h-reset") or 0) == about(now + 3600)
        assert reply.header(UNIFIED + "7d-utilization") == "0.94"
        assert reply.header("x-should-retry") != "true"
        assert "work" in message
        assert "home" in message
    assert pool.upstream.requests.accounts() == ["work", "home"]


def test_own_answer_a_of_a_line_s_window_is_for_that_family_alone(make: Make) -> None:
    """Opus is refused with a claim of its own; sonnet is served meanwhile."""
    pool = make("work")
    pool.upstream.script("work", limit("7d_opus", resets_in=3600))
    reply = pool.ask(pool.turn())
    assert (reply.status, reply.header(UNIFIED + "status")) == (429, "rejected")
    assert reply.header(UNIFIED + "representative-claim") == "seven_day_opus"
    assert pool.ask(pool.turn(model="claude-sonnet-5")).status == 200
    assert pool.ask(pool.turn()).status == 429
    assert len(pool.upstream.requests) == 2


def test_own_answer_a_waits_no_longer_than_the_client(make: Make) -> None:
    """A client that announces a time-out of two seconds is told at once what another would wait for."""
    pool = make("work")
    pool.upstream.default("work", limit("7d", resets_in=2.5, unit="ms", retry_after=None))
    begun = time.monotonic()
    assert pool.ask(pool.turn().having(("X-Stainless-Timeout", "2"))).status == 429
    assert time.monotonic() - begun < 1.5


def test_own_answer_a_side_calls_never_wait(make: Make) -> None:
    """count_tokens and the check at start get the 429 at once."""
    pool = make("work")
    pool.upstream.script("work", limit("7d", resets_in=2.5, unit="ms", retry_after=None))
    with pool.client() as waiting:
        waiting.send(pool.turn())
        assert pool.upstream.requests.wait_for(1)[0].fate.wait() == "answered"
        pool.proxy.account("work")
        begun = time.monotonic()
        assert pool.ask(count_tokens(pool.token)).status == 429
        assert pool.ask(startup_check(pool.token)).status == 429
        assert time.monotonic() - begun < 1
        assert waiting.begin().rest().status == 200
    assert len(pool.upstream.requests) == 2


def test_own_answer_a_beside_a_disabled_account_and_a_dead_one(make: Make) -> None:
    """Disabled accounts do not count, dead ones are named: the one that recovers decides."""
    work, home, off = ranked("work", "home", "off")
    pool = make(members=(work, home, replace(off, enabled=False)))
    pool.upstream.script("work", bad_token())
    pool.upstream.script("home", throttle(45))
    pool.ask(pool.turn())
    reply = pool.ask(pool.turn())
    assert reply.status == 429
    assert 35 <= int(reply.header("retry-after") or 0) <= 45
    assert reply.header(UNIFIED + "status") is None
    assert pool.upstream.requests.accounts() == ["work", "home"]


# -- C and G -------------------------------------------------------------------------------------------------------


def test_own_answer_c_when_no_account_is_enabled(make: Make) -> None:
    """The client is told, once, to enable one; its own login is not used instead."""
    members = tuple(replace(member, enabled=False) for member in ranked("work", "home"))
    pool = make(members=members)
    for request in (pool.turn(), count_tokens(pool.token)):
        reply = pool.ask(request)
        kind, message = reply.error
        assert (reply.status, reply.end, kind) == (503, "whole", "api_error")
        assert reply.header("x-should-retry") == "false"
        assert "flowpool enable" in message
    assert len(pool.upstream.requests) == 0


def test_own_answer_g_without_accounts_the_client_s_own_login_passes(make: Make) -> None:
    """Its bytes and credential go out as they came, every answer is relayed, and nothing is replayed or held back."""
    pool = make(members=())
    refused = limit("7d", resets_in=3600)
    pool.upstream.script("client", ok("Its own."), refused, overloaded(), drop())
    reply = pool.ask(request := pool.turn())
    assert (reply.status, reply.text) == (200, "Its own.")
    (received,) = pool.saw(request, "client")
    assert received.header("authorization") == f"Bearer {pool.token}"
    reply = pool.ask(pool.turn())
    assert (reply.status, reply.body) == (429, refused.body)
    assert all(reply.header(name) == value for name, value in refused.headers)
    assert pool.ask(pool.turn()).status == 529
    assert pool.ask(pool.turn()).status == 502
    assert pool.upstream.requests.accounts() == ["client"] * 4
    (account,) = pool.proxy.status()["accounts"]
    assert (account["name"], account["requests"], account["in_flight"]) == ("client", 4, 0)
    assert json.dumps(pool.proxy.status()).count(pool.token) == 0
