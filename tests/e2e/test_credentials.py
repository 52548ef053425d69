"""Rows 18, 19 and 20 of docs/verdicts.md, and own answer B: logins that are not accepted, and money that is missing."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from credentials.file import FileStore
from tests.e2e.conftest import Make
from tests.e2e.pool import about
from tests.upstream import (
    Answer,
    bad_token,
    credit_balance,
    expired,
    extra_usage,
    forbidden,
    limit,
    on_hold,
    org_disabled,
    org_not_allowed,
    overloaded,
    payment_required,
    revoked,
    stream_error,
    usage_limits,
)

DEAD: dict[str, Callable[[], Answer]] = {
    "bad-token": bad_token,
    "expired": expired,
    "revoked-403": revoked,
    "revoked-401": lambda: revoked(401),
    "not-allowed": org_not_allowed,
    "on-hold": on_hold,
    "org-disabled": org_disabled,
    "in-stream": lambda: stream_error("authentication_error", "invalid token"),
}


def test_row_18_a_refused_login_is_held_as_dead_and_the_turn_moves_on(make: Make) -> None:
    """Every way to say that a login is not accepted hops, and holds the account for 15 minutes as auth_dead."""
    pool = make(*DEAD, "last")
    for name, answer in DEAD.items():
        pool.upstream.script(name, answer())
    reply = pool.ask(request := pool.turn())
    assert (reply.status, reply.end, reply.text) == (200, "whole", "This is last speaking.")
    pool.saw(request, *DEAD, "last")
    rows = {name: 24 if name == "in-stream" else 18 for name in DEAD}
    held = {name: [(scope, row, left) for scope, row, left in holds] for name, holds in pool.holds().items()}
    assert held == {name: [("account", rows[name], about(900))] for name in DEAD} or held == {
        name: [("account", 18, about(900))] for name in DEAD
    }
    assert {pool.proxy.account(name)["state"] for name in DEAD} == {"auth_dead"}


def test_row_18_a_conversation_that_stuck_to_a_refused_login_moves_for_good(make: Make) -> None:
    """An organization that switched off its logins is no trap for who was served there until now."""
    pool = make("work", "home")
    session = "cccccccc-2222-4333-8444-555555555555"
    assert pool.ask(pool.turn(session=session)).status == 200
    pool.upstream.script("work", org_not_allowed())
    for _ in range(2):
        assert pool.ask(pool.turn(session=session)).text == "This is home speaking."
    assert pool.upstream.requests.accounts() == ["work", "work", "home", "home"]
    assert pool.proxy.account("work")["state"] == "auth_dead"


def test_row_18_own_answer_b_names_the_accounts_and_the_way_out(make: Make) -> None:
    """When every login is refused, at once or before, the client gets a 502 that it does not repeat."""
    pool = make("work", "home")
    pool.upstream.default("work", bad_token())
    pool.upstream.default("home", revoked())
    for _ in range(2):
        reply = pool.ask(pool.turn())
        kind, message = reply.error
        assert (reply.status, reply.end, kind) == (502, "whole", "api_error")
        assert reply.header("x-should-retry") == "false"
        assert "work" in message
        assert "home" in message
        assert "flowpool " in message
    assert pool.upstream.requests.accounts() == ["work", "home"]


def test_row_19_a_forbidden_family_is_held_ten_minutes_and_the_turn_moves_on(make: Make) -> None:
    """Any other 403 holds account and family; another family is still served by the account."""
    pool = make("work", "home")
    pool.upstream.script("work", forbidden())
    reply = pool.ask(request := pool.turn())
    assert (reply.status, reply.text) == (200, "This is home speaking.")
    pool.saw(request, "work", "home")
    assert pool.holds() == {"work": [("opus", 19, about(600))]}
    pool.upstream.reset()
    request = pool.turn(model="claude-haiku-5")
    assert pool.ask(request).text == "This is work speaking."
    pool.saw(request, "work")


def test_row_19_when_every_account_says_403_the_holds_are_taken_back(make: Make) -> None:
    """It is the request then: own answer B quotes the upstream's words, and the next request is served."""
    pool = make("work", "home")
    pool.upstream.script("work", forbidden("Not from here"))
    pool.upstream.script("home", forbidden("Not from here"))
    reply = pool.ask(request := pool.turn())
    kind, message = reply.error
    assert (reply.status, kind, reply.header("x-should-retry")) == (502, "api_error", "false")
    assert "Not from here" in message
    pool.saw(request, "work", "home")
    assert pool.holds() == {}
    assert pool.ask(pool.turn()).status == 200


def test_row_19_beside_another_refusal_relays_the_one_that_is_no_login(make: Make) -> None:
    """One account 403, the other 529: neither A nor B fits, and the 529 is relayed; the 403's hold stays."""
    pool = make("work", "home")
    answers = overloaded(), overloaded(), overloaded(retry_after=5)
    pool.upstream.script("work", *answers)
    pool.upstream.script("home", forbidden())
    reply = pool.ask(request := pool.turn())
    assert (reply.status, reply.end, reply.body) == (529, "whole", answers[-1].body)
    pool.saw(request, "work", "work", "work", "home")
    assert pool.holds() == {"home": [("opus", 19, about(600))]}


def test_rows_13_and_18_together_are_own_answer_a(make: Make) -> None:
    """As long as one account's bar ends by itself, the client is told when: not that it should log in."""
    pool = make("work", "home")
    pool.upstream.script("work", bad_token())
    pool.upstream.script("home", limit("7d", resets_in=7200))
    reply = pool.ask(request := pool.turn())
    assert (reply.status, reply.error[0]) == (429, "rate_limit_error")
    assert 7100 < int(reply.header("retry-after") or 0) <= 7201
    pool.saw(request, "work", "home")


def test_row_20_missing_money_holds_the_account_and_the_turn_moves_on(make: Make) -> None:
    """402 and an empty balance hold for a day; used-up extra usage to the soonest known reset, else for an hour."""
    pool = make("paid", "balance", "extra", "spent", "last")
    pool.ask(pool.turn())  # measures "paid"
    pool.upstream.reset()
    pool.upstream.script("paid", usage_limits())
    pool.upstream.script("balance", credit_balance())
    pool.upstream.script("extra", extra_usage())
    pool.upstream.script("spent", payment_required())
    reply = pool.ask(request := pool.turn())
    assert (reply.status, reply.text) == (200, "This is last speaking.")
    pool.saw(request, "paid", "balance", "extra", "spent", "last")
    assert pool.holds() == {
        "paid": [("account", 20, about(9_000, 30))],  # the 5h window's reset in the first answer's headers
        "balance": [("account", 20, about(86_400))],
        "extra": [("account", 20, about(3_600))],
        "spent": [("account", 20, about(86_400))],
    }


@pytest.mark.parametrize("answer", [credit_balance(), payment_required()], ids=["400", "402"])
def test_row_20_with_nobody_left_a_400_is_relayed_and_a_402_is_own_answer_a(make: Make, answer: Answer) -> None:
    """The vendor's 400 says enough; a 402 would end the client's turn for good, so it is told when to come again."""
    pool = make("work")
    pool.upstream.script("work", answer)
    reply = pool.ask(request := pool.turn())
    pool.saw(request, "work")
    if answer.status == 400:
        assert (reply.status, reply.body) == (400, answer.body)
    else:
        assert (reply.status, reply.error[0]) == (429, "rate_limit_error")
        assert 86_300 < int(reply.header("retry-after") or 0) <= 86_400
    assert pool.ask(pool.turn()).status == 429
    assert pool.holds() == {"work": [("account", 20, about(86_400))]}


def test_an_account_without_a_stored_secret_is_passed_over_as_dead(make: Make) -> None:
    """An account without a secret stands as refused from the start: shown, never next, never sent; the secret alone mends it."""
    pool = make("work", "home")
    secrets = pool.proxy.home / "secrets.json"
    before = secrets.read_bytes()
    FileStore(secrets).delete(pool.proxy.members["work"].id)
    pool.proxy.restart()
    status = pool.proxy.status()
    assert (status["accounts"][0]["state"], status["next"]["any"]) == ("broken", "home")
    reply = pool.ask(request := pool.turn())
    assert (reply.status, reply.text) == (200, "This is home speaking.")
    pool.saw(request, "home")
    assert [(hold["row"], hold["until"]) for hold in pool.proxy.status()["accounts"][0]["holds"]] == [(18, None)]
    secrets.write_bytes(before)
    pool.proxy.restart()
    assert pool.holds() == {}
