"""flowpool/launch/child.py: one run of a program; tests/flowpool/launch/test_resuming.py shows the rest of it."""

import signal
import sys

import pytest

from flowpool.errors import Failure
from flowpool.launch import child
from flowpool.launch.child import Child


def python(source: str, *, is_held: bool = False) -> Child:
    """A program of these lines."""
    return Child([sys.executable, "-S", "-c", source], {}, is_held=is_held)


@pytest.mark.parametrize(
    ("source", "code"),
    [("", 0), ("raise SystemExit(9)", 9), ("import os; os.kill(os.getpid(), 15)", 128 + 15)],
)
def test_its_code_is_what_a_shell_shows(source: str, code: int) -> None:
    """Also of one that a signal ended."""
    assert python(source).watch(lambda: False) == code


def test_output_that_is_held_is_whole(capfd: pytest.CaptureFixture[str]) -> None:
    """More than a pipe takes at once, and none of it shown."""
    run = python("print('x' * 300_000)", is_held=True)
    assert run.watch(lambda: False) == 0

    assert run.held() == b"x" * 300_000 + b"\n"
    assert capfd.readouterr().out == ""


def test_a_look_ends_the_watch_and_not_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ending it is another step; one that has ended is signalled no more."""
    monkeypatch.setattr(child, "EVERY", 0.01)
    run = python("import time; time.sleep(60)")
    assert run.watch(lambda: True) is None
    assert run.code is None

    assert run.end() == 128 + signal.SIGTERM
    assert run.code == 128 + signal.SIGTERM
    run.signal(signal.SIGKILL)


def test_a_program_that_is_not_there_is_said() -> None:
    """By its name."""
    with pytest.raises(Failure, match="/nowhere/claude cannot be run: No such file"):
        Child(["/nowhere/claude"], {})
