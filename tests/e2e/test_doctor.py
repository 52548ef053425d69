"""`flowpool doctor` on seven homes: each is shown in docs/doctor.md to the letter, but for paths, numbers and versions."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from importlib import metadata
from pathlib import Path

import pytest

from credentials.file import FileStore
from home import running
from home.checks import Address
from home.running import Running
from home.version import version
from tests import command
from tests.e2e.harness import ROOT, Member, Proxy
from tests.upstream import Upstream, as_json, closed_port, expired, login, org_not_allowed, plant, revoked
from tests.upstream.answer import Answer
from tests.upstream.received import Received
from tests.upstream.side import MODELS

DOC = ROOT / "docs" / "doctor.md"
LONG_AGO = 1_750_000_000_000  # ms: June 2025
UNTOUCHED = ("config.toml", "accounts.toml", "secrets.json")  # by anybody, also while a proxy runs


@dataclass
class Case:
    """A home to be looked at. kept: whether every file must stay as it is; a running proxy writes some of its own."""

    proxy: Proxy
    upstream: Upstream
    stack: ExitStack
    port: int = 0
    kept: bool = True
    looks_for_a_keyring: bool = False
    environ: dict[str, str] = field(default_factory=dict)

    def write(self, backend: str = "file", **members: str) -> None:
        """Write the files of a home with these accounts; an account's secret may be a login's JSON."""
        self.proxy.members = {
            name: Member(name=name, secret=secret, kind="oauth" if secret.startswith("{") else "setup-token")
            for name, secret in members.items()
        }
        self.port = self.port or closed_port()
        self.proxy.write_config(
            f'listen.claude = "127.0.0.1:{self.port}"\ncredentials.backend = "{backend}"\n'
            f'providers.anthropic.upstream = "{self.upstream.url}"\n'
        )
        self.proxy.write_accounts(*self.proxy.members.values())

    def knows(self, name: str) -> str:
        """A token that the upstream accepts."""
        self.upstream.add(name, token := plant(name))
        return token

    def run(self, *arguments: str, code: int) -> str:
        """Run `flowpool doctor` there."""
        environ = self.proxy.env()
        if self.looks_for_a_keyring:
            del environ["PYTHON_KEYRING_BACKEND"]
        environ |= {"PATH": f"{self.proxy.user}/bin"} | self.environ
        done = command.run(("doctor", *arguments), environ)
        assert done.returncode == code, done.stdout + done.stderr
        assert done.stderr == b""
        assert b"TEST-" not in done.stdout
        return done.stdout.decode()


def healthy(case: Case) -> int:
    """The proxy runs, and both accounts are accepted."""
    case.write(work=case.knows("work"), home=login(case.knows("home")))
    case.stack.enter_context(case.proxy)
    case.kept = False
    return 0


def no_keyring(case: Case) -> int:
    """There is none, and config.toml leaves it to flowpool."""
    if sys.platform != "linux":
        pytest.skip("other systems have a keyring without a session bus")
    case.write("auto", work=case.knows("work"))
    case.looks_for_a_keyring = True
    return 0


def over(case: Case) -> int:
    """One login is stale and can be renewed, one is over and cannot, and one ends this week."""
    dead, soon = plant("dead"), case.knows("soon")
    alone = json.dumps({"accessToken": dead, "expiresAt": LONG_AGO})
    case.upstream.add("dead", dead)
    case.upstream.default("dead", expired(), path=MODELS)
    case.write(stale=login(plant("stale"), expires_ms=LONG_AGO), dead=alone, soon=login(soon))
    store = FileStore(case.proxy.home / "secrets.json")
    _, _, last = case.proxy.members.values()
    ends(store, last.id, datetime.now(UTC) + timedelta(days=3))
    return 1


def ends(store: FileStore, account_id: str, end: datetime) -> None:
    """Let a login end then, however often it is renewed."""
    store.put(account_id, replace(store.get(account_id), refresh_expires_at=end))


def refused(case: Case) -> int:
    """One token was revoked, and the other one's organisation may not use it."""
    for name, answer in (("work", revoked(401)), ("home", org_not_allowed())):
        case.upstream.default(name, answer, path=MODELS)
    case.write(work=case.knows("work"), home=case.knows("home"))
    return 1


def taken(case: Case) -> int:
    """Another program listens where the proxy would."""
    server = case.stack.enter_context(socket.create_server(("127.0.0.1", 0)))
    server.settimeout(0)
    case.port = server.getsockname()[1]
    case.write(work=case.knows("work"))
    return 1


def trap(case: Case) -> int:
    """A key in the shell, a helper for keys in Claude Code's settings, a dangerous option, and a login with two owners."""
    case.environ["ANTHROPIC_API_KEY"] = plant("trap", "api-key")
    work = login(case.knows("work"))
    for name, text in (
        (".claude/settings.json", json.dumps({"apiKeyHelper": "pass show anthropic"})),
        (".claude/.credentials.json", work),
        (".mitmproxy/config.yaml", "ssl_insecure: true\n"),
    ):
        path = case.proxy.user / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    case.write(work=work)
    return 0


def killed(case: Case) -> int:
    """The proxy was killed, and so was a login; Claude Code's settings still lead to the pool."""
    case.write(work=case.knows("work"))
    settings = case.proxy.user / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text(json.dumps({"env": {"ANTHROPIC_BASE_URL": f"http://127.0.0.1:{case.port}"}}))
    child = subprocess.Popen(["true"])
    child.wait()
    listen = {"claude": Address(host="127.0.0.1", port=case.port)}
    running.write(case.proxy.home / "running.json", Running(pid=child.pid, listen=listen, started=datetime.now(UTC)))
    (case.proxy.home / ".flowpool-login-k2x").touch()
    return 1


CASES: dict[str, Callable[[Case], int]] = {
    "All is well": healthy,
    "No keyring": no_keyring,
    "Logins that are over": over,
    "Tokens that are refused": refused,
    "The port is taken": taken,
    "A key in the environment": trap,
    "What killed programs left": killed,
}


def now(_: Received) -> Answer:
    """Answer with the time, as every server does."""
    return as_json("time", {}, headers=(("date", format_datetime(datetime.now(UTC), usegmt=True)),))


@contextmanager
def opened(folder: Path) -> Iterator[Case]:
    """An upstream, a home and a user's folder with a `claude` in it."""
    with ExitStack() as stack:
        upstream = stack.enter_context(Upstream())
        upstream.default("", now, path=MODELS)
        proxy = Proxy(folder, upstream)
        client = proxy.user / "bin" / "claude"
        client.parent.mkdir(parents=True)
        client.write_text("#!/bin/sh\necho '2.1.332 (Claude Code)'\n")
        client.chmod(0o755)
        yield Case(proxy, upstream, stack)
        assert upstream.faults == []


def as_in_the_document(case: Case, out: str) -> str:
    """Replace what differs from machine to machine."""
    for found, shown in (
        (str(case.proxy.home), "/home/ann/flowpool"),
        (str(case.proxy.user), "/home/ann"),
        (sys.executable, "/home/ann/venv/bin/python"),
        (case.upstream.url, "https://api.anthropic.com"),
        (f"127.0.0.1:{case.port}", "127.0.0.1:3456"),
        (metadata.version("mitmproxy"), "12.2.3"),
        (".".join(map(str, sys.version_info[:3])), "3.13.0"),
        (f"flowpool {version()}", "flowpool 0.1.0"),
    ):
        out = out.replace(found, shown)
    out = re.sub(r"\S+ \(pid \d+\)", "node (pid 4711)", out)
    out = re.sub(r"\b(pid|kill) \d+", r"\1 4711", out)
    out = re.sub(r"ends 20\d\d-\d\d-\d\d \d\d:\d\d", "ends 2026-12-03 10:30", out)
    return re.sub(r"(?m)^\w+ +other users  .*$", "ok    other users     nobody else can log in here", out)


def document() -> dict[str, str]:
    """The blocks of docs/doctor.md, by the heading above each."""
    return dict(
        re.findall(r"^## (.+?)\n.*?^```text\n\$ flowpool doctor\n(.*?)^```", DOC.read_text(), re.MULTILINE | re.DOTALL)
    )


@pytest.mark.parametrize("name", CASES)
def test_each_home_is_told_as_the_document_shows(tmp_path: Path, name: str) -> None:
    """The lines and the exit code; every file is as it was; the JSON says the same."""
    with opened(tmp_path) as case:
        code = CASES[name](case)
        names = [path.name for path in case.proxy.home.iterdir()] if case.kept else UNTOUCHED
        before = {one: (case.proxy.home / one).read_bytes() for one in names}
        out = case.run(code=code)
        assert as_in_the_document(case, out) == document()[name]
        whole = json.loads(case.run("--json", code=code))

        assert whole["ok"] is (code == 0)
        assert [one["level"] for one in whole["parts"]] == [line.split()[0] for line in out.splitlines()]
        assert {one: (case.proxy.home / one).read_bytes() for one in names} == before
        assert not case.kept or {path.name for path in case.proxy.home.iterdir()} == set(names)


def test_the_document_shows_all_and_no_others() -> None:
    """Each home has its block."""
    assert set(document()) == set(CASES)


def test_accounts_are_asked_side_by_side(tmp_path: Path) -> None:
    """Five answers that each take a second do not take five; a home with an upstream that hangs ends in time as well."""
    with opened(tmp_path) as case:
        names = [f"a{number}" for number in range(5)]
        tokens = {name: case.knows(name) for name in names}
        for name in names:
            case.upstream.default(name, as_json("late", {}).late(1.0), path=MODELS)
        case.write(**tokens)
        begun = datetime.now(UTC)
        case.run(code=0)
        took = (datetime.now(UTC) - begun).total_seconds()
        asked = [one.at for one in case.upstream.requests if one.account in names]

    assert len(asked) == 5
    assert max(asked) - min(asked) < 1.0
    assert took < 10
