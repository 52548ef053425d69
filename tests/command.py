"""Runs `flowpool ARGUMENTS` as a process of its own."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from tests.forge import FLOWPOOL, may_fork, the_forge

ROOT = Path(__file__).parents[1]
TIMEOUT = 60.0  # seconds for one command


def run(
    arguments: tuple[str, ...], environ: Mapping[str, str], *, given: bytes = b"", cwd: Path = ROOT
) -> subprocess.CompletedProcess[bytes]:
    """Run it to its end: forked, unless its environment decides something when an interpreter starts."""
    if not may_fork(environ):
        line = [sys.executable, "-m", "flowpool", *arguments]
        return subprocess.run(
            line, input=given, env=environ, cwd=cwd, capture_output=True, timeout=TIMEOUT, check=False
        )
    line = ["flowpool", *arguments]
    code, out, err = the_forge().run(FLOWPOOL, line, env=environ, cwd=cwd, given=given, timeout=TIMEOUT)
    return subprocess.CompletedProcess(line, code, out, err)


def shown(arguments: tuple[str, ...], environ: Mapping[str, str], *, given: str = "", code: int = 0) -> str:
    """All that it showed; it must end with this code."""
    done = run(arguments, environ, given=given.encode())
    text = (done.stdout + done.stderr).decode()
    assert done.returncode == code, text
    return text
