"""The proxy in the background: found where it runs, started where none does."""

import os
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from credentials import files
from flowpool import health, proxy
from flowpool.errors import Failure
from flowpool.proxy import Proxy, clean
from home.paths import Home

PATIENCE = 15.0  # seconds; a start takes about one, on a busy machine several
PAUSE = 0.05  # seconds between two looks at a proxy that starts
HANDOVER = 10  # looks at a proxy of which another takes over just now
QUOTED = 10  # lines of what it said
ENDING = 5.0  # seconds for one that was started in vain to end
NOT_INHERITED = frozenset({"NOTIFY_SOCKET", "FLOWPOOL_SERVICE", "FLOWPOOL_HANDED"})
"""What a service manager, or the proxy before, told this process alone."""
CLIENTS = frozenset(
    {
        *("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_CUSTOM_HEADERS", "ANTHROPIC_FOUNDRY_API_KEY"),
        *("CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CODE_OAUTH_REFRESH_TOKEN", "AWS_BEARER_TOKEN_BEDROCK"),
        *("CODEX_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"),
    }
)
"""Credentials of clients: the proxy uses none, and would keep them for as long as it runs."""


def ensure(home: Home, patience: float = PATIENCE) -> Proxy:
    """Return the proxy that serves, started when none does; patience: seconds for a start.

    Raises Failure, which quotes why it did not start.
    """
    return answering(home) or start(home, patience)


def answering(home: Home) -> Proxy | None:
    """Return the proxy that serves; None when there is none, or one that is about to end. Raises Failure when it says nothing."""
    for _ in range(HANDOVER):
        found = proxy.find(home)
        if found is None:
            return None
        try:
            told = health.of(found.address)
        except TimeoutError:
            raise Failure(f"{found} does not answer; run: flowpool stop, then flowpool start") from None
        if told is None:
            return None
        if told.pid == found.pid:
            return None if told.is_draining else found
        time.sleep(PAUSE)
    return None


def start(home: Home, patience: float = PATIENCE) -> Proxy:
    """Start a proxy of its own session, and wait until it answers; one that somebody else starts meanwhile will do. Raises Failure."""
    said = home.log.parent / "start.log"
    files.make_folder(said.parent)
    deadline = time.monotonic() + patience
    with files.lock(said, patience):
        return answering(home) or _awaited(home, _spawned(home, said), said, deadline)


def _spawned(home: Home, said: Path) -> subprocess.Popen[bytes]:
    said.unlink(missing_ok=True)
    detached = 0x8 | 0x200 if sys.platform == "win32" else 0  # DETACHED_PROCESS | CREATE_NEW_PROCESS_GROUP
    with os.fdopen(os.open(said, os.O_WRONLY | os.O_CREAT | os.O_APPEND, files.PRIVATE_FILE), "wb") as out:
        return subprocess.Popen(  # noqa: S603  # our own interpreter
            command(),
            cwd=home.state_folder,
            env=environ(os.environ),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            start_new_session=True,
            creationflags=detached,
        )


def command() -> list[str]:
    """Return what starts a proxy that has no screen; -P: what lies in its folder is no module."""
    return [sys.executable, "-P", "-m", "flowpool", "serve", "--no-screen"]


def environ(own: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a proxy that nobody looks after."""
    return {name: value for name, value in own.items() if name not in NOT_INHERITED | CLIENTS}


def _awaited(home: Home, child: "subprocess.Popen[bytes]", said: Path, deadline: float) -> Proxy:
    while True:
        is_over = child.poll() is not None
        found = answering(home)
        if found is not None:
            _leave(child)
            return found
        if is_over:
            raise Failure(f"the proxy did not start: {quoted(said) or f'it ended with {child.returncode}'}{_MEND}")
        if time.monotonic() > deadline:
            _end(child)
            raise Failure(f"the proxy did not answer in time: {quoted(said) or 'it said nothing'}{_MEND}")
        time.sleep(PAUSE)


_MEND = "; to see all of it, run: flowpool serve"


def _leave(child: "subprocess.Popen[bytes]") -> None:
    """Let it go on by itself: nobody here waits for its end."""
    if child.returncode is None:
        child.returncode = 0


def _end(child: "subprocess.Popen[bytes]") -> None:
    child.terminate()
    try:
        child.wait(ENDING)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()


def quoted(said: Path) -> str:
    """Return the last of what it said, in one line."""
    try:
        text = said.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    lines = [line.removeprefix("flowpool: ").strip() for line in text.splitlines()]
    return clean(" / ".join([line for line in lines if line][-QUOTED:]))
