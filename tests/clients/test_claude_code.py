"""The real Claude Code through the pool; run by make test-clients, which installs it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.harness import Member, Proxy
from tests.upstream import Answer, Received, Text, ToolUse, Upstream, limit, ok, plant

pytestmark = pytest.mark.clients

PACKAGES = Path(__file__).parent / "node_modules" / "@anthropic-ai"
TOKENS = {name: plant(name) for name in ("work", "home")}
CLIENT = plant("client")


@pytest.fixture
def upstream() -> Iterator[Upstream]:
    """A fake upstream that knows two accounts, and not the client's own login."""
    with Upstream(TOKENS) as upstream:
        yield upstream


@pytest.fixture
def proxy(tmp_path: Path, upstream: Upstream) -> Iterator[Proxy]:
    """A pool in which `work` is always asked first."""
    members = [Member(name=name, secret=secret, rank=rank) for rank, (name, secret) in enumerate(TOKENS.items())]
    with Proxy(tmp_path, upstream, members) as proxy:
        yield proxy


def claude() -> Path:
    """The native program inside its platform package."""
    found = sorted(PACKAGES.glob("claude-code-*/claude"))
    assert found, f"no claude under {PACKAGES}; run: make test-clients"
    return found[0]


def ask(proxy: Proxy, folder: Path, prompt: str) -> subprocess.CompletedProcess[str]:
    """One headless turn with a login of the client's own, in a home of its own."""
    (folder / "client").mkdir()
    quiet = ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "DISABLE_TELEMETRY", "DISABLE_ERROR_REPORTING")
    env = dict.fromkeys((*quiet, "DISABLE_AUTOUPDATER", "IS_SANDBOX"), "1") | {
        "HOME": str(folder / "client"),
        "PATH": "/usr/bin:/bin",
        "ANTHROPIC_BASE_URL": proxy.url,
        "CLAUDE_CODE_OAUTH_TOKEN": CLIENT,
    }
    arguments = [str(claude()), "-p", prompt, "--output-format", "json", "--allowedTools", "Bash(echo:*)"]
    return subprocess.run(
        arguments, env=env, cwd=folder / "client", capture_output=True, text=True, timeout=90, check=False
    )


def test_a_tool_using_turn_goes_on_when_its_account_runs_out(tmp_path: Path, upstream: Upstream, proxy: Proxy) -> None:
    """A tool runs, its account refuses the next request, and the answer is the other account's; the client sees none of it."""
    echo: dict[str, object] = {"command": "echo from-the-tool", "description": "Say a word"}
    upstream.script("work", ok(Text("Let me look."), ToolUse("Bash", echo)), limit("7d"))
    upstream.script("home", ok(Text("The tool has spoken.")))

    done = ask(proxy, tmp_path, "say hi")

    assert done.returncode == 0, (done.stdout, done.stderr)
    result = json.loads(done.stdout)
    assert (result["is_error"], result["result"]) == (False, "The tool has spoken.")
    turns = [request for request in upstream.requests if request.path.startswith("/v1/messages")]
    assert [request.account for request in turns] == ["work", "work", "home"]
    assert b"from-the-tool" in turns[1].body
    assert turns[1].body == turns[2].body
    assert [hold["row"] for hold in proxy.holds("work")] == [13]


def test_the_clients_own_credential_signs_no_turn(tmp_path: Path, upstream: Upstream, proxy: Proxy) -> None:
    """What the client logs in with reaches the upstream with no pooled request, and no file or log of ours."""
    assert ask(proxy, tmp_path, "say hi").returncode == 0

    turns = [request for request in upstream.requests if request.path.startswith("/v1/messages")]
    assert turns
    assert not [request for request in turns if CLIENT in str(request.headers)]
    assert CLIENT not in proxy.log_text()
    assert CLIENT.encode() not in b"".join(path.read_bytes() for path in proxy.home.rglob("*") if path.is_file())


def _soon_over(_: Received) -> Answer:
    return limit("7d", resets_in=3, unit="ms", retry_after=None)


def test_a_turn_that_waits_is_told_so_and_then_served_or_refused(tmp_path: Path, upstream: Upstream) -> None:
    """The client takes comments before a stream; an error event as the first one makes it ask again, whole, and show the limit."""
    members = [Member(name="work", secret=TOKENS["work"])]
    with Proxy(tmp_path, upstream, members, settings={"wait": {"max": 60, "heartbeat": 0.5}}) as proxy:
        upstream.script("work", _soon_over, ok(Text("After the wait.")))
        served = ask(proxy, tmp_path, "say hi")
        (tmp_path / "client").rename(tmp_path / "before")
        upstream.script("work", _soon_over, limit("7d", resets_in=7200))
        refused = ask(proxy, tmp_path, "say hi")
        lines = [line for line in proxy.requests(20) if line["ended"] != "passed"]

    assert (served.returncode, json.loads(served.stdout)["result"]) == (0, "After the wait.")
    assert json.loads(refused.stdout)["result"].startswith("You've hit your weekly limit")
    assert [(line["status"], line["ended"], "heartbeats" in line["because"]) for line in lines] == [
        (200, "complete", True),
        (200, "refused", True),
        (429, "refused", False),
    ]
