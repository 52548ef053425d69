"""`flowpool run` from a cold start: the proxy is started, and stays, and the client's turn goes through it.

The client is a stand-in; tests/clients/test_run.py does the same with Claude Code.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from providers.anthropic.placeholder import PLACEHOLDER
from tests.e2e.harness import Member, Proxy
from tests.e2e.pool import ranked, token
from tests.flowpool.launch.claudes import StandIn
from tests.flowpool.launch.pooled import ALONE
from tests.upstream import Upstream

TURN = """
import http.client, urllib.parse
def asks(method, path, body=None):
    where = urllib.parse.urlsplit(os.environ["ANTHROPIC_BASE_URL"])
    connection = http.client.HTTPConnection(where.hostname, where.port, timeout=20)
    token = os.environ["CLAUDE_CODE_OAUTH_TOKEN"]
    headers = dict(line.split(": ") for line in os.environ.get("ANTHROPIC_CUSTOM_HEADERS", "").splitlines())
    connection.request(method, path, body, headers | {"authorization": "Bearer " + token})
    print(connection.getresponse().status)
turn = {"model": "claude-opus-5-5", "max_tokens": 9, "messages": [{"role": "user", "content": " ".join(sys.argv)}]}
asks("POST", "/v1/messages", json.dumps(turn))
asks("GET", "/api/oauth/profile")
sys.exit(3)
"""


class Cold:
    """A pool that does not run, and a client that asks a turn and its profile."""

    def __init__(self, folder: Path, upstream: Upstream, members: Sequence[Member]) -> None:
        self.claude = StandIn(folder / "programs" / "claude", TURN)
        self.proxy = Proxy(folder, upstream, members)
        self.proxy.write()
        self.environ = self.proxy.env() | {"PATH": f"{self.claude.path.parent}:/usr/bin:/bin"}

    def flowpool(self, *arguments: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        """Run a command."""
        return self.run([sys.executable, "-P", "-m", "flowpool", *arguments], code=code)

    def run(self, line: Sequence[str], *, code: int = 0) -> subprocess.CompletedProcess[str]:
        """Run a program."""
        done = subprocess.run(line, env=self.environ, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == code, (done.stdout, done.stderr)
        return done


@pytest.fixture
def cold(tmp_path: Path) -> Iterator[Cold]:
    """A pool whose upstream knows its accounts, and whose proxy is stopped in the end."""
    members = ranked("work", "home")
    with Upstream({member.name: token(member) for member in members}) as upstream:
        made = Cold(tmp_path, upstream, members)
        try:
            yield made
        finally:
            made.flowpool("stop", "--now")


def test_a_cold_start_serves_a_turn(cold: Cold) -> None:
    """The client's first request finds the proxy, its code comes back, and the proxy serves the next launch, by the link, too."""
    upstream = cold.proxy.upstream
    assert isinstance(upstream, Upstream)
    first = cold.flowpool("run", "-p", code=3)
    assert first.stdout.split() == ["200", "404"]  # nobody is the primary

    cold.flowpool("primary", "home")
    cold.flowpool("link")
    second = cold.flowpool("run", "--account", "home", "--", "-p", code=3)
    third = cold.run([str(cold.proxy.home / "bin" / "claude"), "-p", "again"], code=3)
    assert [done.stdout.split() for done in (second, third)] == [["200", "200"]] * 2
    assert [one.account for one in upstream.requests] == ["work", "home", "home", "work", "home"]
    assert not [one for one in upstream.requests if PLACEHOLDER in str(one.headers)]
    assert len({start.environ["ANTHROPIC_BASE_URL"] for start in cold.claude.starts()}) == 1


def test_what_does_not_start_is_told(cold: Cold) -> None:
    """No client is started without the pool that was asked for; the reason is quoted."""
    cold.proxy.write_config('listen.claude = "192.0.2.1:1"\n')
    done = cold.flowpool("run", "-p", code=1)

    assert "192.0.2.1:1" in done.stderr
    assert cold.claude.starts() == []


@ALONE
def test_what_is_not_there_is_not_started_for(cold: Cold) -> None:
    """Without Claude Code no proxy is started either."""
    cold.claude.path.unlink()
    cold.flowpool("run", "-p", code=1)

    assert not (cold.proxy.home / "running.json").exists()
