"""The real program under test: flowpool's addons in a mitmproxy of their own, in a folder of their own.

    with Upstream({"work": plant("work")}) as upstream, Proxy(tmp_path, upstream, members) as proxy:
        with Client(proxy.url) as client:
            reply = client.ask(turn(plant("client")))
        assert [hold["row"] for hold in proxy.holds("work")] == [13]

Holds live in the proxy's memory, so a proxy that met a refusal belongs to one test (a start takes about a second, forked
a tenth of it, and pytest-xdist runs tests side by side). Tests that must leave no trace may share one: `fresh()` fails when a hold is left.
Longer than 250 lines because files, life and talk of one process are told in one place.
"""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import http.client
import json
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

import tomli_w
from mitmproxy.certs import CertStore
from mitmproxy.options import CONF_BASENAME, KEY_SIZE

from credentials.credential import parse
from credentials.file import FileStore
from tests.forge import MITMDUMP, MITMWEB, SERVE, Forged, may_fork, the_forge
from tests.upstream import Upstream, closed_port
from tests.upstream.output import Output

type Program = Literal["mitmdump", "mitmweb", "flowpool serve", "bare"]
type Settings = Mapping[str, Mapping[str, Any]]

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
PATIENCE = 20.0  # seconds for a start on a busy machine
CRASHES = ("has crashed", "Traceback (most recent call last)", "Addon error", "Unhandled error", "never retrieved")
ENTRIES = {"mitmdump": MITMDUMP, "mitmweb": MITMWEB, "flowpool serve": SERVE}
_READY = re.compile(r"flowpool: (?:listening on |serving nobody: no mode given is )(http://\S+|flowpool's)")
_REQUEST = re.compile(r'(\{"at":.*\})')
_READY_BARE = re.compile(r"listening at (?:http://)?(\S+:\d+)")

# Waits shrink to what a loopback needs. Holds keep their real length: none is waited for, and tests read their ends.
FAST: dict[str, dict[str, Any]] = {
    "wait": {"max": 3, "margin_s": 1},
    "retry": {
        "connect": [0.05, 0.1],
        "server_error": [0.05],
        "overloaded": [0.05, 0.1],
        "throttle_default_s": 0.05,
        "throttle_wait_s": 1.5,  # a retry-after has whole seconds: 1 is short, 2 is long
        "budget_s": 3,
    },
    "limits": {
        "connect_s": 1,
        "headers_s": 3,
        "stream_idle_s": 3,
        "stream_total_s": 20,
        "body_read_s": 2,
        "gate_ms": 300,
        "drain_s": 2,
    },
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """An account of the pool as accounts.toml and secrets.json hold it. secret: a token, or a login's JSON (oauth)."""

    name: str
    secret: str
    kind: str = "setup-token"
    enabled: bool = True
    rank: int | None = None
    primary: bool = False

    @property
    def id(self) -> str:
        """A fixed id made of the name, in the shape of the real ones."""
        return hashlib.sha256(self.name.encode()).hexdigest()[:12]

    def entry(self) -> dict[str, Any]:
        """Its table in accounts.toml."""
        entry = {"id": self.id, "name": self.name, "provider": "anthropic", "kind": self.kind, "enabled": self.enabled}
        entry |= {"primary": True} if self.primary else {}
        return entry | ({} if self.rank is None else {"rank": self.rank})


@dataclass(frozen=True, slots=True)
class Exit:
    """How a program ended by itself."""

    code: int
    out: str
    err: str


class StartError(Exception):
    """The program ended, or said nothing, instead of becoming ready."""


class Proxy:
    """One running program. Nothing of it lives outside its folder, and nothing of the user's reaches it.

    settings: tables of config.toml, laid over FAST (fast=False: over the defaults). program "bare" is mitmdump without
    flowpool, a plain reverse proxy, for comparisons. told_mode: give it its mode and fork it, which spares a second. args: further command line arguments, such as ("-w", "FILE").
    """

    def __init__(
        self,
        folder: Path,
        upstream: Upstream | str,
        members: Sequence[Member] = (),
        *,
        settings: Settings | None = None,
        fast: bool = True,
        program: Program = "mitmdump",
        args: Sequence[str] = (),
        env: Mapping[str, str] | None = None,
        told_mode: bool = False,
    ) -> None:
        self.folder = folder
        self.home = folder / "flowpool"
        self.user = folder / "user"
        self.program, self.args, self.extra_env = program, tuple(args), dict(env or {})
        self.upstream = upstream
        self.members = {member.name: member for member in members}
        self.url = ""
        self.started_in = 0.0
        self.web_port = closed_port()
        self._settings, self._fast, self._told_mode = settings or {}, fast, told_mode
        self._output = Output()
        self._process: subprocess.Popen[bytes] | Forged | None = None
        self._written = False

    # -- files -------------------------------------------------------------------------------------------------

    def write(self) -> None:
        """Write config.toml, accounts.toml, secrets.json; by `start` on its own unless it was called before."""
        self.home.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.user.mkdir(exist_ok=True)
        if self.program.startswith("mitm"):
            shutil.copytree(_authority(), self.user / ".mitmproxy")
        self.write_config()
        if self.members:
            self.write_accounts(*self.members.values())
        self._written = True

    def write_config(self, text: str | None = None) -> None:
        """Write config.toml: the settings, or this text instead."""
        self.home.mkdir(mode=0o700, parents=True, exist_ok=True)
        (self.home / "config.toml").write_text(
            tomli_w.dumps(self._config()) if text is None else text, encoding="utf-8"
        )
        self._written = self._written or text is not None

    def write_accounts(self, *members: Member) -> None:
        """Write accounts.toml and put the secrets into secrets.json."""
        self.home.mkdir(mode=0o700, parents=True, exist_ok=True)
        store = FileStore(self.home / "secrets.json")
        for member in members:
            store.put(member.id, parse(member.kind, member.secret))
        document = {"version": 1, "accounts": [member.entry() for member in members]}
        fresh = self.home / "accounts.toml.new"
        fresh.write_text(tomli_w.dumps(document), encoding="utf-8")
        fresh.chmod(0o600)
        fresh.replace(self.home / "accounts.toml")
        self.members = {member.name: member for member in members}

    def _config(self) -> dict[str, Any]:
        address = self.upstream.url if isinstance(self.upstream, Upstream) else self.upstream
        config: dict[str, Any] = {
            "version": 1,
            "listen": {"claude": "127.0.0.1:0"},
            "providers": {"anthropic": {"upstream": address, "token_url": f"{address}/v1/oauth/token"}},
            "credentials": {"backend": "file"},
        }
        for layer in (FAST if self._fast else {}, self._settings):
            for table, values in layer.items():
                config[table] = {**config.get(table, {}), **values}
        return config

    # -- life --------------------------------------------------------------------------------------------------

    def start(self) -> Self:
        """Start the program and return once it accepts connections."""
        begun = time.monotonic()
        self._launch()
        pattern = _READY_BARE if self.program == "bare" else _READY
        found = self._output.wait_for(pattern, PATIENCE)
        if found is None:
            self.kill()
            raise StartError(f"{self.program} did not become ready:\n{self.log_text()}")
        self.url = found if found.startswith("http") else f"http://{found.rstrip('.')}"
        self.started_in = time.monotonic() - begun
        return self

    def exits(self, timeout: float = PATIENCE) -> Exit:
        """Start the program where it must end by itself, and return how it did."""
        self._launch()
        assert self._process is not None
        try:
            code = self._process.wait(timeout)
        except subprocess.TimeoutExpired:
            self.kill()
            raise StartError(f"{self.program} goes on running:\n{self.log_text()}") from None
        self._output.join()
        self._process = None
        return Exit(code, self._output.text("out"), self._output.text("err"))

    def stop(self) -> None:
        """Stop it as a service manager would; fails when the log shows that something broke."""
        if self._process is not None:
            self._end(signal.SIGTERM)
        self.check()

    def kill(self) -> None:
        """End it without a chance to tidy up."""
        if self._process is not None:
            self._end(signal.SIGKILL)

    def restart(self, *, kill: bool = False) -> Self:
        """Stop (or kill) it and start it in the same folder; the log goes on."""
        self.kill() if kill else self.stop()
        self._output.mark()
        return self.start()

    def check(self) -> None:
        """Fail when the log so far shows a crash, a traceback or an addon's error."""
        text = self.log_text()
        broken = [crash for crash in CRASHES if crash in text]
        assert not broken, f"the proxy's log shows {broken}:\n{text}"

    def fresh(self) -> Self:
        """Make a shared proxy as good as new for the next test; fails when the last one left a hold behind."""
        if isinstance(self.upstream, Upstream):
            self.upstream.reset()
        left = {name: self.holds(name) for name in self.members if self.holds(name)}
        assert not left, f"holds are left, so this proxy cannot be shared: {left}"
        self.check()
        return self

    @property
    def pid(self) -> int:
        """The process id; the same before and after the program starts itself again."""
        assert self._process is not None
        return self._process.pid

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        if error is None:
            self.stop()
            return
        self.kill()
        error.add_note(f"--- the proxy's log ---\n{self.log_text()}")

    def _launch(self) -> None:
        if not self._written:
            self.write()
        self._process = self._forged() or subprocess.Popen(
            self.command(),
            cwd=self.folder,
            env=self.env(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self._output.follow(self._process)

    def _forged(self) -> Forged | None:
        """Fork it where it would not start itself again, which is for the interpreter to do; tests/e2e/test_start.py starts all."""
        entry = ENTRIES.get(self.program)
        if entry is None or not self._told_mode or not may_fork(self.env()):
            return None
        return the_forge().start(entry, self.command(), env=self.env(), cwd=self.folder)

    def _end(self, number: signal.Signals) -> None:
        assert self._process is not None
        self._process.send_signal(number)
        try:
            self._process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
            raise AssertionError(f"{self.program} did not stop on {number.name}:\n{self.log_text()}") from None
        finally:
            self._output.join()
            self._process = None

    def command(self) -> list[str]:
        """The command line."""
        script = ["-s", str(ROOT / "addons" / "pool.py")]
        address = self.upstream.url if isinstance(self.upstream, Upstream) else self.upstream
        starts: dict[Program, list[str]] = {
            "mitmdump": [str(BIN / "mitmdump"), *script],
            "mitmweb": [str(BIN / "mitmweb"), *script, "--set", "web_open_browser=false"],
            "flowpool serve": ["flowpool", "serve"] if self._told_mode else [sys.executable, "-m", "flowpool", "serve"],
            "bare": [
                str(BIN / "mitmdump"),
                "--mode",
                f"reverse:{address}@127.0.0.1:0",
                "--set",
                "stream_large_bodies=1",
            ],
        }
        web = ["--set", f"web_port={self.web_port}"] if self.program == "mitmweb" else []
        return [*starts[self.program], *web, *self._mode(), *self.args]

    def _mode(self) -> list[str]:
        """The mode that flowpool would give it, without starting it again for that."""
        if not self._told_mode or not self.program.startswith("mitm") or "--mode" in self.args:
            return []
        config = self._config()
        listen = {name: at.replace("[", "").replace("]", "") for name, at in config["listen"].items()}
        modes = [f"reverse:{config['providers']['anthropic']['upstream']}@{listen['claude']}"]
        modes += [f"regular@{listen['forward']}"] if "forward" in listen else []
        return [part for mode in modes for part in ("--mode", mode)]

    def env(self) -> dict[str, str]:
        """The whole environment of the program: none of the user's."""
        env = {
            "PATH": f"{BIN}:/usr/bin:/bin",
            "HOME": str(self.user),
            "FLOWPOOL_HOME": str(self.home),
            "LANG": "C.UTF-8",
            "TZ": "UTC",
            "PYTHONUNBUFFERED": "1",
            "PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring",
        }
        if not _installed():
            env["PYTHONPATH"] = str(ROOT)
        return env | self.extra_env

    # -- what it says ------------------------------------------------------------------------------------------

    def status(self) -> dict[str, Any]:
        """GET /_flowpool/status."""
        code, body = self.get("/_flowpool/status", {"x-flowpool-key": self._key()})
        assert code == http.client.OK, (code, body)
        document: dict[str, Any] = json.loads(body)
        return document

    def requests(self, last: int) -> list[dict[str, Any]]:
        """GET /_flowpool/requests: the lines of those that ended last, oldest first."""
        code, body = self.get(f"/_flowpool/requests?last={last}", {"x-flowpool-key": self._key()})
        assert code == http.client.OK, (code, body)
        lines: list[dict[str, Any]] = json.loads(body)["requests"]
        return lines

    def _key(self) -> str:
        return (self.home / "control.key").read_text(encoding="utf-8").strip()

    def running(self) -> dict[str, Any]:
        """What running.json says."""
        document: dict[str, Any] = json.loads((self.home / "running.json").read_bytes())
        return document

    @property
    def forward(self) -> str:
        """Where clients come by HTTPS_PROXY, as a URL."""
        return f"http://{self.running()['listen']['forward']}"

    @property
    def ca(self) -> Path:
        """The certificate that such clients are to trust."""
        return Path(self.running()["ca"])

    def account(self, name: str) -> dict[str, Any]:
        """An account's part of the status."""
        return next(account for account in self.status()["accounts"] if account["name"] == name)

    def holds(self, name: str) -> list[dict[str, Any]]:
        """The holds on an account: scope, until, because, row."""
        holds: list[dict[str, Any]] = self.account(name)["holds"]
        return holds

    def get(self, path: str, headers: Mapping[str, str] | None = None) -> tuple[int, bytes]:
        """A plain GET of the proxy itself."""
        connection = http.client.HTTPConnection(self.url.removeprefix("http://"), timeout=PATIENCE)
        try:
            connection.request("GET", path, headers=dict(headers or {}))
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def log_text(self) -> str:
        """All it wrote to stdout and stderr, in order of arrival."""
        return self._output.text()

    def wait_log(self, pattern: str, timeout: float = PATIENCE) -> str:
        """The first line of the log that matches, as soon as it is there."""
        found = self._output.wait_for(re.compile(f"({pattern})"), timeout)
        assert found is not None, f"no {pattern!r} in the log:\n{self.log_text()}"
        return found

    def request_line(self, nth: int) -> dict[str, Any]:
        """The nth line of the request log, as soon as it is there."""
        found = self._output.wait_for(_REQUEST, PATIENCE, nth=nth)
        assert found is not None, f"no {nth} requests in the log:\n{self.log_text()}"
        line: dict[str, Any] = json.loads(found)
        return line

    def mark(self) -> None:
        """Let `wait_log` look only at what comes from here on; lines of requests that ended already are awaited first."""
        with contextlib.suppress(ConnectionError):  # one that is not running has said all
            for line in self.requests(last=1):
                if line["id"] not in self.log_text():
                    self.wait_log(line["id"])
        self._output.mark()

    def leaks(self, text: str) -> list[str]:
        """Where that text stands, among the log and every file but secrets.json; for planted tokens."""
        found = ["the log"] if text in self.log_text() else []
        files = [path for path in sorted(self.folder.rglob("*")) if path.is_file() and path.name != "secrets.json"]
        for path in files:
            with contextlib.suppress(FileNotFoundError):  # SQLite's own come and go
                found += [str(path.relative_to(self.folder))] if text.encode() in path.read_bytes() else []
        return found

    def forget(self) -> None:
        """Remove the whole folder."""
        shutil.rmtree(self.folder, ignore_errors=True)


@cache
def _authority() -> Path:
    """One authority for all of mitmproxy's own programs, which each would spend a tenth of a second on making."""
    folder = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder)
    CertStore.from_store(folder, CONF_BASENAME, KEY_SIZE)
    return folder


def _installed() -> bool:
    """Whether flowpool is installed, as it must be for its users."""
    try:
        metadata.version("flowpool")
    except metadata.PackageNotFoundError:
        return False
    return True
