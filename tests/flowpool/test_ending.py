"""A process is ended only while it is the one that was meant."""

import os
import signal
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from flowpool import ending
from flowpool.errors import Failure
from home import processes, running
from home.checks import Address
from home.running import Running

STUBBORN = "import signal, sys; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(1, flush=True); sys.stdin.read()"
WILLING = "import sys; print(1, flush=True); sys.stdin.read()"


def started(program: str) -> "tuple[subprocess.Popen[bytes], Running]":
    """A process that runs, as a proxy's file names it."""
    child = subprocess.Popen([sys.executable, "-I", "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert child.stdout is not None
    child.stdout.readline()
    listen = {"claude": Address(host="127.0.0.1", port=9)}
    born = processes.born(child.pid)
    return child, Running(pid=child.pid, listen=listen, started=datetime.now(UTC), born=born)


@pytest.mark.parametrize(("program", "number"), [(WILLING, signal.SIGTERM), (STUBBORN, signal.SIGKILL)])
def test_one_that_does_not_answer_is_told_to_end_and_then_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str, number: signal.Signals
) -> None:
    """What is done is said, and its file is removed."""
    monkeypatch.setattr(ending, "TERMINATING", 0.3)
    child, found = started(program)
    running.write(tmp_path / "x", found)
    said: list[str] = []
    with child:
        ending.force(tmp_path / "x", found, said.append)
        child.wait()
        assert child.stdin is not None
    assert child.returncode == -number
    assert len(said) == (2 if number is signal.SIGKILL else 1)
    assert not (tmp_path / "x").exists()


def test_another_process_of_the_same_id_is_not_signalled() -> None:
    """Nor one of which it is not known when it was born."""
    child, found = started(WILLING)
    with child:
        ending.tell(replace(found, born="1"), signal.SIGTERM)
        ending.tell(replace(found, born=""), signal.SIGTERM)
        child.communicate()
    assert child.returncode == 0
    ending.tell(found, signal.SIGTERM)


def test_a_process_of_another_user_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who may end it is said."""
    child, found = started(WILLING)

    def refuse(_pid: int, _number: int) -> None:
        raise PermissionError

    with child:
        monkeypatch.setattr(os, "kill", refuse)
        with pytest.raises(Failure, match="is another user's"):
            ending.tell(found, signal.SIGTERM)
        child.communicate()


def test_one_that_will_not_end_is_a_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that waits for a disk takes no signal."""
    monkeypatch.setattr(ending, "TERMINATING", 0.1)
    monkeypatch.setattr(ending, "KILLING", 0.1)
    child, found = started(WILLING)
    with child:
        monkeypatch.setattr(os, "kill", lambda *_: None)
        with pytest.raises(Failure, match=f"process {child.pid} does not end"):
            ending.force(tmp_path / "x", found, lambda _: None)
        child.communicate()
