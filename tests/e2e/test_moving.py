"""`flowpool credentials move` beside a running proxy: it goes on serving, whatever lies where."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests import command, keyrings
from tests.e2e.conftest import Make
from tests.e2e.pool import Pool


def run(pool: Pool, *arguments: str) -> str:
    """Run `flowpool ARGUMENTS` in the pool's home."""
    done = command.run(arguments, pool.proxy.env())
    assert done.returncode == 0, done.stderr
    return done.stdout.decode()


def serves(pool: Pool) -> bool:
    """Whether a turn is served by an account of the pool, after the proxy read everything again."""
    run(pool, "disable", "home")
    run(pool, "enable", "home")
    return pool.ask(pool.turn()).text in ("This is work speaking.", "This is home speaking.")


def tokens(path: Path) -> int:
    """How many of the planted tokens are in a file."""
    return path.read_text().count("sk-ant-oat01-TEST-") if path.exists() else 0


@pytest.mark.parametrize("backend", ["auto", "file"])
def test_a_running_proxy_goes_on_serving(make: Make, tmp_path: Path, backend: str) -> None:
    """With "auto" they are gone from the old place, with "file" they stay there until the setting says otherwise."""
    pool = make("work", "home", settings={"credentials": {"backend": backend}}, env=keyrings.install(tmp_path))
    ring, file = tmp_path / "ring.json", pool.proxy.home / "secrets.json"
    assert serves(pool)
    assert run(pool, "credentials", "move", "keyring") == "the secrets of 2 accounts are in the system's keyring now\n"
    assert (tokens(ring), tokens(file)) == (2, 0 if backend == "auto" else 2)
    assert serves(pool)

    run(pool, "credentials", "move", "file")
    assert (tokens(ring), tokens(file)) == (0, 2)
    assert serves(pool)
    assert {account["state"] for account in pool.proxy.status()["accounts"]} <= {"healthy", "unmeasured"}
    assert json.loads(ring.read_text()) == {}
