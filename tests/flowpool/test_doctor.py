"""doctor looks at everything, changes nothing, shows no secret, and works where nothing else does."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from credentials.credential import parse
from credentials.file import FileStore
from flowpool import doctor
from flowpool.findings.finding import Finding, Level, ok
from home import accounts as book
from home.paths import Home
from routing.words import Account
from tests.flowpool.cli import PLANTED, ROOT, Shell, planted
from tests.interrupts import hears_ctrl_c
from tests.upstream import closed_port

MORE = """
[[accounts]]
id = "{0}"
name = "{0}"
provider = "anthropic"
kind = "setup-token"
"""
PARTS = [  # of a home with one account, in order
    *(
        "python",
        "mitmproxy",
        "config",
        "accounts",
        "keyring",
        "secrets",
        "folders",
        "port",
        "proxy",
        "exposure",
        "clock",
    ),
    *("account", "claude", "codex", "service", "environment", "mitmproxy.yaml", "owners", "duplicates", "other users"),
]


@pytest.fixture
def nowhere(shell: Shell) -> Shell:
    """A shell with one account, whose upstream nobody is."""
    shell.add("work")
    (shell.home / "config.toml").write_text(
        f'listen.claude = "127.0.0.1:{closed_port()}"\nproviders.anthropic.upstream = "http://127.0.0.1:{closed_port()}"\n'
    )
    return shell


def files(folder: Path) -> dict[str, tuple[bytes, int, int]]:
    """What every file in it holds, with its mode and when it was written."""
    return {
        str(path): (path.read_bytes() if path.is_file() else b"", path.stat().st_mode, path.stat().st_mtime_ns)
        for path in [folder, *folder.rglob("*")]
    }


def levels(out: str) -> dict[str, str]:
    """The level of each part of a JSON answer."""
    return {one["part"]: one["level"] for one in json.loads(out)["parts"]}


def test_each_part_has_its_line(nowhere: Shell) -> None:
    """For people in columns, for programs as JSON, in the same order; a warning is no failure."""
    lines = nowhere.run("doctor").stdout.splitlines()
    document = json.loads(nowhere.run("doctor", "--json").stdout)

    assert [one["part"] for one in document["parts"]] == PARTS
    assert document["ok"] is True
    assert len(lines) == len(PARTS)
    for line, one in zip(lines, document["parts"], strict=True):
        what = f"{one['part']} {one['account']}" if one["account"] else one["part"]
        assert line.split(what)[0].strip() == one["level"]
        assert line.endswith(f"; run: {one['mend']}" if one["mend"] else one["message"])
        assert one["level"] in ("ok", "skip") or one["mend"]


def test_many_accounts_take_no_longer_than_one(nowhere: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    """All are asked at once: none waits until another one's provider has been given up."""
    path = nowhere.home / "accounts.toml"
    for number in range(40):
        one = f"id{number}"
        path.write_text(path.read_text() + MORE.format(one))
        FileStore(nowhere.home / "secrets.json").put(one, parse("setup-token", planted(one)))
    everybody = threading.Barrier(41)

    def hang(_: str, account: Account, *_rest: object, **_named: object) -> Finding:
        everybody.wait(10)
        return ok("account", "valid", account=account.name)

    monkeypatch.setattr("flowpool.findings.logins.check", hang)
    found = doctor.examine(Home(config_folder=nowhere.home, state_folder=nowhere.home))

    assert sum(one.part == "account" and one.level is Level.OK for one in found) == 41


def test_ctrl_c_ends_it_at_once(nowhere: Shell) -> None:
    """Though a provider does not answer."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        silent.settimeout(30)
        upstream = f"http://127.0.0.1:{silent.getsockname()[1]}"
        (nowhere.home / "config.toml").write_text(f'providers.anthropic.upstream = "{upstream}"\n')
        child = subprocess.Popen(
            [sys.executable, "-m", "flowpool", "doctor"],
            env={"PATH": os.defpath, "HOME": str(nowhere.home), "FLOWPOOL_HOME": str(nowhere.home)},
            cwd=ROOT,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            preexec_fn=hears_ctrl_c,
        )
        asked = [silent.accept()[0] for _ in ("clock", "account")]
        child.send_signal(signal.SIGINT)
        _, err = child.communicate(timeout=5)  # of the 10 s that an answer may take
        for connection in asked:
            connection.close()

    assert (child.returncode, err.strip()) == (1, b"flowpool: stopped")


def test_nothing_is_changed(nowhere: Shell) -> None:
    """Every file is as it was to the byte, with its mode and its time, and no new one came."""
    before = files(nowhere.home)
    for arguments in ((), ("--json",)):
        nowhere.run("doctor", *arguments)

    assert files(nowhere.home) == before


def test_no_home_is_made(shell: Shell) -> None:
    """Where flowpool never ran, nothing of it is there afterwards."""
    out = shell.run("doctor", "--json").stdout

    assert (levels(out)["accounts"], levels(out)["folders"]) == ("skip", "skip")
    assert not shell.home.exists()


BROKEN = ["config.toml", "accounts.toml", "secrets.json", "control.key", "running.json", "state.sqlite3"]


@pytest.mark.parametrize("data", [b"", b"\xff\x00nonsense", b'{"version": 9}'], ids=["empty", "junk", "newer"])
def test_it_works_with_broken_files(nowhere: Shell, data: bytes) -> None:
    """Whatever they hold, all at once or each alone, every part has its line, and the files stay as they are."""
    good = {name: (nowhere.home / name).read_bytes() for name in BROKEN if (nowhere.home / name).exists()}
    for names in ([name] for name in BROKEN):
        for name in names:
            (nowhere.home / name).write_bytes(data)
            (nowhere.home / name).chmod(0o600)
        before = files(nowhere.home)
        found = levels(examined(nowhere))
        assert set(found) >= {"python", "config", "accounts", "secrets", "account", "environment", "other users"}
        assert "doctor" not in found
        assert files(nowhere.home) == before
        for name in names:
            (nowhere.home / name).unlink()
            if name in good:
                (nowhere.home / name).write_bytes(good[name])
                (nowhere.home / name).chmod(0o600)


def examined(shell: Shell) -> str:
    """The JSON of a doctor that may end either way."""
    try:
        return shell.run("doctor", "--json").stdout
    except AssertionError:
        return shell.run("doctor", "--json", code=1).stdout


def test_a_broken_part_fails(nowhere: Shell) -> None:
    """The exit code says so, and what depends on it is skipped and not guessed."""
    (nowhere.home / "config.toml").write_text("= nonsense")
    out = nowhere.run("doctor", "--json", code=1).stdout
    found = levels(out)

    assert json.loads(out)["ok"] is False
    assert found["config"] == "fail"
    assert {found[part] for part in ("keyring", "secrets", "port", "clock", "account")} == {"skip"}


def test_no_secret_is_shown(nowhere: Shell) -> None:
    """Wherever one was put where it must not be; the fixture looks at all that was shown."""
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"):
        nowhere.environ[name] = planted("the-shell")
    nowhere.environ["ANTHROPIC_BASE_URL"] = f"http://user:{PLANTED}@127.0.0.1:1/{PLANTED}"
    claude, mitmproxy = nowhere.home / ".claude", nowhere.home / ".mitmproxy"
    claude.mkdir()
    mitmproxy.mkdir()
    (claude / "settings.json").write_text(json.dumps({"apiKeyHelper": "echo x", "env": {"ANTHROPIC_API_KEY": "x"}}))
    (claude / ".credentials.json").write_text(json.dumps({"accessToken": "sk-ant-oat01-x", "refreshToken": "y" * 9}))
    (mitmproxy / "config.yaml").write_text("modify_headers: [/~q/x-api-key/x]\n")
    store = FileStore(nowhere.home / "secrets.json")
    (account,) = book.load(nowhere.home / "accounts.toml")
    assert store.get(account.id).access.reveal() == planted("work")
    out = nowhere.run("doctor").stdout + nowhere.run("doctor", "--json").stdout

    assert out.count('"part": "environment"') == 6
    assert "x-api-key" not in out


def test_it_can_be_read_on_an_old_windows_console(nowhere: Shell) -> None:
    """Every line is plain ASCII, so none is lost in cp1252."""
    nowhere.environ["PYTHONIOENCODING"] = "cp1252"

    assert nowhere.run("doctor").stdout.isascii()


def test_nothing_asks_windows_for_its_name() -> None:
    """What the module platform tells comes from a service that may take a minute: sys.platform says enough."""
    packages = ("flowpool", "credentials", "home", "providers", "routing")
    sources = [path for package in packages for path in (ROOT / package).rglob("*.py")]
    asking = [path for path in sources if re.search(r"^\s*(import|from) platform\b", path.read_text(), re.MULTILINE)]

    assert sources
    assert asking == []


def test_a_fault_of_our_own_hides_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A check that breaks is one line, and the others have theirs."""

    def broken(**_: object) -> None:
        raise ZeroDivisionError

    def forbidden(_: Home) -> None:
        raise PermissionError(13, "Permission denied", "/home/ann/x y")

    monkeypatch.setattr("flowpool.findings.people.others", broken)
    monkeypatch.setattr("flowpool.findings.folders.folders", forbidden)
    monkeypatch.setattr(os, "environ", dict(os.environ) | {"CLAUDE_CONFIG_DIR": str(tmp_path)})
    monkeypatch.setattr("flowpool.findings.clock.clock", lambda *_: [])
    found = doctor.examine(Home(config_folder=tmp_path, state_folder=tmp_path))

    assert [one.part for one in found][-1] == "doctor"
    assert re.fullmatch(
        r"a fault of flowpool's own to be reported, ZeroDivisionError in test_doctor.py:\d+", found[-1].message
    )
    (folders,) = [one for one in found[:-1] if one.part == "doctor"]
    assert (folders.message, folders.mend) == ("/home/ann/x y: Permission denied", "ls -ld '/home/ann/x y'")
    assert len(found) > 10


def test_without_fix_what_is_left_over_is_named(nowhere: Shell) -> None:
    """And stays, to the byte; with it each thing is taken away, and said, before all is looked at."""
    (nowhere.home / "running.json").write_text("{")
    (nowhere.home / ".flowpool-login-x").mkdir()
    before = files(nowhere.home)
    found = [one for one in json.loads(nowhere.run("doctor", "--json").stdout)["parts"] if one["part"] == "leftovers"]
    assert [one["mend"] for one in found] == ["flowpool doctor --fix"] * 2
    assert files(nowhere.home) == before

    done = json.loads(nowhere.run("doctor", "--fix", "--json").stdout)["parts"]
    assert [(one["level"], one["message"]) for one in done if one["part"] == "fixed"] == [
        ("ok", f"removed {nowhere.home / 'running.json'}"),
        ("ok", f"removed {nowhere.home / '.flowpool-login-x'}"),
    ]
    assert [one["part"] for one in done][2:] == PARTS
    assert nowhere.run("doctor", "--fix").stdout.splitlines()[0].endswith("there was nothing to undo or to remove")


def test_x99_settings_that_lead_to_a_dead_proxy(nowhere: Shell) -> None:
    """That fails, and is said with both ways out: until the settings are as before."""
    settings = nowhere.home / ".claude" / "settings.json"
    nowhere.run("connect")
    out = nowhere.run("doctor", code=1).stdout
    assert f"{settings} points Claude Code at the pool, where no proxy runs" in out
    assert "undo that with `flowpool disconnect`; run: flowpool start" in out
    nowhere.run("disconnect")

    assert "connect" not in levels(nowhere.run("doctor", "--json").stdout)
    assert not settings.exists()
