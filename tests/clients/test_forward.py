"""The real Claude Code by HTTPS_PROXY, with no base URL; run by make test-clients, where no network is."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients.test_claude_code import CLIENT, TOKENS, claude
from tests.e2e.harness import Member, Proxy
from tests.upstream import Text, Upstream, closed_port, limit, ok
from tests.upstream.authority import Authority

pytestmark = pytest.mark.clients

QUIET = ("DISABLE_AUTOUPDATER", "DISABLE_TELEMETRY", "DISABLE_ERROR_REPORTING", "IS_SANDBOX")


@pytest.fixture
def upstream() -> Iterator[Upstream]:
    """A fake upstream that knows two accounts, and the client's own login."""
    with Upstream(TOKENS | {"client": CLIENT}) as upstream:
        yield upstream


@pytest.fixture
def proxy(tmp_path: Path, upstream: Upstream) -> Iterator[Proxy]:
    """A pool in which `work` is always asked first, by flowpool's own program."""
    members = [Member(name=name, secret=secret, rank=rank) for rank, (name, secret) in enumerate(TOKENS.items())]
    settings = {"listen": {"forward": f"127.0.0.1:{closed_port()}"}}
    with Proxy(tmp_path, upstream, members, settings=settings, program="flowpool serve") as proxy:
        yield proxy


def ask(proxy: Proxy, home: Path, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    """One headless turn in a home of its own; what is trusted comes by env alone."""
    home.mkdir()
    env = dict.fromkeys(QUIET, "1") | {
        "HOME": str(home),
        "PATH": "/usr/bin:/bin",
        "HTTPS_PROXY": proxy.forward,
        "CLAUDE_CODE_OAUTH_TOKEN": CLIENT,
        "CLAUDE_CODE_MAX_RETRIES": "1",
        **env,
    }
    command = [str(claude()), "-p", "say hi", "--output-format", "json", *arguments]
    return subprocess.run(command, env=env, cwd=home, capture_output=True, text=True, timeout=120, check=False)


def test_turns_are_pooled_other_calls_pass_and_a_third_host_is_not_opened(
    tmp_path: Path, upstream: Upstream, proxy: Proxy
) -> None:
    """A limit is hopped over unseen, what is bound to the identity goes out on the client's own login, and a third host answers itself.

    The proxy does not trust that host's authority: had it opened the tunnel, nothing would have come through.
    """
    upstream.script("work", limit("7d"))
    upstream.script("home", ok(Text("By the tunnel.")))
    authority = Authority(tmp_path, "third")
    bundle = tmp_path / "bundle.pem"
    bundle.write_bytes(proxy.ca.read_bytes() + authority.bundle.read_bytes())
    with Upstream({}, tls=authority.server()) as third:
        servers = {"mcpServers": {"third": {"type": "http", "url": f"https://localhost:{third.port}/mcp"}}}
        told = ("--strict-mcp-config", "--mcp-config", json.dumps(servers))
        done = ask(proxy, tmp_path / "client", *told, NODE_EXTRA_CA_CERTS=str(bundle))
        reached = [request.path for request in third.requests]

    assert done.returncode == 0, (done.stdout, done.stderr)
    assert json.loads(done.stdout)["result"] == "By the tunnel."
    turns = [request for request in upstream.requests if request.path.startswith("/v1/messages")]
    assert [request.account for request in turns if b"say hi" in request.body][-2:] == ["work", "home"]
    assert not [request for request in turns if CLIENT in str(request.headers)]
    passed = [request for request in upstream.requests if not request.path.startswith("/v1/messages")]
    assert {request.account for request in passed} <= {"client", ""}
    assert "client" in {request.account for request in passed}
    assert "/mcp" in reached
    assert CLIENT not in proxy.log_text()
    assert f"CONNECT localhost:{third.port}" not in proxy.log_text()


def test_only_who_is_given_the_authority_trusts_it(tmp_path: Path, upstream: Upstream, proxy: Proxy) -> None:
    """Without the variable the same client on the same machine refuses the tunnel, and nothing was written to any home."""
    refused = ask(proxy, tmp_path / "stranger")
    assert refused.returncode != 0
    assert "certificate" in (refused.stdout + refused.stderr).lower()
    assert not [request for request in upstream.requests if request.path.startswith("/v1/messages")]
    assert list(proxy.user.iterdir()) == []
    ours = {path.name for path in tmp_path.rglob("mitmproxy-ca*")}
    assert ours == {path.name for path in (proxy.home / "mitmproxy").glob("mitmproxy-ca*")}
    assert {path.parent for path in tmp_path.rglob("mitmproxy-ca*")} == {proxy.home / "mitmproxy"}
