"""No credential, neither the pool's nor the client's, is written anywhere, whatever becomes of its request."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import command
from tests.e2e.client import Client, Request, count_tokens
from tests.e2e.conftest import Make
from tests.e2e.harness import Member
from tests.e2e.pool import BLOCK, Pool, token
from tests.upstream import bad_token, drop, limit, login, ok, overloaded, plant, silent

MEMBERS = (
    Member(name="work", secret=plant("work"), rank=1),
    Member(name="home", secret=login(plant("home", "oauth")), kind="oauth", rank=2),
    Member(name="key", secret=plant("key", "api-key"), kind="api-key", rank=3),
)


class Planted:
    """What must not be found, and requests that carry it."""

    def __init__(self, pool: Pool) -> None:
        self.pool = pool
        self.others = [plant("client"), plant("client", "api-key"), plant("cookie"), plant("proxy"), plant("control")]

    def turn(self) -> Request:
        """A turn with secrets in every header that may hold one."""
        bearer, key, cookie, proxy, control = self.others
        turn = self.pool.turn().having(("Authorization", f"Bearer {bearer}"))
        extra = (
            ("X-Api-Key", key),
            ("Cookie", f"s={cookie}"),
            ("Proxy-Authorization", f"Basic {proxy}"),
            ("X-Flowpool-Key", control),
        )
        return Request(path=turn.path, headers=(*turn.headers, *extra), body=turn.body)

    def all(self) -> list[str]:
        """Every planted text."""
        refresh = [
            member.secret.split('"refreshToken": "')[1].split('"')[0] for member in MEMBERS if member.kind == "oauth"
        ]
        return [*self.others, self.pool.token, *map(token, MEMBERS), *refresh]

    def found(self) -> dict[str, list[str]]:
        """Where each of them stands."""
        places = {secret: self.pool.proxy.leaks(secret) for secret in self.all()}
        return {secret: found for secret, found in places.items() if found}


def _all_that_can_happen(pool: Pool, planted: Planted) -> None:
    upstream = pool.upstream
    pool.ask(planted.turn())
    pool.ask(count_tokens(pool.token))
    pool.ask(
        Request(
            method="GET",
            path="/v1/models",
            headers=(("Authorization", f"Bearer {pool.token}"), ("Cookie", planted.others[2])),
        )
    )
    pool.ask(planted.turn().having(("Host", "evil.example")))
    pool.ask(
        Request(method="CONNECT", path="api.anthropic.com:443", headers=(("Proxy-Authorization", planted.others[3]),))
    )
    pool.ask(Request(method="GET", path="/_flowpool/status", headers=(("X-Flowpool-Key", planted.others[4]),)))
    pool.ask(Request(path="/v1/v1/messages", headers=planted.turn().headers))
    for answer in (drop("reset"), ok().cut("reset", after="content_block_start"), ok().cut("fin", after="ping")):
        upstream.script("work", answer)
        pool.ask(planted.turn())
    upstream.script("work", overloaded())
    pool.ask(planted.turn())
    upstream.script("work", ok().wait("never", after="content_block_start"))
    with pool.client() as client:
        client.send(planted.turn())
        client.begin().until(BLOCK)
        client.abort()
    upstream.script("work", limit("7d"))
    upstream.script("home", bad_token())
    pool.ask(planted.turn())
    upstream.script("key", bad_token())
    pool.ask(planted.turn())


@pytest.mark.parametrize("program", ["mitmdump", "mitmweb"])
def test_planted_tokens_are_in_no_file_no_log_and_no_status(make: Make, program: str) -> None:
    """Good, refused, reset, cut, aborted and turned away: afterwards no secret is in the flow file, log, status or folder."""
    args = (
        ("-w", "flows", "--set", "flow_detail=4", "--set", "termlog_verbosity=debug")
        if program == "mitmdump"
        else ("-w", "flows")
    )
    pool = make(members=MEMBERS, args=args, program=program)
    planted = Planted(pool)
    _all_that_can_happen(pool, planted)
    told = repr(pool.proxy.status())
    told += command.shown(("status", "--json"), pool.proxy.env())
    assert not [secret for secret in planted.all() if secret in told]
    pool.settle()
    pool.proxy.stop()
    assert (pool.proxy.folder / "flows").stat().st_size > 10_000
    assert planted.found() == {}
    pool.proxy.mark()
    pool.proxy.start()


def test_planted_tokens_are_in_no_file_when_the_proxy_is_killed_in_flight(make: Make) -> None:
    """SIGKILL while requests are before their headers, in the gate, in mid-stream and in a wait leaves nothing behind."""
    pool = make(members=MEMBERS, args=("-w", "flows"))
    planted = Planted(pool)
    pool.ask(planted.turn())
    answers = silent(), ok().wait("never", after="ping"), ok().wait("never", after="content_block_start")
    pool.upstream.script("work", *answers)
    clients = [Client(pool.proxy.url) for _ in answers]
    for count, client in enumerate(clients, 2):
        client.send(planted.turn())
        pool.upstream.requests.wait_for(count)
    clients[2].begin().until(BLOCK)
    pool.proxy.kill()
    for client in clients:
        client.close()
    assert planted.found() == {}
    pool.upstream.reset()
    pool.proxy.mark()
    pool.proxy.start()


def test_the_client_s_token_reaches_no_upstream_of_a_pooled_path(make: Make) -> None:
    """However often a turn is sent again, what each account's upstream sees of the client's credentials is nothing."""
    pool = make(members=MEMBERS)
    planted = Planted(pool)
    for name in ("work", "home"):
        pool.upstream.script(name, limit("7d"))
    assert pool.ask(planted.turn()).status == 200
    assert pool.upstream.requests.accounts() == ["work", "home", "key"]
    for received in pool.upstream.requests:
        seen = repr(received.headers) + received.body.decode()
        mine = token(next(member for member in MEMBERS if member.name == received.account))
        assert [secret for secret in planted.all() if secret in seen] == [mine]


def test_what_flowpool_writes_is_its_owner_s_alone(shared: Pool) -> None:
    """secrets.json, control.key and the folder are closed to others."""
    for name, mode in (("secrets.json", 0o600), ("control.key", 0o600), ("accounts.toml", 0o600), (".", 0o700)):
        assert Path(shared.proxy.home / name).stat().st_mode & 0o777 == mode
