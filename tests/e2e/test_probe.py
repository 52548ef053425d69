"""A real proxy measures its accounts while nobody asks, and opens windows early; no request of a client suffers for it."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from home.state import reader
from home.state.moments import of_text, to_text
from routing.gauges import Gauge
from tests import command
from tests.e2e.client import PATIENCE
from tests.e2e.harness import Member, Proxy
from tests.e2e.pool import CLIENT, Pool, about, token
from tests.upstream import Received, Upstream, bad_token, plant
from tests.upstream.answer import Answer
from tests.upstream.side import MESSAGES, USAGE
from tests.upstream.usage import usage_limited, usage_of, usage_out_of_scope

NEVER_OUT = {"day": "00:00-23:59"}  # with one account the next day's stretch begins before this one ends


def login(name: str, rank: int) -> Member:
    """A login that may ask for its use."""
    inner = {"accessToken": plant(name, "oauth"), "scopes": ["user:inference", "user:profile"]}
    return Member(name=name, kind="oauth", secret=json.dumps({"claudeAiOauth": inner}), rank=rank)


LOGINS = (login("work", 1), login("home", 2))
TOKEN = Member(name="token", secret=plant("token"), rank=3)


@contextmanager
def pool_of(
    folder: Path, *members: Member, usage: Answer | None = None, settings: dict[str, Any] | None = None
) -> Iterator[Pool]:
    """A proxy whose upstream answers so to whoever asks for use."""
    client = plant(CLIENT)
    with Upstream({member.name: token(member) for member in members} | {CLIENT: client}) as upstream:
        for member in members:
            if usage is not None:
                upstream.default(member.name, usage, path=USAGE)
        with Proxy(folder, upstream, members, settings=settings, told_mode=True) as proxy:
            yield Pool(upstream, proxy, client)
            assert upstream.faults == []


def status(pool: Pool) -> dict[str, dict[str, Any]]:
    """The accounts of `flowpool status --json`, by name."""
    shown = command.shown(("status", "--json"), pool.proxy.env())
    return {account["name"]: account for account in json.loads(shown)["accounts"]}


def until(claim: Callable[[], bool], what: str) -> None:
    """Ask again and again until the claim is true."""
    end = time.monotonic() + PATIENCE
    while not claim():
        assert time.monotonic() < end, what


def asked(pool: Pool, path: str = USAGE) -> list[Received]:
    """What came to that path."""
    return [one for one in pool.upstream.requests if one.path.partition("?")[0] == path]


def own(pool: Pool) -> list[Received]:
    """The least requests, which no client sent."""
    return [one for one in asked(pool, MESSAGES) if one.size < 200]


def settled(pool: Pool, *names: str) -> dict[str, dict[str, Any]]:
    """The accounts, once these have been measured."""
    until(lambda: all(pool.proxy.account(name)["windows"] for name in names), "they were measured")
    return status(pool)


def on_disk(pool: Pool) -> list[Gauge]:
    """What measuring met, as the state has it."""
    return list(reader.remembered(pool.proxy.home / "state.sqlite3").gauges.values())


def let_pass(pool: Pool, seconds: float) -> None:
    """Let what a proxy that has ended noted be so much older."""
    earlier = timedelta(seconds=seconds)
    with closing(sqlite3.connect(pool.proxy.home / "state.sqlite3", isolation_level=None)) as connection:
        for account, *noted in connection.execute("SELECT account, asked_at, rest_until FROM gauges").fetchall():
            moments = [None if (was := of_text(text)) is None else to_text(was - earlier) for text in noted]
            connection.execute("UPDATE gauges SET asked_at = ?, rest_until = ? WHERE account = ?", (*moments, account))


def join(pool: Pool, member: Member, *, kill: bool = False) -> None:
    """Start another proxy, with one more account or another login of one, which is asked after those before it."""
    pool.proxy.kill() if kill else pool.proxy.stop()
    pool.upstream.add(member.name, token(member))
    pool.proxy.write_accounts(*{**pool.proxy.members, member.name: member}.values())
    pool.proxy.mark()
    pool.proxy.start()


def seconds_to(text: str) -> float:
    return (datetime.fromisoformat(text) - datetime.now(UTC)).total_seconds()


def test_each_account_that_may_is_asked_once_and_percents_become_fractions(tmp_path: Path) -> None:
    """0.6 % is 0.006 (X33); a setup token is not asked, and a login only on its own credential."""
    resets = {"five_hour": datetime.now(UTC) + timedelta(hours=2)}
    answer = usage_of(resets, five_hour=46, seven_day=0.6, seven_day_opus=None)
    with pool_of(tmp_path, *LOGINS, TOKEN, usage=answer) as pool:
        accounts = settled(pool, "work", "home")

        for name in ("work", "home"):
            windows = {window["key"]: window for window in accounts[name]["windows"]}
            assert {key: window["used"] for key, window in windows.items()} == {"5h": 0.46, "7d": pytest.approx(0.006)}
            assert {window["source"] for window in windows.values()} == {"usage"}
            assert seconds_to(windows["5h"]["resets_at"]) == about(7200)
            assert accounts[name]["state"] == "healthy"
            measuring = accounts[name]["measuring"]
            assert (measuring["by"], measuring["because"]) == ("usage", "it was asked just now")
            assert seconds_to(measuring["next_at"]) == about(180)
        assert accounts["token"]["windows"] == []
        assert accounts["token"]["measuring"] == {
            "by": None,
            "next_at": None,
            "because": "its token may not ask for use",
        }

        assert pool.ask(pool.turn()).status == 200
        assert sorted(one.account for one in asked(pool)) == ["home", "work"]
        assert all(dict(one.headers)["user-agent"].startswith("flowpool/") for one in asked(pool))
        assert pool.proxy.leaks(token(LOGINS[0])) == []


def test_what_was_measured_outlives_a_restart_and_is_not_asked_for_again(tmp_path: Path) -> None:
    """Within three minutes nobody is asked twice, by two proxies either."""
    with pool_of(tmp_path, *LOGINS, usage=usage_of(five_hour=46)) as pool:
        settled(pool, "work", "home")
        pool.proxy.restart()
        again = settled(pool, "work", "home")

        assert [window["used"] for window in again["work"]["windows"]] == [0.46]
        assert again["work"]["measuring"]["because"] == "it was asked just now"
        assert len(asked(pool)) == 2


def test_x39_its_own_429_blames_nobody_and_is_backed_off(tmp_path: Path) -> None:
    """Every account may be asked too often: all serve as before, and nothing goes out without a credential (X39)."""
    with pool_of(tmp_path, *LOGINS, usage=usage_limited(2895)) as pool:
        until(lambda: len(asked(pool)) == 2, "both were asked")
        until(lambda: "429" in pool.proxy.account("home")["measuring"]["because"], "both were answered")
        request = pool.turn()
        assert pool.ask(request).text == "This is work speaking."
        pool.check(asked(pool, MESSAGES)[0], request)

        accounts = status(pool)
        for name in ("work", "home"):
            assert accounts[name]["holds"] == []
            assert accounts[name]["state"] in ("unmeasured", "healthy")
            assert "Rate limited" in accounts[name]["measuring"]["because"]
            assert seconds_to(accounts[name]["measuring"]["next_at"]) == about(2895)
        assert accounts["home"]["checked_at"] is None
        assert len(asked(pool)) == 2
        pool.proxy.wait_log(r"work was not measured: 429 Rate limited\. Please try again later\.; its requests go on")


@pytest.mark.parametrize("answer", [usage_out_of_scope(), bad_token()], ids=["403", "401"])
def test_what_refuses_the_question_refuses_no_account(tmp_path: Path, answer: Answer) -> None:
    """Neither is a word on the login: it serves, and no check of it is ordered."""
    with pool_of(tmp_path, *LOGINS, usage=answer) as pool:
        until(lambda: [one.fate.end for one in asked(pool)] == ["answered"] * 2, "both were answered")

        assert pool.ask(pool.turn()).text == "This is work speaking."
        assert all(account["holds"] == [] for account in status(pool).values())


@pytest.mark.parametrize("kill", [False, True], ids=["stop", "kill -9"])
def test_a_429_outlives_a_restart(tmp_path: Path, kill: bool) -> None:
    """Another proxy asks for who came meanwhile, and for the others not before their time is over."""
    with pool_of(tmp_path, *LOGINS, usage=usage_limited(2895)) as pool:
        until(lambda: [gauge.failures for gauge in on_disk(pool)] == [1, 1], "both were noted")
        join(pool, late := login("late", 3), kill=kill)
        settled(pool, "late")

        assert [one.account for one in asked(pool)] == ["work", "home", "late"]
        for name in ("work", "home"):
            measuring = pool.proxy.account(name)["measuring"]
            assert "Rate limited" in measuring["because"]
            assert seconds_to(measuring["next_at"]) == about(2895)
        assert not any(pool.proxy.leaks(token(member)) for member in (*LOGINS, late))

        pool.proxy.stop()
        let_pass(pool, 2900)
        pool.proxy.mark()
        pool.proxy.start()
        until(lambda: len(asked(pool)) > 4, "both were asked again")
        assert [one.account for one in asked(pool)] == ["work", "home", "late", "work", "home"]


def test_a_403_outlives_a_restart(tmp_path: Path) -> None:
    """A token that may not ask for use is not asked again, however late; another one of the account is."""
    with pool_of(tmp_path, *LOGINS, usage=usage_out_of_scope()) as pool:
        until(lambda: [gauge.is_closed for gauge in on_disk(pool)] == [True, True], "both were noted")
        join(pool, login("late", 3))
        settled(pool, "late")
        assert [one.account for one in asked(pool)] == ["work", "home", "late"]
        assert pool.proxy.account("work")["measuring"]["because"] == "its token may not ask for use"

        pool.proxy.stop()
        let_pass(pool, 90_000)
        join(pool, login("home", 2))
        until(lambda: len(asked(pool)) > 3, "the new token was asked")
        assert [one.account for one in asked(pool)] == ["work", "home", "late", "home"]


def test_no_request_waits_for_an_answer_that_does_not_come(tmp_path: Path) -> None:
    """While the question for use hangs, clients are served as ever."""
    with pool_of(tmp_path, *LOGINS, usage=usage_of(five_hour=46).late("asked")) as pool:
        pool.upstream.wait_held("asked")
        for _ in range(3):
            assert pool.ask(pool.turn()).text == "This is work speaking."
        assert [one.fate.end for one in asked(pool)] == [None]

        pool.upstream.release("asked")
        until(lambda: bool(pool.proxy.account("work")["windows"]), "it was measured")


def test_nothing_is_asked_with_measuring_off(tmp_path: Path) -> None:
    """`probe.usage = false`: only answers tell."""
    with pool_of(tmp_path, *LOGINS, settings={"probe": {"usage": False}}) as pool:
        assert pool.ask(pool.turn()).status == 200
        accounts = status(pool)

        assert asked(pool) == []
        assert accounts["home"]["measuring"]["because"] == "probe.usage is off"
        assert "prime" not in accounts["home"]


def test_a_day_opens_windows_early(tmp_path: Path) -> None:
    """Within its day an account of which nothing was read is primed at once, by one token; `status` says when next."""
    with pool_of(tmp_path, TOKEN, settings={"prime": NEVER_OUT}) as pool:
        pool.proxy.wait_log("primed token: its 5h window runs until ")
        (sent,) = own(pool)
        assert sent.account == "token"
        assert sent.json() == {
            "model": "claude-haiku-5-5",
            "max_tokens": 1,
            "messages": [{"role": "user", "content": "ping"}],
        }

        account = status(pool)["token"]
        (resets_at,) = [window["resets_at"] for window in account["windows"] if window["key"] == "5h"]
        assert account["prime"].keys() == {"slot", "next_at", "because"}
        assert seconds_to(account["prime"]["next_at"]) >= seconds_to(resets_at)
        assert len(own(pool)) == 1
        assert account["requests"] == 0

        shown = command.shown(("status",), pool.proxy.env() | {"COLUMNS": "160"})
        assert "next prime " in shown
