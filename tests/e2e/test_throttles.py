"""Rows 10, 11, 14 and 15 of docs/verdicts.md: a 429 that is no spent window."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from tests.e2e.client import Reply, startup_check
from tests.e2e.conftest import Make
from tests.e2e.pool import Pool, about
from tests.upstream import (
    Answer,
    bare,
    classic,
    credits_required,
    fast_mode,
    limit,
    long_context,
    ok,
    spend_limit,
    throttle,
)

ENDS_A_TURN = ("representative-claim", "overage-status", "overage-disabled-reason")
UNIFIED = "anthropic-ratelimit-unified-"


def _relayed(reply: Reply, answer: Answer) -> None:
    """Fail unless the client got that refusal's status and bytes."""
    assert (reply.status, reply.end, reply.body) == (answer.status, "whole", answer.body)
    assert reply.header("request-id") == answer.header("request-id")


# -- row 10 --------------------------------------------------------------------------------------------------------


def test_row_10_long_context_without_credits_hops_once_and_is_then_relayed(shared: Pool) -> None:
    """One other account may have the credits; when it has not either, its refusal is relayed and nobody is held."""
    shared.upstream.script("work", long_context())
    request = shared.turn()
    assert shared.ask(request).text == "This is home speaking."
    shared.saw(request, "work", "home")
    shared.upstream.reset()
    shared.upstream.script("work", long_context())
    shared.upstream.script("home", answer := long_context())
    reply = shared.ask(request := shared.turn())
    _relayed(reply, answer)
    shared.saw(request, "work", "home")
    assert shared.holds() == {}


def test_row_10_fast_mode_without_credits_is_relayed_at_once(make: Make) -> None:
    """The client turns its fast mode off by itself, so nobody else is asked, also where the headers look like a limit."""
    pool = make("work", "home", "third")
    for answer, account in ((fast_mode(), "work"), (fast_mode(limit("7d").headers), "work")):
        pool.upstream.reset()
        pool.upstream.script(account, answer)
        reply = pool.ask(request := pool.turn())
        _relayed(reply, answer)
        pool.saw(request, account)
    assert pool.holds() == {}


# -- row 11 --------------------------------------------------------------------------------------------------------


def test_row_11_missing_credits_hold_the_family_and_a_spend_limit_the_month(make: Make) -> None:
    """Both hop; the first holds account and family for an hour, the second the account to the next month's start."""
    pool = make("work", "home", "third")
    pool.upstream.script("work", credits_required())
    pool.upstream.script("home", spend_limit())
    reply = pool.ask(request := pool.turn())
    assert (reply.status, reply.text) == (200, "This is third speaking.")
    pool.saw(request, "work", "home", "third")
    now = datetime.now(UTC)
    month = (now.replace(day=1) + timedelta(days=32)).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    left = (month - now).total_seconds()
    assert pool.holds() == {"work": [("opus", 11, about(3600))], "home": [("account", 11, about(left))]}
    pool.upstream.reset()
    request = pool.turn(model="claude-sonnet-5")
    assert pool.ask(request).text == "This is work speaking."
    pool.saw(request, "work")


def test_row_11_the_last_refusal_is_relayed(make: Make) -> None:
    """With nobody left the client gets the vendor's own words."""
    pool = make("work")
    pool.upstream.script("work", answer := credits_required())
    reply = pool.ask(request := pool.turn())
    _relayed(reply, answer)
    pool.saw(request, "work")


# -- row 14 --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("headers", [None, classic(0)], ids=["unified", "classic"])
def test_row_14_a_short_throttle_is_waited_out_on_the_same_account(
    shared: Pool, headers: tuple[tuple[str, str], ...] | None
) -> None:
    """Without retry-after the same account is asked again twice, and the client sees a good turn."""
    shared.upstream.script("work", throttle(headers=headers), throttle(headers=headers), ok("at last"))
    reply = shared.ask(request := shared.turn())
    assert (reply.status, reply.end, reply.text) == (200, "whole", "at last")
    shared.saw(request, "work", "work", "work")
    assert shared.holds() == {}


def test_row_14_a_retry_after_of_a_second_is_kept(shared: Pool) -> None:
    """The wait is as long as the vendor asks."""
    shared.upstream.script("work", throttle(1))
    reply = shared.ask(request := shared.turn())
    assert reply.text == "This is work speaking."
    first, second = shared.saw(request, "work", "work")
    assert 0.95 < second.at - first.at < 2
    assert shared.holds() == {}


def test_row_14_a_throttle_that_stays_is_relayed_without_what_would_end_the_turn(shared: Pool) -> None:
    """After two more tries the 429 is relayed, without the headers at which the client gives up; nobody is held."""
    last = throttle("soon")
    shared.upstream.script("work", throttle(), throttle(), last)
    reply = shared.ask(request := shared.turn())
    _relayed(reply, last)
    shared.saw(request, "work", "work", "work")
    assert not any(reply.header(UNIFIED + name) for name in ENDS_A_TURN)
    assert reply.header(UNIFIED + "status") == "allowed"
    assert shared.holds() == {}


def test_row_14_a_long_throttle_holds_the_account_and_hops_once(make: Make) -> None:
    """A retry-after of 30 s, of an hour (one minute is held) and as a date each hold the account; one hop is shared."""
    pool = make("half", "hour", "date", "last")
    pool.upstream.script("half", throttle(30))
    pool.upstream.script("hour", answer := throttle(3600))
    reply = pool.ask(request := pool.turn())
    _relayed(reply, answer)
    assert reply.header("retry-after") == "60"
    assert not any(reply.header(UNIFIED + name) for name in ENDS_A_TURN)
    pool.saw(request, "half", "hour")
    assert pool.holds() == {"half": [("account", 14, about(30))], "hour": [("account", 14, about(60))]}
    pool.upstream.reset()
    until = format_datetime(datetime.now(UTC) + timedelta(seconds=40), usegmt=True)
    pool.upstream.script("date", throttle(until))
    request = pool.turn()
    assert pool.ask(request).text == "This is last speaking."
    pool.saw(request, "date", "last")
    assert pool.holds()["date"] == [("account", 14, about(40))]


def test_row_14_stands_in_own_answer_a_when_everybody_is_throttled(make: Make) -> None:
    """A new request that finds all accounts held by throttles waits for nobody it cannot wait for: 429, at most 60 s."""
    pool = make("work", "home")
    pool.upstream.script("work", throttle(50))
    pool.upstream.script("home", throttle(3600))
    assert pool.ask(pool.turn()).status == 429
    reply = pool.ask(pool.turn())
    assert (reply.status, reply.error[0]) == (429, "rate_limit_error")
    assert 40 <= int(reply.header("retry-after") or 0) <= 60
    assert not any(name.lower().startswith(UNIFIED) for name, _ in reply.headers)
    assert len(pool.upstream.requests) == 2


# -- row 15 --------------------------------------------------------------------------------------------------------


def test_row_15_a_bare_429_hops_once_and_is_relayed_as_it_came(shared: Pool) -> None:
    """Without usage headers nobody is held: one other account is asked, then its refusal is relayed."""
    shared.upstream.script("work", bare())
    request = shared.turn()
    assert shared.ask(request).text == "This is home speaking."
    shared.saw(request, "work", "home")
    shared.upstream.reset()
    shared.upstream.script("work", bare(5))
    shared.upstream.script("home", answer := bare(3000))
    reply = shared.ask(request := shared.turn())
    _relayed(reply, answer)
    assert reply.header("retry-after") == "60"
    shared.saw(request, "work", "home")
    assert shared.holds() == {}


def test_row_15_the_start_up_check_is_not_sent_twice(shared: Pool) -> None:
    """The client's check at start gets a bare 429 as it came."""
    answer = bare()
    for name in ("work", "home", "third"):
        shared.upstream.default(name, answer)
    reply = shared.ask(startup_check(shared.token))
    _relayed(reply, answer)
    assert len(shared.upstream.requests) == 1
    assert shared.holds() == {}
