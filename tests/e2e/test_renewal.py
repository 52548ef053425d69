"""Rows 16 and 17 of docs/verdicts.md: logins that end, and are renewed before a client notices.

The token endpoint exchanges each refresh token once, as the vendor's does.
"""

from __future__ import annotations

import itertools
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from credentials.file import FileStore
from tests.e2e.client import PATIENCE, Reply, count_tokens, startup_check
from tests.e2e.harness import ROOT, Member, Proxy
from tests.e2e.pool import CLIENT, Pool, about
from tests.upstream import Received, Upstream, bad_token, ok, org_not_allowed, plant, server_error
from tests.upstream.answer import Answer
from tests.upstream.vendor import Pair, TokenEndpoint, invalid_client, invalid_grant, too_many

HOURS, LAPSED, SOON = 8 * 3600.0, -60.0, 60.0  # until an access token ends
QUICK = {"retry": {"renewal_s": 1.0}}


@dataclass
class Renewing(Pool):
    """A pool of logins that a token endpoint renews. first: each account's first pair."""

    endpoint: TokenEndpoint
    first: dict[str, Pair]

    def pair(self, name: str) -> tuple[str, str]:
        """What the store keeps of an account."""
        kept = FileStore(self.proxy.home / "secrets.json").get(self.proxy.members[name].id)
        assert kept.refresh is not None
        return kept.access.reveal(), kept.refresh.reveal()

    def is_latest(self, name: str) -> bool:
        """Whether the store keeps what the endpoint gave last."""
        latest = self.endpoint.latest[name]
        return self.pair(name) == (latest.access, latest.refresh)

    def many(self, count: int) -> list[Reply]:
        """As many answers to requests of conversations of their own, all at once."""
        with ThreadPoolExecutor(count) as pool:
            return list(pool.map(lambda _: self.ask(self.turn()), range(count)))


@contextmanager
def renewing(
    folder: Path,
    names: Sequence[str] = ("work",),
    *,
    ends: float = HOURS,
    lasts: float = HOURS,
    is_refused: bool = False,
    enabled: bool = True,
    before: Callable[[TokenEndpoint], object] = lambda _: None,
    **kwargs: Any,
) -> Iterator[Renewing]:
    """Start upstream, endpoint and proxy. ends: in so many seconds, by what the store says; lasts: in truth."""
    token = plant(CLIENT)
    with Upstream({CLIENT: token}) as upstream:
        endpoint = TokenEndpoint(upstream)
        first = {name: endpoint.issue(name, lasts) for name in names}
        members = [
            Member(name=name, kind="oauth", secret=endpoint.login_file(pair, ends), rank=rank, enabled=enabled)
            for rank, (name, pair) in enumerate(first.items(), 1)
        ]
        if is_refused:
            for name in names:
                endpoint.revoke(name)
        before(endpoint)
        proxy = Proxy(folder, upstream, members, told_mode=True, **kwargs)
        with proxy:
            pool = Renewing(upstream, proxy, token, endpoint, first)
            yield pool
            pool.end()
        assert max(endpoint.spent.values(), default=0) <= 1
        assert not any(call.overlapped for call in endpoint.calls)
        assert all(proxy.leaks(pair.refresh) == [] for pair in (*first.values(), *endpoint.latest.values()))


def until(what: Callable[[], bool]) -> None:
    """Return once it is so; fails when that does not come about."""
    end = time.monotonic() + PATIENCE
    while not what():
        assert time.monotonic() < end, "that did not come about"
        time.sleep(0.02)


def test_row_17_a_login_that_was_refused_is_renewed_before_the_client_notices(tmp_path: Path) -> None:
    """A token revoked long before its end costs one renewal, and the turn goes out again on the same account (X06, X18)."""
    with renewing(tmp_path, ("work", "home"), is_refused=True) as pool:
        reply = pool.ask(request := pool.turn())
        assert (reply.status, reply.text) == (200, "This is work speaking.")
        asked = [one for one in pool.upstream.requests if one.path == request.path]
        assert [one.account.partition("-")[0] for one in asked] == ["unknown", "work"]
        assert all(one.body == request.body for one in asked)
        assert pool.is_latest("work")
        assert pool.holds() == {}
        assert pool.logged()["tried"][0]["row"] == 17
        assert len(pool.endpoint.calls) == 1


def test_row_17_eight_requests_at_once_spend_one_token(tmp_path: Path) -> None:
    """All of them wait for the same renewal, and all are served on the account that they asked."""
    with renewing(tmp_path, ends=LAPSED, is_refused=True) as pool:
        assert [reply.text for reply in pool.many(8)] == ["This is work speaking."] * 8
        assert len(pool.endpoint.calls) == 1
        assert pool.is_latest("work")


def test_row_16_who_was_refused_with_an_older_token_goes_out_with_the_newer(tmp_path: Path) -> None:
    """A refusal that comes late, after the login was renewed for another request, renews nothing."""
    with renewing(tmp_path) as pool:
        pool.upstream.script("work", bad_token().late("slow"))
        with ThreadPoolExecutor(1) as worker:
            slow = worker.submit(pool.ask, pool.turn())
            pool.upstream.wait_held("slow")
            pool.endpoint.revoke("work")
            assert pool.ask(pool.turn()).status == 200
            pool.upstream.release("slow")
            assert slow.result(PATIENCE).text == "This is work speaking."
        rows = [line["tried"][0]["row"] for line in pool.proxy.requests(2)]
        assert sorted(rows) == [16, 17]
        assert len(pool.endpoint.calls) == 1


def test_row_18_a_second_refusal_after_the_renewal_is_final(tmp_path: Path) -> None:
    """What is refused with a token that was just given needs its owner: once per account and request, no more (X18)."""
    with renewing(tmp_path, ("work", "home")) as pool:
        pool.upstream.script("work", bad_token(), bad_token())
        assert pool.ask(pool.turn()).text == "This is home speaking."
        assert [one["row"] for one in pool.logged()["tried"]][:2] == [17, 18]
        assert pool.holds() == {"work": [("account", 18, about(900))]}
        assert len(pool.endpoint.calls) == 1


def test_row_18_what_no_renewal_mends_is_not_renewed(tmp_path: Path) -> None:
    """An organization that forbids logins forbids the next token as well (X08)."""
    with renewing(tmp_path, ("work", "home")) as pool:
        pool.upstream.script("work", org_not_allowed())
        assert pool.ask(pool.turn()).text == "This is home speaking."
        assert pool.holds() == {"work": [("account", 18, about(900))]}
        assert pool.endpoint.calls == []


def test_a_login_is_renewed_before_it_ends(tmp_path: Path) -> None:
    """Without a request, and once although requests come in the same moment (X01)."""
    with renewing(tmp_path, ends=SOON) as pool:
        assert {reply.status for reply in pool.many(8)} == {200}
        pool.proxy.wait_log("the login of work was renewed")
        assert pool.is_latest("work")
        assert pool.ask(pool.turn()).status == 200
        assert len(pool.endpoint.calls) == 1
        account = pool.proxy.account("work")
        assert account["state"] == "healthy"
        assert account["expires_at"] > account["checked_at"]
        assert account["refresh_expires_at"] > account["expires_at"]


def test_a_disabled_account_is_kept_alive(tmp_path: Path) -> None:
    """A login that nobody uses ends like any other, so it is renewed like any other; nobody pays with it."""
    with renewing(tmp_path, ends=SOON, enabled=False) as pool:
        until(lambda: pool.is_latest("work"))
        assert pool.ask(pool.turn()).status == 503


def test_accounts_that_end_together_are_renewed_one_after_another(tmp_path: Path) -> None:
    """No two in the same second: a vendor may take a burst for theft (X04, X11)."""
    with renewing(tmp_path, ("work", "home", "third"), ends=LAPSED) as pool:
        until(lambda: all(pool.is_latest(name) for name in pool.first) and len(pool.endpoint.calls) == 3)
        starts = sorted(call.at for call in pool.endpoint.calls)
        assert min(later - earlier for earlier, later in itertools.pairwise(starts)) >= 1


def test_a_busy_endpoint_is_left_alone_and_the_old_token_goes_on(tmp_path: Path) -> None:
    """A 429 with Retry-After is obeyed; all are served with the token that still is good (X03)."""
    with renewing(tmp_path, ends=20.0, before=lambda endpoint: endpoint.script(too_many(45))) as pool:
        pool.proxy.wait_log("the login of work was not renewed")
        assert {reply.status for reply in pool.many(8)} == {200}
        assert len(pool.endpoint.calls) == 1
        assert pool.pair("work") == (pool.first["work"].access, pool.first["work"].refresh)
        assert pool.holds() == {}


def test_a_refused_token_that_cannot_be_renewed_now_moves_the_turn_on(tmp_path: Path) -> None:
    """The account is left alone until the endpoint may be asked again; no login is called dead for that."""
    script = [too_many(45)]
    with renewing(tmp_path, ("work", "home"), before=lambda endpoint: endpoint.script(*script)) as pool:
        pool.endpoint.revoke("work")
        for _ in range(2):
            assert pool.ask(pool.turn()).text == "This is home speaking."
        assert pool.holds() == {"work": [("account", 17, about(75))]}
        assert pool.proxy.account("work")["state"] == "error"
        assert len(pool.endpoint.calls) == 1


def test_a_hanging_endpoint_costs_a_request_its_patience_and_no_login(tmp_path: Path) -> None:
    """The turn moves on after renewal_s; the late answer is still taken, and the account serves again."""
    with renewing(tmp_path, ("work", "home"), settings=QUICK) as pool:
        pool.endpoint.script(lambda received: pool.endpoint.exchange(received).late("slow"))
        pool.endpoint.revoke("work")
        assert pool.ask(pool.turn()).text == "This is home speaking."
        assert pool.proxy.account("work")["state"] == "error"
        assert pool.ask(pool.turn()).text == "This is home speaking."
        pool.upstream.release("slow")
        until(lambda: pool.is_latest("work"))
        until(lambda: pool.holds() == {})
        assert pool.ask(pool.turn()).text == "This is work speaking."
        assert len(pool.endpoint.calls) == 1


def test_a_renewal_that_takes_long_ends_no_login(tmp_path: Path) -> None:
    """Where there is no other account, the turn waits and asks again; nobody is told to log in, and the late answer is taken."""
    patient = {"retry": {"renewal_s": 0.5}, "wait": {"max": 60}}
    with renewing(tmp_path, settings=patient) as pool:
        pool.endpoint.script(lambda received: pool.endpoint.exchange(received).late("slow"))
        pool.endpoint.revoke("work")
        with ThreadPoolExecutor(1) as worker:
            turn = worker.submit(pool.ask, pool.turn())
            until(lambda: sum("/messages" in one.path for one in pool.upstream.requests) >= 2)
            assert pool.proxy.account("work")["state"] != "auth_dead"
            pool.upstream.release("slow")
            assert turn.result(PATIENCE).text == "This is work speaking."
        assert {one["row"] for one in pool.logged()["tried"]} == {17, 8}
        assert len(pool.endpoint.calls) == 1


def test_a_side_call_that_does_not_wait_for_a_renewal_meets_no_limit(tmp_path: Path) -> None:
    """It is told to come again soon, and not that a week's limit is reached."""
    with renewing(tmp_path) as pool:
        pool.endpoint.script(lambda received: pool.endpoint.exchange(received).late("slow"))
        pool.endpoint.revoke("work")
        for call in (count_tokens, startup_check):
            reply = pool.ask(call(pool.token))
            assert (reply.status, int(reply.header("retry-after") or 0) > 0) == (429, True)
            assert b"anthropic-ratelimit" not in reply.head
        pool.upstream.release("slow")
        until(lambda: pool.is_latest("work"))


def test_a_login_that_has_ended_is_asked_for_once_and_never_again(tmp_path: Path) -> None:
    """invalid_grant is final, also over a restart; the client is told what to run."""
    with renewing(tmp_path, is_refused=True) as pool:
        pool.endpoint.end("work")
        for _ in range(2):
            reply = pool.ask(pool.turn())
            assert (reply.status, reply.header("x-should-retry")) == (502, "false")
            assert "flowpool login work" in reply.error[1]
        assert pool.proxy.account("work")["state"] == "auth_dead"
        pool.proxy.restart()
        assert pool.ask(pool.turn()).status == 502
        assert len(pool.endpoint.calls) == 1


def test_a_login_that_has_ended_serves_until_its_token_ends(tmp_path: Path) -> None:
    """The access token outlives the refresh token; the status says what comes."""
    with renewing(tmp_path, ends=SOON, before=lambda endpoint: endpoint.script(invalid_grant())) as pool:
        pool.proxy.wait_log("work: its login has ended")
        assert pool.ask(pool.turn()).status == 200
        assert pool.proxy.account("work")["state"] == "expiring"
        assert pool.holds() == {}


def test_a_program_that_the_endpoint_does_not_know_blames_no_account(tmp_path: Path) -> None:
    """invalid_client is about flowpool: every login is tried again later."""
    script = [invalid_client()]
    with renewing(tmp_path, ends=SOON, before=lambda endpoint: endpoint.script(*script)) as pool:
        pool.proxy.wait_log("the login of work was not renewed")
        assert pool.ask(pool.turn()).status == 200
        assert pool.proxy.account("work")["state"] == "healthy"


@pytest.mark.parametrize("when", ["before the answer", "after the answer"])
def test_a_proxy_that_is_killed_meanwhile_loses_no_login(tmp_path: Path, when: str) -> None:
    """Kill -9 while a token is exchanged: the pair is kept by the command that asked for it, and the next proxy has it."""
    asked, killed = threading.Event(), threading.Event()

    def exchange(received: Received) -> Answer:
        answer = pool.endpoint.exchange(received)
        asked.set()
        if when == "before the answer":
            killed.wait(PATIENCE)
        return answer

    with renewing(tmp_path, ("work", "home")) as pool:
        pool.endpoint.script(exchange)
        pool.endpoint.revoke("work")
        with ThreadPoolExecutor(1) as worker:
            cut = worker.submit(pool.ask, pool.turn())
            assert asked.wait(PATIENCE)
            pool.proxy.kill()
            killed.set()
            assert cut.result(PATIENCE).end != "whole"
        pool.proxy.restart(kill=True)
        until(lambda: pool.is_latest("work"))
        assert pool.ask(pool.turn()).text == "This is work speaking."
        assert len(pool.endpoint.calls) == 1


def test_a_command_beside_the_proxy_shares_its_renewal(tmp_path: Path) -> None:
    """Two processes on one home: one call, and the proxy serves with what the command got (X10)."""
    with renewing(tmp_path) as pool:
        pool.endpoint.revoke("work")
        pool.endpoint.script(lambda received: pool.endpoint.exchange(received).late("slow"))
        command = subprocess.Popen(
            [sys.executable, "-m", "flowpool", "refresh", "work"],
            cwd=ROOT,
            env=pool.proxy.env(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        pool.upstream.wait_held("slow")
        with ThreadPoolExecutor(8) as workers:
            turns = [workers.submit(pool.ask, pool.turn()) for _ in range(8)]
            pool.upstream.release("slow")
            assert [turn.result(PATIENCE).text for turn in turns] == ["This is work speaking."] * 8
        said = command.communicate(timeout=PATIENCE)[0].decode()
        assert command.returncode == 0, said
        assert len(pool.endpoint.calls) == 1


def test_a_storm_of_failures_is_one_incident(tmp_path: Path) -> None:
    """When two accounts fail in a row the others are spared, and one line says so (X23)."""
    names = ("work", "home", "third", "fourth")
    script = [server_error()] * 8
    with renewing(tmp_path, names, ends=SOON, before=lambda endpoint: endpoint.script(*script)) as pool:
        pool.proxy.wait_log("renewing logins of anthropic pauses")
        assert len(pool.endpoint.calls) == 2
        assert pool.proxy.log_text().count("renewing logins of anthropic pauses") == 1
        assert {reply.status for reply in pool.many(4)} == {200}
        pool.endpoint._scripts.clear()


def test_an_answer_that_streams_after_a_renewal_streams(tmp_path: Path) -> None:
    """What is replayed after a renewal comes as it is made, not at its end."""
    with renewing(tmp_path, is_refused=True) as pool:
        pool.upstream.default("work", ok("one two").wait("half", after="content_block_delta"))
        with pool.client() as client:
            client.send(pool.turn())
            reply = client.begin().until(b"content_block_delta")
            assert reply.end is None
            pool.upstream.release("half")
            whole = reply.rest()
            assert (whole.status, whole.end) == (200, "whole")
