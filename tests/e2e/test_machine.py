"""A machine that is against us: disks that are full, folders that refuse, locks, a keyring that hangs, clocks and loops."""

from __future__ import annotations

import json
import os
import resource
import shutil
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from home.state import reader
from home.state.database import BUSY
from tests import command
from tests.e2e.client import Client
from tests.e2e.conftest import Make
from tests.e2e.harness import Exit, Program, Proxy
from tests.e2e.pool import about, ranked, token
from tests.upstream import Upstream, closed_port, limit, plant
from tests.upstream.asks import turn

MEMBERS = ranked("work", "home")
TOKENS = {member.name: token(member) for member in MEMBERS}
_CAPS = "-dac_override,-dac_read_search,-fowner"
_HUMBLY = (
    ["setpriv", "--bounding-set", _CAPS, "--inh-caps", _CAPS] if os.geteuid() == 0 and shutil.which("setpriv") else []
)

HANGING = """
import threading
from keyring.backend import KeyringBackend

class Hanging(KeyringBackend):
    priority = 5

    def get_password(self, *_):
        threading.Event().wait()

    set_password = delete_password = get_password
"""
HASTY = """
import credentials.patience as patience
patience.Patience.__init__.__defaults__ = (0.3, *patience.Patience.__init__.__defaults__[1:])
"""


def _says(done: Exit, *words: str) -> None:
    """Fail unless the start ended with one line of ours that has these words."""
    lines = [line for line in done.err.splitlines() if line.startswith("flowpool: ") and "kept in" not in line]
    assert done.code == 2
    assert len(lines) == 1, done.err
    assert all(word in lines[0] for word in words), lines
    assert "Traceback" not in done.err + done.out


def _command(proxy: Proxy, *args: str) -> subprocess.CompletedProcess[bytes]:
    """Run flowpool beside the proxy."""
    return command.run(args, proxy.env(), cwd=proxy.folder)


# Loops


@pytest.mark.parametrize(("program", "host"), [("mitmdump", "127.0.0.1"), ("flowpool serve", "localhost")])
def test_an_upstream_that_is_ourselves_is_refused(tmp_path: Path, program: Program, host: str) -> None:
    """No request could ever come to its end, so nothing listens, and the line names the setting."""
    port = closed_port()
    settings = {"listen": {"claude": f"127.0.0.1:{port}"}}
    proxy = Proxy(tmp_path, f"http://{host}:{port}", MEMBERS, settings=settings, program=program)
    _says(proxy.exits(), f"{host}:{port}", "this proxy itself", "[providers.anthropic] upstream")


def test_a_loop_that_nobody_saw_ends_at_once(tmp_path: Path) -> None:
    """Where a second mode leads to our own listener, the request is a 502 and goes round not once."""
    first, second = closed_port(), closed_port()
    upstream = f"http://127.0.0.1:{first}"
    modes = ("--mode", f"reverse:{upstream}@127.0.0.1:{second}", "--mode", f"regular@127.0.0.1:{first}")
    with Proxy(tmp_path, upstream, MEMBERS, args=modes) as proxy, Client(f"http://127.0.0.1:{second}") as client:
        reply = client.ask(turn(plant("client")))
        assert (reply.status, reply.error[0]) == (502, "api_error")
        assert proxy.request_line(1)["status"] == 502


# Folders and disks


@pytest.mark.parametrize("beneath", ["", "deeper"])
def test_a_home_that_cannot_be_made_ends_the_start(tmp_path: Path, beneath: str) -> None:
    """A file in the folder's place is one line with what to look at, and exit code 2."""
    proxy = Proxy(
        tmp_path, "http://127.0.0.1:9", env={"FLOWPOOL_HOME": str(tmp_path / "flowpool" / beneath)}, told_mode=True
    )
    proxy.user.mkdir()
    proxy.home.touch()
    proxy._written = True
    _says(proxy.exits(), str(tmp_path / "flowpool" / beneath), "ls -ld")


class _Humble(Proxy):
    """A proxy to which the modes of files apply, also where the tests run as root."""

    def command(self) -> list[str]:
        return [*_HUMBLY, *super().command()]


@pytest.fixture
def sealed(tmp_path: Path) -> Iterator[_Humble]:
    """A proxy whose folder it may read and not change; what is to be there is written first."""
    if os.geteuid() == 0 and (not _HUMBLY or subprocess.run([*_HUMBLY, "true"], check=False).returncode):
        pytest.skip("needs setpriv, or another user than root")
    with Upstream(TOKENS) as upstream:
        proxy = _Humble(tmp_path, upstream, MEMBERS)
        proxy.write()
        yield proxy
        proxy.home.chmod(0o700)


def test_a_home_that_was_never_used_and_is_sealed_ends_the_start(sealed: Proxy) -> None:
    """Without a key nobody could ever ask how it stands: one line names the file."""
    sealed.home.chmod(0o500)
    _says(sealed.exits(), "control.key", "was not written")


def test_a_home_that_became_sealed_still_serves(sealed: Proxy) -> None:
    """What was written once is read; what cannot be kept is said, never for each turn, and turns go on."""
    (sealed.home / "control.key").write_text("k" * 43)
    (sealed.home / "control.key").chmod(0o600)
    sealed.home.chmod(0o500)
    with sealed:
        assert isinstance(sealed.upstream, Upstream)
        sealed.upstream.script("work", limit("7d"))
        with Client(sealed.url) as client:
            for _ in range(20):
                assert client.ask(turn(plant("client"))).text == "This is home speaking."
        assert sealed.holds("work")
        said = [line for line in sealed.log_text().splitlines() if '{"at"' not in line]
        for name in ("state.sqlite3", "running.json", "log file"):
            assert 1 <= len([line for line in said if name in line]) <= 2, said


def test_a_full_disk_stops_no_request_and_loses_nothing_that_matters(make: Make) -> None:
    """It is said in a line each by the state and the log; once there is room all the requests are in the ledger."""
    pool = make("work", "home")
    assert pool.ask(pool.turn()).status == 200
    pool.proxy.wait_log('"ended":"complete"')
    resource.prlimit(pool.proxy.pid, resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
    pool.upstream.script("work", limit("7d"))
    with pool.client() as client:
        for _ in range(30):
            assert client.ask(pool.turn()).text == "This is home speaking."
    pool.proxy.wait_log(r"state\.sqlite3 cannot be written: .*; requests go on")
    pool.proxy.wait_log(r"flowpool\.log cannot be written: File too large; requests go on")
    resource.prlimit(pool.proxy.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    pool.proxy.wait_log(r"state\.sqlite3 is written again")
    pool.proxy.wait_log(r"flowpool\.log is written again")
    pool.proxy.stop()
    assert pool.proxy.log_text().count("cannot be written") == 2
    assert len(list(reader.requests(pool.proxy.home / "state.sqlite3", 100))) == 31
    pool.proxy.mark()
    pool.proxy.start()
    assert pool.holds() == {"work": [("account", 13, about(3600))]}


def test_a_database_that_another_process_locks_delays_no_request(make: Make) -> None:
    """Fifty requests and more run while it is locked for seconds; afterwards each is in the ledger, once."""
    pool = make("work", "home")
    path = pool.proxy.home / "state.sqlite3"
    locker = sqlite3.connect(path, isolation_level=None)
    locker.execute("BEGIN IMMEDIATE")
    longest, count, over = 0.0, 0, time.monotonic() + 2.5
    with pool.client() as client:
        while count < 50 or time.monotonic() < over:
            begun = time.monotonic()
            assert client.ask(pool.turn()).status == 200
            longest, count = max(longest, time.monotonic() - begun), count + 1
    locker.execute("ROLLBACK")
    locker.close()
    assert longest < BUSY  # no request waited for the database
    pool.proxy.stop()
    entered = [line["id"] for line in reader.requests(path, 100_000)]
    assert len(entered) == len(set(entered)) == count
    pool.proxy.mark()
    pool.proxy.start()


# Secrets


def test_a_keyring_that_hangs_keeps_nobody_waiting(tmp_path: Path) -> None:
    """The proxy starts with the secrets that the file has and says why; turns and commands do not wait for the keyring."""
    with Upstream(TOKENS) as upstream, _hung(tmp_path, upstream, "auto") as proxy:
        proxy.wait_log(r"secrets are kept in the file .* \(the keyring did not answer within 0.3 s\)")
        begun = time.monotonic()
        with Client(proxy.url) as client:
            assert client.ask(turn(plant("client"))).text == "This is work speaking."
        done = [_command(proxy, *words) for words in (["status"], ["accounts"], ["disable", "work"])]
        assert [one.returncode for one in done] == [0, 0, 0], done
        with Client(proxy.url) as client:
            assert client.ask(turn(plant("client"))).text == "This is home speaking."
        assert time.monotonic() - begun < 5


def test_a_secret_that_is_damaged_keeps_no_other_account_from_serving(tmp_path: Path) -> None:
    """The start says which account it is and what mends it; the others serve."""
    with Upstream(TOKENS) as upstream:
        proxy = Proxy(tmp_path, upstream, MEMBERS, told_mode=True)
        proxy.write()
        secrets = proxy.home / "secrets.json"
        document = json.loads(secrets.read_text())
        document["accounts"][MEMBERS[0].id] = {"damaged": True}
        secrets.write_text(json.dumps(document))
        with proxy:
            with Client(proxy.url) as client:
                assert client.ask(turn(plant("client"))).text == "This is home speaking."
            proxy.wait_log("the secret of work cannot be read: .*flowpool add work --replace")
            status = proxy.status()
            assert "the secret of work" in status["notices"][0]
            assert {account["name"]: account["state"] for account in status["accounts"]}["work"] == "broken"
            assert status["next"]["any"] == "home"


def test_where_only_a_keyring_will_do_one_that_hangs_ends_the_start(tmp_path: Path) -> None:
    """One line says so in time, with the command that looks into it."""
    with Upstream(TOKENS) as upstream:
        _says(_hung(tmp_path, upstream, "keyring").exits(), "the keyring did not answer", "keyring diagnose")


def _hung(folder: Path, upstream: Upstream, backend: str) -> Proxy:
    """A proxy on a machine whose keyring never answers, with less patience than the real five seconds."""
    modules = folder / "modules"
    modules.mkdir()
    (modules / "hanging.py").write_text(HANGING)
    (modules / "sitecustomize.py").write_text(HASTY)
    root = str(Path(__file__).parents[2])
    env = {"PYTHON_KEYRING_BACKEND": "hanging.Hanging", "PYTHONPATH": f"{modules}:{root}"}
    return Proxy(folder, upstream, MEMBERS, settings={"credentials": {"backend": backend}}, env=env, told_mode=True)


# Clocks


@pytest.mark.parametrize("zone", ["Asia/Tehran", "America/New_York"])
def test_the_machine_s_zone_changes_no_time(make: Make, zone: str) -> None:
    """A reset in a minute is in a minute: in the hold, in the answer, in the log, after a restart and on the screen."""
    pool = make("work", env={"TZ": zone})
    pool.upstream.script("work", limit("5h", resets_in=60))
    reply = pool.ask(pool.turn())
    now = datetime.now(UTC)
    assert (reply.status, int(reply.header("retry-after") or 0)) == (429, about(60))
    assert int(reply.header("anthropic-ratelimit-unified-reset") or 0) == about(now.timestamp() + 60)
    assert pool.holds() == {"work": [("account", 13, about(60))]}
    assert abs(datetime.fromisoformat(pool.logged()["at"]) - now) < timedelta(seconds=6)
    pool.proxy.restart()
    assert pool.holds() == {"work": [("account", 13, about(60))]}
