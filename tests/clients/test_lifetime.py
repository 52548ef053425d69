"""The real Claude Code over restarts and a stop of the proxy; run by make test-clients, which installs it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.clients.test_run import Launched, launched, turns
from tests.upstream import Answer, Text, ToolUse, ok

pytestmark = pytest.mark.clients

__all__ = ["launched"]  # a fixture

DELTA = "content_block_delta"
TALK = ("-p", "say hi", "--output-format", "stream-json", "--verbose", "--allowedTools", "Bash(echo:*)")


def step(number: int) -> Answer:
    """A turn that stops in the middle of its words, and then asks for a tool."""
    echo: dict[str, object] = {"command": f"echo step-{number}", "description": "Say a word"}
    return ok(Text(f"Step {number}."), ToolUse("Bash", echo)).wait(f"step-{number}", after=DELTA)


@contextmanager
def talking(launched: Launched) -> Iterator[subprocess.Popen[str]]:
    """A headless session by way of the pool."""
    line = (sys.executable, "-P", "-m", "flowpool", "run", *TALK)
    with subprocess.Popen(
        line,
        env=launched.environ,
        cwd=launched.proxy.user,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as session:
        try:
            yield session
        finally:
            session.kill()


def ended(session: subprocess.Popen[str]) -> str:
    """How the session ended: what it said last, when it met no failure on its way."""
    out, err = session.communicate(timeout=60)
    events = [json.loads(line) for line in out.splitlines()]
    assert session.returncode == 0, (out, err)
    assert not [event for event in events if event.get("subtype") == "api_retry"], out
    return str(events[-1]["result"])


def test_a_restart_in_each_turn_refuses_and_cuts_nothing(launched: Launched) -> None:
    """Three turns with tools, a restart in the middle of each stream: no try is repeated, and the last word is whole."""
    steps = (1, 2, 3)
    launched.upstream.script("work", *map(step, steps), ok(Text("All is said.")))
    assert launched.flowpool("start").returncode == 0
    with talking(launched) as session:
        for number in steps:
            launched.upstream.wait_held(f"step-{number}", 30)
            restarted = launched.flowpool("restart")
            assert restarted.returncode == 0, restarted.stderr
            launched.upstream.release(f"step-{number}")
        assert ended(session) == "All is said."

    assert turns(launched.upstream) == ["work"] * 4


def test_a_stop_lets_a_stream_end(launched: Launched) -> None:
    """The turn that is on its way is answered whole; only then the proxy is gone."""
    launched.upstream.script("work", ok(Text("The last word.")).wait("word", after=DELTA))
    with talking(launched) as session:
        launched.upstream.wait_held("word", 30)
        line = (sys.executable, "-P", "-m", "flowpool", "stop")
        with subprocess.Popen(line, env=launched.environ, stdout=subprocess.PIPE, text=True) as stop:
            assert stop.stdout is not None
            assert "1 request" in stop.stdout.readline()
            launched.upstream.release("word")
            assert ended(session) == "The last word."
            assert stop.wait(30) == 0

    assert turns(launched.upstream) == ["work"]
