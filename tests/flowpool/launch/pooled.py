"""A home whose proxy is a stand-in, and a Claude Code that is one."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from flowpool.launch import places
from home import controlkey, running
from home.checks import Address
from tests.flowpool.cli import Shell
from tests.flowpool.launch.claudes import StandIn, Started
from tests.flowpool.proxy import listening, reply

KEYS = {"ANTHROPIC_API_KEY": "sk-ant-api03-mine", "ANTHROPIC_AUTH_TOKEN": "mine"}

ALONE = pytest.mark.skipif(
    any(Path(folder, "claude").exists() for folder in places._MACHINES), reason="this machine has a claude of its own"
)


@dataclass
class Pooled:
    """heard: what the proxy was asked. address: where."""

    shell: Shell
    claude: StandIn
    heard: list[bytes] = field(default_factory=list)
    address: Address = field(default_factory=lambda: Address(host="127.0.0.1", port=1))

    @property
    def url(self) -> str:
        """What a client is pointed at."""
        return f"http://{self.address}"

    def config(self, text: str) -> None:
        """Write the settings."""
        self.shell.home.mkdir(exist_ok=True)
        (self.shell.home / "config.toml").write_text(text)

    def start(self, *arguments: str) -> Started:
        """Start Claude Code by a command; how it was started."""
        before = len(self.claude.starts())
        self.shell.run(*arguments)
        (found,) = self.claude.starts()[before:]
        return found

    def announce(self, **more: Address) -> None:
        """Say where the proxy listens."""
        self.shell.home.mkdir(exist_ok=True)
        controlkey.ensure(self.shell.home / "control.key")
        told = running.Running(pid=os.getpid(), listen={"claude": self.address, **more}, started=datetime.now(UTC))
        running.write(self.shell.home / "running.json", told)


def pooled(shell: Shell, folder: Path) -> Pooled:
    """A shell whose PATH has the stand-in first, and whose person is logged in."""
    claude = StandIn(folder / "programs" / "claude")
    (folder / "client").mkdir()
    (folder / "client" / ".credentials.json").write_text('{"claudeAiOauth": {"accessToken": "x"}}')
    shell.environ |= {
        "PATH": f"{claude.path.parent}:/usr/bin:/bin",
        "CLAUDE_CONFIG_DIR": str(folder / "client"),
    }
    return Pooled(shell, claude)


@contextmanager
def answering(it: Pooled, **document: Any) -> Iterator[None]:
    """Let the proxy answer everything with one document, which is a health, and a status with these fields."""
    body = json.dumps({"status": "ok", "pid": os.getpid(), "accounts": [], **document}).encode()
    with listening(reply(body), it.heard) as address:
        it.address = address
        it.announce()
        yield
