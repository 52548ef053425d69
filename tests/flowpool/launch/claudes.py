"""Programs that stand in for Claude Code: they write down what they were started with, and end as they are told."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SOURCE = """#!{python} -S
import json, os, signal, sys
with open({notes!r}, "a") as file:
    ignored = [n for n in ("SIGPIPE", "SIGXFSZ", "SIGINT") if signal.getsignal(getattr(signal, n)) is signal.SIG_IGN]
    json.dump([sys.argv, dict(os.environ), os.getpid(), ignored], file)
    file.write("\\n")
{does}
"""


@dataclass(frozen=True, slots=True)
class Started:
    """One start of it."""

    program: str
    arguments: list[str]
    environ: Mapping[str, str]
    pid: int


@dataclass(frozen=True, slots=True)
class StandIn:
    """A program at a path; does: what it does after it wrote down how it was started."""

    path: Path
    does: str = ""

    def __post_init__(self) -> None:
        """Write it."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_text(SOURCE.format(python=sys.executable, notes=str(self._notes), does=self.does))
        self.path.chmod(0o700)

    @property
    def _notes(self) -> Path:
        return self.path.with_name(f".{self.path.name}.notes")

    def starts(self) -> list[Started]:
        """How it was started, each time."""
        if not self._notes.exists():
            return []
        told: list[Any] = [json.loads(line) for line in self._notes.read_text().splitlines()]
        return [Started(argv[0], argv[1:], environ, pid) for argv, environ, pid, _ in told]

    def start(self) -> Started:
        """How it was started, once."""
        (found,) = self.starts()
        return found
