"""The real Claude Code, started by nothing of ours: its settings lead it to the pool, and back; run by make test-clients."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.clients.test_claude_code import claude
from tests.clients.test_run import ASK, QUIET, said, turns
from tests.e2e.harness import Member, Proxy
from tests.upstream import Text, Upstream, closed_port, ok, plant

pytestmark = pytest.mark.clients

TOKENS = {"work": plant("work"), "client": plant("client")}


def test_every_start_uses_the_pool_until_it_is_disconnected(tmp_path: Path) -> None:
    """Also where the environment has an address of its own, for settings go before it; the file is then as it was."""
    with Upstream(TOKENS) as upstream:
        listen = {"listen": {"claude": f"127.0.0.1:{closed_port()}"}}
        proxy = Proxy(tmp_path, upstream, [Member(name="work", secret=TOKENS["work"])], settings=listen)
        proxy.write()
        settings = proxy.user / ".claude" / "settings.json"
        settings.parent.mkdir()
        settings.write_text('{ "model": "sonnet" }\n')
        environ = proxy.env() | dict.fromkeys(QUIET, "1") | {"CLAUDE_CODE_OAUTH_TOKEN": TOKENS["client"]}

        def run(*line: str, **more: str) -> subprocess.CompletedProcess[str]:
            return subprocess.run(
                line, env=environ | more, cwd=proxy.user, capture_output=True, text=True, timeout=120, check=False,
                stdin=subprocess.DEVNULL,
            )  # fmt: skip

        def flowpool(*arguments: str) -> None:
            done = run(sys.executable, "-P", "-m", "flowpool", *arguments)
            assert done.returncode == 0, done.stderr

        flowpool("start")
        try:
            flowpool("connect")
            upstream.script("work", ok(Text("By the pool.")), ok(Text("Again.")))
            assert said(run(str(claude()), *ASK)) == "By the pool."
            assert said(run(str(claude()), *ASK, ANTHROPIC_BASE_URL="http://127.0.0.1:9")) == "Again."
            assert set(turns(upstream)) == {"work"}
            assert json.loads(settings.read_text())["model"] == "sonnet"

            flowpool("disconnect")
            assert settings.read_text() == '{ "model": "sonnet" }\n'
            upstream.script("client", ok(Text("By itself.")))
            assert said(run(str(claude()), *ASK, ANTHROPIC_BASE_URL=upstream.url)) == "By itself."
            assert turns(upstream)[-1] == "client"
        finally:
            flowpool("stop", "--now")
