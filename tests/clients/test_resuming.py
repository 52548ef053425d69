"""The real Claude Code, watched: a limit ends its turn, and the same session goes on; run by make test-clients."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from flowpool.launch.watched import PROMPT
from tests.clients.test_claude_code import claude
from tests.e2e.harness import Member, Proxy
from tests.flowpool.launch.claude import ROOT, WATCHER
from tests.terminal import CTRL_C, Terminal
from tests.upstream import (
    Answer,
    Received,
    Text,
    Upstream,
    bad_token,
    credit_balance,
    limit,
    ok,
    overloaded,
    plant,
    server_error,
    silent,
)

pytestmark = pytest.mark.clients

CLIENT = plant("client")


@pytest.fixture
def upstream() -> Iterator[Upstream]:
    """A fake upstream that knows the client's own login: whose account refuses matters nothing here."""
    with Upstream({"client": CLIENT}) as upstream:
        yield upstream


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home in which Claude Code asks nothing at its start."""
    known = {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}
    told = {"hasCompletedOnboarding": True, "theme": "dark", "projects": {str(tmp_path): known}}
    (tmp_path / ".claude.json").write_text(json.dumps(told))
    return tmp_path


def answers(*turns: Answer) -> Callable[[Received], Answer]:
    """What turns get, one after another, the last one from then on; side calls get a word."""
    left = list(turns)

    def answer(received: Received) -> Answer:
        if not is_turn(received):
            return ok("{}")
        return left.pop(0) if len(left) > 1 else left[0]

    return answer


def is_turn(received: Received) -> bool:
    """Whether it is a turn of the conversation: title and quota calls bring no tools."""
    return bool(received.body) and bool(received.json().get("tools"))


def sessions(upstream: Upstream) -> list[str | None]:
    """The session of each turn that came."""
    return [one.header("x-claude-code-session-id") for one in upstream.requests if is_turn(one)]


def environ(home: Path, upstream: Upstream) -> dict[str, str]:
    """The whole environment; a failing call is tried once more."""
    quiet = ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "DISABLE_TELEMETRY", "DISABLE_ERROR_REPORTING")
    return dict.fromkeys((*quiet, "DISABLE_AUTOUPDATER", "IS_SANDBOX", "CLAUDE_CODE_MAX_RETRIES"), "1") | {
        "HOME": str(home),
        "PATH": os.defpath,
        "PYTHONPATH": str(ROOT),
        "ANTHROPIC_BASE_URL": upstream.url,
        "CLAUDE_CODE_OAUTH_TOKEN": CLIENT,
        "API_TIMEOUT_MS": "3000",
    }


def watcher(*arguments: str, every: float = 0.2) -> list[str]:
    """The command line that runs it under watch, with short pauses."""
    source = WATCHER.format(every=every, parting=5.0, pause=0.1, longest=0.2, recovers=None)
    return [sys.executable, "-c", source, str(claude()), *arguments]


def headless(home: Path, upstream: Upstream, *arguments: str) -> subprocess.CompletedProcess[str]:
    """One headless run under watch."""
    line = watcher("-p", "--output-format", "json", *arguments)
    env = environ(home, upstream)
    return subprocess.run(
        line, env=env, cwd=home, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, check=False
    )


@pytest.mark.parametrize(
    ("refusal", "tries", "why"),
    [
        (limit("5h"), 1, "a limit"),
        (limit("7d"), 1, "a limit"),
        (overloaded(), 2, "an overloaded provider"),
        (server_error(), 2, "a server error"),
        (silent(), 2, "a time-out"),
    ],
    ids=["5h", "7d", "overloaded", "server error", "time-out"],
)
def test_a_headless_session_goes_on(home: Path, upstream: Upstream, refusal: Answer, tries: int, why: str) -> None:
    """In the same session, which still holds what was asked; its reader gets one answer, the good one."""
    upstream.default("client", answers(*[refusal] * tries, ok(Text("Here I am."))))
    done = headless(home, upstream, "say hi")

    assert done.returncode == 0, (done.stdout, done.stderr)
    assert json.loads(done.stdout)["result"] == "Here I am."
    assert f"{why} ended the turn" in done.stderr
    assert len(sessions(upstream)) == tries + 1
    assert len(set(sessions(upstream))) == 1
    body = [one for one in upstream.requests if is_turn(one)][-1].body
    assert b"say hi" in body
    assert PROMPT.encode() in body


def test_it_goes_on_three_times_at_most(home: Path, upstream: Upstream) -> None:
    """A limit that stays is told, with the exit code of a turn that failed."""
    upstream.default("client", limit("7d"))
    done = headless(home, upstream, "say hi")

    assert done.returncode == 1
    assert json.loads(done.stdout)["is_error"] is True
    assert len(sessions(upstream)) == 4
    assert len(set(sessions(upstream))) == 1


@pytest.mark.parametrize("refusal", [bad_token(), credit_balance()], ids=["login", "money"])
def test_what_no_resuming_mends_is_left(home: Path, upstream: Upstream, refusal: Answer) -> None:
    """It ends as it would on its own."""
    upstream.default("client", refusal)
    done = headless(home, upstream, "say hi")

    assert done.returncode == 1
    assert "ended the turn" not in done.stderr
    assert len(done.stdout.splitlines()) == 1


def test_a_session_on_a_terminal_goes_on(home: Path, upstream: Upstream) -> None:
    """Claude Code would stand before its limit; it is ended and resumed, answers, and is left with Ctrl-C twice."""
    upstream.default("client", answers(limit("5h"), ok(Text("Here I am."))))
    with Terminal(watcher("say hi"), environ(home, upstream), home) as terminal:
        terminal.until("a limit ended the turn; its session is resumed in 0 s (1 of 3)")
        terminal.until("Here")
        terminal.type(CTRL_C)
        terminal.until("again")  # "Press Ctrl-C again to exit"
        terminal.type(CTRL_C)
        terminal.end(0)

    assert len(sessions(upstream)) == 2
    assert len(set(sessions(upstream))) == 1


def test_a_limit_of_the_whole_pool_is_outlived(home: Path) -> None:
    """`flowpool run --resume-on-limit`: the pool's own honest limit ends the turn; the session goes on once its account recovered."""
    members = [Member(name="work", secret=plant("work"))]
    with (
        Upstream({"work": members[0].secret, "client": CLIENT}) as upstream,
        Proxy(home, upstream, members, settings={"wait": {"max": 0}}) as proxy,
    ):
        upstream.script("work", limit("7d", resets_in=2), ok(Text("Here I am.")))
        line = [sys.executable, "-m", "flowpool", "run", "--resume-on-limit", "-p", "--output-format", "json", "say hi"]
        env = environ(home, upstream) | {"FLOWPOOL_HOME": str(proxy.home), "PATH": f"{claude().parent}:{os.defpath}"}
        del env["ANTHROPIC_BASE_URL"]
        done = subprocess.run(
            line, env=env, cwd=home, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, check=False
        )

        assert done.returncode == 0, (done.stdout, done.stderr)
        assert json.loads(done.stdout)["result"] == "Here I am."
        assert "a limit ended the turn" in done.stderr
        assert [one.account for one in upstream.requests if is_turn(one)] == ["work", "work"]
        assert len(set(sessions(upstream))) == 1
