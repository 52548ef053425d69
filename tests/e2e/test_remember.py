"""What a proxy knew outlives it: holds, sticks, readings and the ledger, in a file of one's own."""

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from home.state import reader
from tests.e2e.conftest import Make
from tests.e2e.harness import PATIENCE, Proxy
from tests.e2e.pool import Pool, about, ranked
from tests.upstream import Upstream, limit
from tests.upstream.asks import Request


def served_by(pool: Pool, request: Request) -> str:
    """Which account a turn is served by."""
    reply = pool.ask(request)
    assert reply.status == 200
    return pool.upstream.requests[-1].account


def on_disk(pool: Pool, requests: int) -> list[dict[str, Any]]:
    """The ledger, once so many requests are in it and the last look is a moment ago."""
    end = time.monotonic() + PATIENCE
    state = pool.proxy.home / "state.sqlite3"
    while len(lines := reader.requests(state)) < requests or not reader.remembered(state).sticks:
        assert time.monotonic() < end, lines
    return lines


@pytest.mark.parametrize("kill", [False, True], ids=["stop", "kill -9"])
def test_a_restart_forgets_nothing(make: Make, kill: bool) -> None:
    """After a stop and after a kill the refused account is still held, readings are restored, the ledger is whole."""
    pool = make("work", "home")
    pool.upstream.script("work", limit("7d", resets_in=7200))
    assert served_by(pool, request := pool.turn()) == "home"
    (line,) = on_disk(pool, 1)
    assert line == pool.proxy.request_line(1)
    pool.proxy.restart(kill=kill)

    assert pool.holds() == {"work": [("account", 13, about(7200))]}
    sources = {w["source"] for one in pool.proxy.status()["accounts"] for w in one["windows"]}
    assert sources == {"restored"}
    pool.upstream.reset()
    assert served_by(pool, request) == "home"
    again = pool.proxy.request_line(1)
    assert again["because"] == "sticky"
    assert on_disk(pool, 2) == [line, again]


def test_a_corrupt_state_is_said_and_kept(make: Make) -> None:
    """The proxy starts all the same, with one line about where the file went."""
    pool = make("work")
    served_by(pool, pool.turn())
    pool.proxy.stop()
    state = pool.proxy.home / "state.sqlite3"
    state.write_text("no database\n" * 1000)
    pool.proxy.mark()
    pool.proxy.start()

    pool.proxy.wait_log(r"state\.sqlite3 was corrupt; it is kept as \S+\.corrupt, and a fresh one begins")
    assert (pool.proxy.home / "state.sqlite3.corrupt").read_text().startswith("no database")
    served_by(pool, pool.turn())


def test_a_newer_state_is_refused(tmp_path: Path) -> None:
    """One line, exit code 2, and the file as it was."""
    with Upstream({}) as upstream:
        proxy = Proxy(tmp_path, upstream, ranked("work"))
        proxy.write()
        state = proxy.home / "state.sqlite3"
        make = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute('CREATE TABLE meta (name, value)'); "
        make += "c.execute(\"INSERT INTO meta VALUES ('schema', '9')\"); c.commit(); c.close()"
        subprocess.run([sys.executable, "-c", make, str(state)], check=True)
        before = state.read_bytes()
        ended = proxy.exits()

    assert ended.code == 2
    assert "was written by a newer flowpool: its schema is 9" in ended.err
    assert state.read_bytes() == before


def test_nothing_that_was_said_is_kept(make: Make) -> None:
    """The state holds who asked whom when, and neither prompts, answers nor credentials."""
    pool = make("work")
    served_by(pool, request := pool.turn())
    lines = on_disk(pool, 1)
    pool.proxy.stop()
    text = (pool.proxy.home / "state.sqlite3").read_bytes()

    assert "This is work speaking." not in text.decode("latin-1")
    said = json.loads(request.body)["messages"][0]["content"]
    assert json.dumps(said).strip('"').encode()[:40] not in text
    assert pool.token.encode() not in text
    assert pool.proxy.members["work"].secret.encode() not in text
    assert lines[0]["account"] == "work"
    pool.proxy.mark()
    pool.proxy.start()
