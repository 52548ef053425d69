"""A client that shows the placeholder: its turns are the pool's, its identity the primary's, and the placeholder stays here.

Own answer H of docs/verdicts.md.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from home import accounts as book
from providers.anthropic.placeholder import PLACEHOLDER
from tests.e2e.client import Request, count_tokens, turn
from tests.e2e.conftest import Make
from tests.e2e.harness import Member
from tests.e2e.pool import Pool, ranked, token
from tests.e2e.test_renewal import renewing
from tests.upstream import bad_token, plant

BEARER = ("Authorization", f"Bearer {PLACEHOLDER}")
KEY = ("X-Api-Key", PLACEHOLDER)
ASKS: dict[str, Request] = {
    "a turn": turn(PLACEHOLDER),
    "counting": count_tokens(PLACEHOLDER),
    "a turn by key": turn(PLACEHOLDER).without("authorization").having(KEY),
    "the profile": Request(method="GET", path="/api/oauth/profile", headers=(BEARER,)),
    "the profile by key": Request(method="GET", path="/api/oauth/profile", headers=(KEY,)),
    "a batch": Request(path="/v1/messages/batches", headers=(BEARER, KEY, ("Cookie", f"s={PLACEHOLDER}")), body=b"{}"),
    "models, in another header": Request(method="GET", path="/v1/models", headers=(("X-Other", PLACEHOLDER),)),
    "models, in the address": Request(method="GET", path=f"/v1/models?key={PLACEHOLDER}", headers=(BEARER,)),
    "an upgrade": Request(
        method="GET",
        path="/v1/sockets",
        headers=(
            BEARER,
            ("Connection", "Upgrade"),
            ("Upgrade", "websocket"),
            ("Sec-WebSocket-Version", "13"),
            ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="),
        ),
    ),
}


def shows(pool: Pool) -> list[str]:
    """Requests that reached the upstream with the placeholder in them."""
    return [f"{one.path} {one.headers}" for one in pool.upstream.requests if PLACEHOLDER in f"{one.path}{one.headers}"]


@pytest.mark.parametrize("primary", ["home", None])
def test_the_placeholder_never_reaches_the_upstream(make: Make, primary: str | None) -> None:
    """In no header, on no path, with a primary and without."""
    pool = make(members=[replace(one, primary=one.name == primary) for one in ranked("work", "home")])
    statuses = {name: pool.ask(request).status for name, request in ASKS.items()}

    assert shows(pool) == []
    assert statuses.pop("models, in another header") == 401  # the upstream's own, to a request without a credential
    assert 401 not in statuses.values()
    signed = {one.path.partition("?")[0]: one.account for one in pool.upstream.requests}
    assert signed.get("/v1/messages") == "work"
    assert signed.get("/api/oauth/profile") == primary
    assert signed.get("/v1/messages/batches") == primary
    assert not pool.proxy.leaks(token(pool.proxy.members["home"]))


def test_the_placeholder_never_reaches_the_upstream_of_an_empty_pool(make: Make) -> None:
    """Own answer H for pooled paths, too: there is no login that could pass through."""
    pool = make(members=())
    statuses = {name: pool.ask(request).status for name, request in ASKS.items() if "models" not in name}

    pooled = {"a turn", "counting", "a turn by key"}
    assert statuses == {name: 503 if name in pooled else 404 for name in statuses}
    assert list(pool.upstream.requests) == []
    assert pool.ask(pool.turn()).status == 200  # a client's own login passes through as ever


def test_a_primary_is_taken_up_while_the_proxy_runs(make: Make) -> None:
    """First the answer says what to run; then the same request goes out on it; and the other way round."""
    pool = make("work", "home")
    profile = ASKS["the profile"]
    told = pool.ask(profile)
    assert told.status == 404
    assert "flowpool primary NAME" in json.loads(told.body)["error"]["message"]

    members = [replace(one, primary=one.name == "home") for one in pool.proxy.members.values()]
    pool.proxy.write_accounts(*members)
    pool.proxy.wait_log("home is the primary")
    assert pool.ask(profile).status == 200
    pool.proxy.write_accounts(*(replace(one, primary=False) for one in members))
    pool.proxy.wait_log("home is no longer the primary")
    assert pool.ask(profile).status == 404


def test_a_refused_primary_is_no_401(make: Make) -> None:
    """Own answer B: a login that cannot be renewed does not make the client drop anything."""
    member = Member(name="home", secret=plant("home"), primary=True)
    pool = make(members=[member])
    pool.upstream.script("home", bad_token(), path="/api/oauth/profile")
    told = pool.ask(ASKS["the profile"])

    assert told.status == 502
    assert "flowpool add home --replace" in json.loads(told.body)["error"]["message"]
    assert token(member) in str(pool.upstream.requests[0].headers)


def test_a_login_of_the_primary_that_ended_is_renewed(tmp_path: Path) -> None:
    """As for a turn, row 17: the client sees the answer that came with the new token."""
    with renewing(tmp_path) as pool:
        book.edit(pool.proxy.home / "accounts.toml", lambda known: (replace(known[0], primary=True),))
        pool.proxy.wait_log("work is the primary")
        pool.endpoint.revoke("work")

        assert pool.ask(ASKS["the profile"]).status == 200
        assert pool.is_latest("work")
        assert len(pool.endpoint.calls) == 1
        assert shows(pool) == []
