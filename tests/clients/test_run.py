"""The real Claude Code, started by `flowpool run` and by the link; run by make test-clients, which installs it."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from providers.anthropic.placeholder import PLACEHOLDER
from tests.clients.test_claude_code import claude
from tests.e2e.harness import Member, Proxy
from tests.upstream import Text, Upstream, closed_port, limit, ok, plant

pytestmark = pytest.mark.clients

OWN = plant("client")
TOKENS = {"work": plant("work"), "home": plant("home"), "client": OWN}
QUIET = (
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
    "DISABLE_TELEMETRY",
    "DISABLE_ERROR_REPORTING",
    "DISABLE_AUTOUPDATER",
    "IS_SANDBOX",
)
ASK = ("-p", "say hi", "--output-format", "json")


class Launched:
    """A pool that does not run yet, and a person whose PATH has Claude Code."""

    def __init__(self, folder: Path, upstream: Upstream, **listen: str) -> None:
        members = [Member(name=name, secret=TOKENS[name], rank=at) for at, name in enumerate(("work", "home"))]
        settings = {"listen": {"claude": "127.0.0.1:0", **listen}}
        self.upstream, self.proxy = upstream, Proxy(folder, upstream, members, settings=settings)
        self.proxy.write()
        programs = folder / "programs"
        programs.mkdir()
        (programs / "claude").symlink_to(claude())
        self.environ = self.proxy.env() | dict.fromkeys(QUIET, "1") | {"PATH": f"{programs}:/usr/bin:/bin"}

    def flowpool(self, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
        """Run a command."""
        return self.run(sys.executable, "-P", "-m", "flowpool", *arguments, **more)

    def run(self, *line: str, **more: str) -> subprocess.CompletedProcess[str]:
        """Run a program in the person's own folder."""
        return subprocess.run(
            line,
            env=self.environ | more,
            cwd=self.proxy.user,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
            stdin=subprocess.DEVNULL,
        )

    def settings(self, **found: Any) -> None:
        """Write the person's own settings of Claude Code."""
        path = self.proxy.user / ".claude" / "settings.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(found))

    @property
    def link(self) -> str:
        """Our link."""
        return str(self.proxy.home / "bin" / "claude")


@pytest.fixture
def launched(tmp_path: Path) -> Iterator[Launched]:
    """A pool that is stopped in the end."""
    with Upstream(TOKENS) as upstream:
        made = Launched(tmp_path, upstream)
        yield made
        assert made.flowpool("stop", "--now").returncode == 0


@contextmanager
def asked() -> Iterator[tuple[str, list[str]]]:
    """A proxy of the person's network that refuses every tunnel; its address, and the first line of all that it was asked."""
    heard: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_CONNECT(self) -> None:
            heard.append(self.requestline)
            self.send_response(502)
            self.end_headers()

        def log_message(self, *_: object) -> None:  # pytest shows what it needs
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", heard
        finally:
            server.shutdown()
            thread.join()


def said(done: subprocess.CompletedProcess[str]) -> str:
    """What the turn's answer was."""
    assert done.returncode == 0, (done.stdout, done.stderr)
    result: Mapping[str, Any] = json.loads(done.stdout)
    assert result["is_error"] is False
    return str(result["result"])


def turns(upstream: Upstream) -> list[str]:
    """Whose turns the upstream got."""
    return [one.account for one in upstream.requests if one.path.startswith("/v1/messages")]


def test_a_cold_start_to_a_finished_turn_without_a_login(launched: Launched) -> None:
    """The proxy is started, the turn is the pool's, in a subscription's mode, and the placeholder is not seen."""
    launched.upstream.script("work", ok(Text("From the pool.")))
    done = launched.flowpool("run", *ASK)

    assert said(done) == "From the pool."
    assert turns(launched.upstream) == ["work"]
    assert not [one for one in launched.upstream.requests if PLACEHOLDER in str(one.headers)]
    headers = next(str(one.headers) for one in launched.upstream.requests if one.account == "work")
    assert "oauth-2025-04-20" in headers
    assert "extended-cache-ttl" in headers


def test_an_account_and_the_clients_own_words_are_heeded(launched: Launched) -> None:
    """A pin by header, options of Claude Code's without a `--`, and a key that would end the mode is not passed on."""
    launched.upstream.script("home", ok(Text("Pinned.")))
    done = launched.flowpool("run", "--account", "home", *ASK, ANTHROPIC_API_KEY="sk-ant-api03-x")

    assert said(done) == "Pinned."
    assert turns(launched.upstream) == ["home"]
    assert "flowpool: ANTHROPIC_API_KEY is set" in done.stderr
    assert not [one for one in launched.upstream.requests if "x-flowpool-" in str(one.headers).lower()]


def test_the_link_routes_and_steps_aside(launched: Launched) -> None:
    """While the proxy runs the turn is the pool's; afterwards Claude Code asks where the person says, on its own login."""
    assert launched.flowpool("link").returncode == 0
    assert launched.flowpool("start").returncode == 0
    assert said(launched.run(launched.link, *ASK, CLAUDE_CODE_OAUTH_TOKEN=OWN))
    assert turns(launched.upstream) == ["work"]

    assert launched.flowpool("stop", "--now").returncode == 0
    own = {"CLAUDE_CODE_OAUTH_TOKEN": OWN, "ANTHROPIC_BASE_URL": launched.upstream.url}
    done = launched.run(launched.link, *ASK, **own)
    assert said(done)
    assert turns(launched.upstream) == ["work", "client"]
    assert done.stderr.count("flowpool: Claude Code is started without the pool: no proxy runs") == 1


def test_settings_of_its_own_keep_no_launch_from_the_pool(launched: Launched) -> None:
    """Neither another address, nor a key, nor a program for one, nor headers that hide the pin; the person's headers are kept."""
    env = {
        "ANTHROPIC_BASE_URL": "http://127.0.0.1:9",
        "ANTHROPIC_API_KEY": "sk-ant-api03-x",
        "ANTHROPIC_CUSTOM_HEADERS": "x-mine: 1",
    }
    launched.settings(env=env, apiKeyHelper="echo sk-ant-api03-y")
    launched.upstream.script("home", ok(Text("Pinned.")), ok(Text("Merged.")))

    assert said(launched.flowpool("run", "--account", "home", *ASK)) == "Pinned."
    own = json.dumps({"env": {"ANTHROPIC_BASE_URL": "http://127.0.0.1:9"}})
    assert said(launched.flowpool("run", "--account", "home", "--settings", own, *ASK)) == "Merged."
    assert turns(launched.upstream) == ["home", "home"]
    headers = [dict(one.headers) for one in launched.upstream.requests if one.path.startswith("/v1/messages")]
    assert [one.get("x-mine") for one in headers] == ["1", "1"]


def test_without_the_pool_its_settings_do_not_lead_to_it(launched: Launched) -> None:
    """Directly, and where the link steps aside: what `flowpool connect` wrote is gone before, and the vendor's own address is asked."""
    dead = f"127.0.0.1:{closed_port()}"
    launched.proxy.write_config(f'[listen]\nclaude = "{dead}"\n')
    launched.settings(env={"ANTHROPIC_BASE_URL": f"http://{dead}", "ANTHROPIC_CUSTOM_HEADERS": "x-flowpool-key: k"})
    assert launched.flowpool("link").returncode == 0
    with asked() as (address, heard):
        more = {"CLAUDE_CODE_OAUTH_TOKEN": OWN, "HTTPS_PROXY": address, "CLAUDE_CODE_MAX_RETRIES": "0"}
        launched.flowpool("run", "--direct", *ASK, **more)
        launched.run(launched.link, *ASK, **more)
        launched.flowpool("run", "--direct", "--account", "work", *ASK, **more)

    assert len(heard) >= 3
    assert {line.split()[1] for line in heard} == {"api.anthropic.com:443"}


def test_management_needs_no_pool(launched: Launched) -> None:
    """Claude Code answers for itself, and no proxy is started."""
    assert "Claude Code" in launched.flowpool("run", "--", "--version").stdout
    assert not (launched.proxy.home / "running.json").exists()


def test_the_persons_end_code_comes_back(launched: Launched) -> None:
    """A turn that fails ends run as it ends Claude Code."""
    assert launched.flowpool("run", "--", "-p", "hi", "--resume", "no-such-session").returncode == 1


def test_by_the_proxy_a_turn_is_the_pools(tmp_path: Path) -> None:
    """Claude Code asks the vendor's own address, trusts our certificate beside the system's, and its turn is an account's."""
    with Upstream(TOKENS) as upstream:
        launched = Launched(tmp_path, upstream, forward=f"127.0.0.1:{closed_port()}")
        upstream.script("work", ok(Text("Through the tunnel.")))
        wrong = ("HTTPS_PROXY", "https_proxy", "ANTHROPIC_BASE_URL")
        launched.settings(env=dict.fromkeys(wrong, "http://127.0.0.1:9") | {"NODE_EXTRA_CA_CERTS": "/nowhere"})
        try:
            done = launched.flowpool("run", "--forward", *ASK)
            assert said(done) == "Through the tunnel."
            assert turns(upstream) == ["work"]
            assert not [one for one in upstream.requests if PLACEHOLDER in str(one.headers)]
        finally:
            assert launched.flowpool("stop", "--now").returncode == 0


IDENTITY = ("/api/claude_code/settings", "/api/claude_code/policy_limits")


def test_without_an_identity_nothing_is_asked_twice(tmp_path: Path) -> None:
    """Own answer H: at a status that may pass Claude Code would ask again and again for 20 s before its turn; and it stays logged in."""
    with Upstream(TOKENS) as upstream:
        launched = Launched(tmp_path, upstream, forward=f"127.0.0.1:{closed_port()}")
        try:
            for text in ("First.", "Second."):
                upstream.script("work", ok(Text(text)))
                done = launched.flowpool("run", "--forward", *ASK)
                assert said(done) == text
                assert "no account is the primary" in done.stderr
            lines = launched.flowpool("requests", "-n", "50", "--json").stdout.splitlines()
        finally:
            assert launched.flowpool("stop", "--now").returncode == 0

    asked = Counter((line["path"], line["status"]) for line in map(json.loads, lines) if line["answer"] == "H")
    assert asked.keys() <= {(path, 404) for path in IDENTITY}
    assert asked[IDENTITY[0], 404] in (1, 2)  # once a run; one that is quick ends before it asks for all
    assert asked[IDENTITY[1], 404] <= 2
    assert not [one for one in upstream.requests if one.path in IDENTITY]


def test_connected_it_needs_no_login(tmp_path: Path) -> None:
    """Started by itself: with the placeholder it asks the pool, without it it would say that it is not logged in."""
    with Upstream(TOKENS) as upstream:
        launched = Launched(tmp_path, upstream, claude=f"127.0.0.1:{closed_port()}")
        upstream.script("work", ok(Text("Connected.")), ok(Text("Exported.")))
        try:
            assert launched.flowpool("start").returncode == 0
            program = str(tmp_path / "programs" / "claude")
            assert "placeholder" in launched.flowpool("connect").stdout
            assert said(launched.run(program, *ASK)) == "Connected."

            assert launched.flowpool("disconnect").returncode == 0
            script = f'eval "$({sys.executable} -P -m flowpool env)" && exec {program} -p hi --output-format json'
            assert said(launched.run("/bin/sh", "-c", script)) == "Exported."
        finally:
            assert launched.flowpool("stop", "--now").returncode == 0
        assert not [one for one in upstream.requests if PLACEHOLDER in str(one.headers)]


def test_a_placeholder_in_settings_does_not_hide_a_login(tmp_path: Path) -> None:
    """What `flowpool connect` put there before it: for a launch, the login's own identity counts. A team's login asks for both."""
    with Upstream(TOKENS) as upstream:
        launched = Launched(tmp_path, upstream, forward=f"127.0.0.1:{closed_port()}")
        upstream.script("work", ok(Text("Logged in.")))
        launched.settings(env={"CLAUDE_CODE_OAUTH_TOKEN": PLACEHOLDER})
        login = {"accessToken": OWN, "refreshToken": "x", "expiresAt": 4_000_000_000_000, "scopes": ["user:inference"]}
        file = launched.proxy.user / ".claude" / ".credentials.json"
        file.write_text(json.dumps({"claudeAiOauth": {**login, "subscriptionType": "team"}}))
        try:
            assert said(launched.flowpool("run", "--forward", *ASK)) == "Logged in."
        finally:
            assert launched.flowpool("stop", "--now").returncode == 0
        assert {one.account for one in upstream.requests if one.path in IDENTITY} == {"client"}


def test_a_headless_run_rests_until_the_pool_serves_again(launched: Launched) -> None:
    """Every account refuses until a moment that the pool knows: it is resumed then, and not before."""
    launched.upstream.script("work", limit("5h", resets_in=30))
    launched.upstream.script("home", limit("5h", resets_in=6), ok(Text("Rested.")))
    done = launched.flowpool("run", "--resume-on-limit", *ASK)

    assert said(done) == "Rested."
    assert turns(launched.upstream) == ["work", "home", "home"]
    assert done.stderr.count("nobody may serve before") == 1
