"""Commands that change accounts while the proxy serves: each is in force when it returns, and no request suffers."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from typing import Any

import pytest

from tests import command
from tests.e2e.conftest import Make
from tests.e2e.harness import PATIENCE, ROOT
from tests.e2e.pool import BLOCK, Pool, about
from tests.interrupts import hears_ctrl_c
from tests.upstream import limit, ok, plant, throttle

WAITS: dict[str, dict[str, Any]] = {"wait": {"max": 60, "margin_s": 1}}
SOON = 1.0  # seconds in which a change reaches the proxy
SLACK = 1.5  # seconds that a busy machine may take for its own


def run(pool: Pool, *arguments: str, given: str = "", code: int = 0) -> str:
    """Run `flowpool ARGUMENTS` in the pool's home; all that it showed."""
    return command.shown(arguments, pool.proxy.env(), given=given, code=code)


def served_by(pool: Pool, **kwargs: Any) -> str:
    """Who serves a turn that must go well."""
    reply = pool.ask(pool.turn(**kwargs))
    assert reply.status == 200, reply.body
    return reply.text.removeprefix("This is ").removesuffix(" speaking.")


def until(claim: Callable[[], bool], what: str) -> float:
    """Ask the proxy until the claim is true; how many seconds that took."""
    begun = time.monotonic()
    while not claim():
        assert time.monotonic() - begun < PATIENCE, what
    return time.monotonic() - begun


def is_in_state(pool: Pool, name: str, state: str) -> bool:
    """Whether the running proxy says so of the account."""
    return bool(pool.proxy.account(name)["state"] == state)


def members(pool: Pool) -> list[str]:
    """The names that the running proxy knows."""
    return [account["name"] for account in pool.proxy.status()["accounts"]]


@pytest.mark.parametrize("program", ["mitmdump", "flowpool serve"])
def test_each_command_is_in_force_when_it_returns(make: Make, program: str) -> None:
    """disable, enable, rank, rename and remove are followed by the very next request, without a pause."""
    pool = make("work", "home", "third", program=program)
    work = pool.proxy.account("work")["id"]
    secrets = pool.proxy.home / "secrets.json"
    assert served_by(pool) == "work"

    assert run(pool, "disable", "work") == "disabled work\n"
    assert served_by(pool) == "home"
    assert pool.proxy.account("work")["state"] == "disabled"
    assert run(pool, "enable", "work") == "enabled work\n"
    assert served_by(pool) == "work"
    assert run(pool, "rank", "third", "0") == "ranked third 0\n"
    assert served_by(pool) == "third"
    assert run(pool, "rank", "third", "none") == "third has no rank now\n"
    assert served_by(pool) == "work"
    assert run(pool, "rename", "work", "office") == "renamed work to office\n"
    assert members(pool) == ["office", "home", "third"]
    assert served_by(pool) == "work"
    assert work in secrets.read_text()
    assert run(pool, "remove", "office", "third") == "removed office, third\n"
    assert members(pool) == ["home"]
    assert served_by(pool) == "home"
    assert work not in secrets.read_text()


def test_an_unknown_name_changes_nothing(make: Make) -> None:
    """Of several names one is wrong: exit 1, the nearest is named, and no account is touched."""
    pool = make("work", "home")
    before = (pool.proxy.home / "accounts.toml").read_bytes()
    for words in (("enable",), ("disable",), ("remove", "--yes"), ("lift",)):
        assert run(pool, *words, "home", "wrok", code=1) == "flowpool: there is no account wrok; did you mean work?\n"
    assert (pool.proxy.home / "accounts.toml").read_bytes() == before
    assert served_by(pool) == "work"


def test_an_added_account_serves_at_once(make: Make) -> None:
    """A first account takes over from the client's own login, a new one joins, a new secret is the one that is sent."""
    pool = make()
    assert served_by(pool) == "client"
    tokens = [plant("first"), plant("renewed")]
    pool.upstream.add("first", tokens[0])
    pool.upstream.add("renewed", tokens[1])

    added = run(pool, "add", "first", "--kind", "setup-token", given=tokens[0])
    assert added == "added first (setup-token, anthropic); the running proxy has it; checked: accepted\n"
    assert served_by(pool) == "first"
    run(pool, "add", "first", "--replace", given=tokens[1])
    assert served_by(pool) == "renewed"
    assert "none is left, so clients use their own login" in run(pool, "remove", "first")
    assert served_by(pool) == "client"
    assert not [place for token in tokens for place in pool.proxy.leaks(token)]


def test_a_new_secret_ends_what_the_old_one_was_refused_for(make: Make) -> None:
    """An account without a readable secret is broken; add --replace brings it back at once."""
    pool = make("work", "home")
    run(pool, "disable", "work")
    secrets = pool.proxy.home / "secrets.json"
    document = json.loads(secrets.read_text())
    del document["accounts"][pool.proxy.members["work"].id]
    secrets.write_text(json.dumps(document))
    run(pool, "enable", "work")
    assert served_by(pool) == "home"
    assert pool.proxy.account("work")["state"] == "broken"

    run(pool, "add", "work", "--replace", given=pool.proxy.members["work"].secret)
    assert pool.holds() == {}
    assert served_by(pool) == "work"


def test_an_edit_that_nobody_told_of_arrives_within_a_second(make: Make) -> None:
    """accounts.toml is watched: replaced or written in place, the proxy follows by itself."""
    pool = make("work", "home")
    path = pool.proxy.home / "accounts.toml"
    took = []
    for old, new in (("enabled = true", "enabled = false"), ("enabled = false", "enabled = true")):
        path.write_text(path.read_text().replace(old, new, 1))
        state = "disabled" if new == "enabled = false" else "unmeasured"
        took.append(until(partial(is_in_state, pool, "work", state), new))
    fresh = path.with_name("fresh")
    fresh.write_text(path.read_text().replace('"home"', '"house"'))
    os.utime(fresh, (0, 0))  # a file whose time is old is a change as well
    fresh.replace(path)
    took.append(until(lambda: "house" in members(pool), "house"))

    assert max(took) < SOON + SLACK
    pool.proxy.wait_log("accounts changed: renamed home to house")


def test_an_unreadable_file_changes_nothing_and_is_said_once(make: Make) -> None:
    """The last good accounts stay, log and status say why, and all is well when the file is."""
    pool = make("work", "home")
    path = pool.proxy.home / "accounts.toml"
    good = path.read_text()
    path.write_text("version = 1\nnonsense")
    pool.proxy.wait_log("the accounts stay as they were: .*accounts.toml:2: not valid TOML")
    assert served_by(pool) == "work"
    assert run(pool, "disable", "work", code=2).startswith(f"flowpool: {path}:2: not valid TOML")
    (notice,) = pool.proxy.status()["notices"]
    assert notice in " ".join(run(pool, "status", "--json").split("\n"))
    assert "the accounts stay as they were" in run(pool, "status")
    path.write_text(good)
    pool.proxy.wait_log("the accounts can be read again")

    assert pool.proxy.status()["notices"] == []
    assert pool.proxy.log_text().count("the accounts stay as they were") == 1


@pytest.mark.parametrize("command", ["disable", "remove"])
def test_a_stream_in_flight_ends_normally(make: Make, command: str) -> None:
    """An account disabled or removed in mid-stream says its turn to the end, and the conversation does not stick to it."""
    pool = make("work", "home")
    pool.upstream.script("work", ok("a long story").wait("middle", after="content_block_stop"))
    with pool.client() as client:
        request = pool.turn(session="story")
        client.send(request)
        reply = client.begin().until(BLOCK)
        run(pool, command, "work")
        pool.upstream.release("middle")
        reply.rest()
    assert (reply.status, reply.end, reply.text, reply.names[-1]) == (200, "whole", "a long story", "message_stop")
    line = pool.proxy.request_line(1)
    assert (line["account"], line["ended"]) == ("work", "complete")

    assert served_by(pool, session="story") == "home"
    if command == "disable":
        run(pool, "enable", "work")
        assert served_by(pool, session="story") == "home"  # it sticks where it was served to the end
        assert served_by(pool) == "work"


def test_a_removed_account_gets_no_further_attempt(make: Make) -> None:
    """While a request pauses to ask an account again, the account goes: the request moves on at once."""
    pool = make("work", "home", settings={"retry": {"throttle_wait_s": 9, "budget_s": 10}})
    pool.upstream.script("work", throttle(8))
    with pool.client() as client:
        client.send(request := pool.turn())
        pool.upstream.requests.wait_for(1)
        begun = time.monotonic()
        run(pool, "remove", "work")
        reply = client.begin().rest()
    assert (reply.status, reply.text) == (200, "This is home speaking.")
    assert time.monotonic() - begun < 8
    assert pool.upstream.requests.accounts() == ["work", "home"]
    assert pool.upstream.requests[1].body == request.body


def test_a_request_that_waits_for_a_removed_account_chooses_again(make: Make) -> None:
    """It waits for home to recover; without home nobody recovers in time, so it is told so, with the rest's reset."""
    pool = make("work", "home", settings=WAITS)
    pool.upstream.script("work", limit("7d", resets_in=7200))
    pool.upstream.script("home", limit("5h", resets_in=50))
    with pool.client() as client:
        client.send(pool.turn())
        pool.upstream.requests.wait_for(2)
        begun = time.monotonic()
        run(pool, "remove", "home")
        reply = client.begin().rest()
    assert time.monotonic() - begun < 20
    assert reply.status == 429
    assert int(reply.header("retry-after") or 0) == about(7200, 20)
    assert "home" not in reply.error[1]


def test_the_last_account_goes_while_a_request_waits(make: Make) -> None:
    """Then the provider has no account, and the request goes out on the client's own login (own answer G)."""
    pool = make("work", settings=WAITS)
    pool.upstream.script("work", limit("5h", resets_in=50))
    with pool.client() as client:
        client.send(pool.turn())
        pool.upstream.requests.wait_for(1)
        run(pool, "remove", "work")
        reply = client.begin().rest()
    assert (reply.status, reply.text) == (200, "This is client speaking.")
    assert pool.proxy.status()["accounts"][0]["holds"] == []


@pytest.mark.parametrize("way", ["lift", "enable", "add"])
def test_a_request_that_waits_is_served_as_soon_as_somebody_may(make: Make, way: str) -> None:
    """Lifted, enabled or added: what waits does not wait for the reset."""
    pool = make("work", "home", settings=WAITS)
    run(pool, "disable", "home")
    token = plant("third")
    pool.upstream.add("third", token)
    pool.upstream.script("work", limit("5h", resets_in=50))
    expected = {"lift": "work", "enable": "home", "add": "third"}[way]
    with pool.client() as client:
        client.send(pool.turn())
        pool.upstream.requests.wait_for(1)
        begun = time.monotonic()
        if way == "add":
            run(pool, "add", "third", "--kind", "setup-token", given=token)
        else:
            run(pool, way, expected)
        reply = client.begin().rest()
    assert (reply.status, reply.text) == (200, f"This is {expected} speaking.")
    assert time.monotonic() - begun < 20
    assert not pool.proxy.leaks(token)


def test_lift_ends_an_accounts_holds(make: Make) -> None:
    """Lift says how many there were; then the account is asked again, and what it answers counts. Also without a proxy."""
    pool = make("work", "home")
    pool.upstream.script("work", limit("7d", resets_in=7200))
    assert served_by(pool) == "home"
    assert list(pool.holds()) == ["work"]

    assert run(pool, "lift", "work", "home") == "work: 1 hold lifted, home: nothing was held\n"
    assert pool.holds() == {}
    pool.upstream.script("work", limit("7d", resets_in=7200))
    assert served_by(pool) == "home"
    assert list(pool.holds()) == ["work"]
    pool.proxy.stop()
    assert run(pool, "lift", "work", "home") == "work: 1 hold lifted, home: nothing was held\n"
    pool.proxy.mark()
    pool.proxy.start()
    assert pool.holds() == {}


def test_commands_disturb_no_request(make: Make) -> None:
    """While conversations go on, accounts come, go, move and are renamed: every answer is whole."""
    pool = make("work", "home", "third")
    over, faults = threading.Event(), list[str]()

    def talk() -> None:
        while not over.is_set():
            reply = pool.ask(pool.turn())
            if (reply.status, reply.end, reply.names[-1:]) != (200, "whole", ["message_stop"]):
                faults.append(f"{reply.status} {reply.end} {reply.body[-200:]!r}")

    talkers = [threading.Thread(target=talk) for _ in range(3)]
    for talker in talkers:
        talker.start()
    name = "home"
    try:
        for round_ in range(3):
            run(pool, "disable", "work")
            run(pool, "rank", "third", str(-round_))
            run(pool, "rename", name, f"home-{round_}")
            name = f"home-{round_}"
            run(pool, "enable", "work")
            run(pool, "remove", "third")
            run(pool, "add", "third", "--kind", "setup-token", given=pool.proxy.members["third"].secret)
    finally:
        over.set()
        for talker in talkers:
            talker.join(PATIENCE)
    assert faults == []
    assert members(pool) == ["work", "home-2", "third"]


def test_requests_are_listed_and_followed(make: Make) -> None:
    """--json has exactly the ledger's fields; --follow prints each request as it ends, also after the proxy's restart."""
    pool = make("work", "home")
    pool.upstream.script("work", limit("7d", resets_in=7200))
    served_by(pool)
    pool.settle()
    (text,) = run(pool, "requests", "--json").splitlines()
    line = json.loads(text)
    assert line == pool.proxy.request_line(1)
    assert list(line) == [
        "at", "id", "conversation", "model", "path", "account", "because", "tried", "status", "first_byte_ms",
        "total_ms", "usage", "answer", "ended",
    ]  # fmt: skip
    assert "\twork limit → home\t" in run(pool, "requests")
    assert abs(datetime.fromisoformat(line["at"]) - datetime.now(UTC)).total_seconds() < PATIENCE

    follower = subprocess.Popen(
        [sys.executable, "-m", "flowpool", "requests", "-n", "1", "--json", "--follow"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=pool.proxy.env(),
        cwd=ROOT,
        text=True,
        preexec_fn=hears_ctrl_c,
    )
    try:
        assert follower.stdout is not None
        assert json.loads(follower.stdout.readline()) == line
        served_by(pool)
        assert json.loads(follower.stdout.readline()) == pool.proxy.request_line(2)
        pool.proxy.restart()
        served_by(pool)
        assert json.loads(follower.stdout.readline())["account"] in ("work", "home")
    finally:
        follower.send_signal(signal.SIGINT)
        follower.communicate(timeout=90)
    assert follower.returncode == 0
