"""Who keeps the terminal ends with the one that serves, and as it does."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from addons import follow

CHILD = "import os, sys; sys.stdin.read(); sys.exit(int(os.environ.get('CODE', '0')))"
PARENT = f"""
import os, subprocess, sys
child = subprocess.Popen([sys.executable, "-I", "-c", {CHILD!r}], env=dict(os.environ))
print(child.pid, flush=True)
os.execv(sys.executable, [sys.executable, "-I", "-S", {follow.__file__!r}, str(child.pid)])
"""


def following(code: int = 0) -> "subprocess.Popen[bytes]":
    """A process that follows its child, which ends when its standard input does."""
    return subprocess.Popen(
        [sys.executable, "-I", "-c", PARENT],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={"CODE": str(code), "PATH": os.defpath},
    )


@pytest.mark.parametrize("code", [0, 2])
def test_it_ends_as_its_child_does(code: int) -> None:
    """With its code."""
    with following(code) as process:
        process.communicate(timeout=20)
    assert process.returncode == code


def test_what_ends_it_ends_its_child() -> None:
    """A signal is passed on, and shown as a shell would show it."""
    with following() as process:
        assert process.stdout is not None
        child = int(process.stdout.readline())
        end = time.monotonic() + 20
        while not _catches(process.pid, signal.SIGTERM):
            assert time.monotonic() < end, "it does not follow"
            time.sleep(0.01)  # between two looks at another process
        for number in (signal.SIGINT, signal.SIGHUP):  # they reach the child by the terminal, if they are meant for it
            process.send_signal(number)
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 128 + signal.SIGTERM
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)


def _catches(pid: int, number: signal.Signals) -> bool:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    caught = next(int(line.split()[1], 16) for line in lines if line.startswith("SigCgt"))
    return bool(caught >> (number - 1) & 1)


def test_it_becomes_a_small_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same interpreter with nothing of ours in it."""
    asked: list[tuple[str, list[str]]] = []
    monkeypatch.setattr(os, "execv", lambda *told: asked.append(told))
    follow.become(7)

    assert asked == [(sys.executable, [sys.executable, "-I", "-S", follow.__file__, "7"])]


def test_nobody_sits_before_a_test(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a standard input there is no terminal either."""
    monkeypatch.setattr(sys, "stdin", None)
    assert not follow.is_at_terminal()
