"""A process is told from another of the same id by when it was born."""

import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from home import processes

WAITS = [sys.executable, "-I", "-c", "import sys; sys.stdin.read()"]


def test_a_process_keeps_its_birth_and_others_have_another() -> None:
    """It is the same however often one asks; a younger one's differs."""
    with subprocess.Popen(WAITS, stdin=subprocess.PIPE) as child:
        mine, its = processes.born(os.getpid()), processes.born(child.pid)
        assert mine
        assert its
        assert mine != its
        assert (processes.born(os.getpid()), processes.born(child.pid)) == (mine, its)
        child.communicate()
    assert processes.born(child.pid) == ""


def test_one_that_has_ended_and_waits_for_its_parent_was_not_born() -> None:
    """It serves nobody any more, though its id is still its own."""
    child = subprocess.Popen(WAITS, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert child.stdin is not None
    assert child.stdout is not None
    child.stdin.close()
    child.stdout.read()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert processes.born(child.pid) == ""
    child.wait()
    child.stdout.close()


@given(st.integers())
def test_any_number_may_be_asked_about(pid: int) -> None:
    """Asking never raises."""
    assert isinstance(processes.born(pid), str)


def test_where_there_is_no_proc_ps_tells(monkeypatch: pytest.MonkeyPatch) -> None:
    """That of macOS has the same options; what it says is one line of words."""
    monkeypatch.setattr(sys, "platform", "darwin")
    told = {
        "Ss   Mon Jan  5 12:00:00 2026\n": "Mon Jan 5 12:00:00 2026",
        "Z    Mon Jan  5 12:00:00 2026\n": "",
        "": "",
    }
    for said, born in told.items():
        done = subprocess.CompletedProcess([], 0, said.encode())
        monkeypatch.setattr(subprocess, "run", lambda *_, done=done, **__: done)
        assert processes.born(7) == born

    def refuse(*_: object, **__: object) -> None:
        raise FileNotFoundError

    monkeypatch.setattr(subprocess, "run", refuse)
    assert processes.born(7) == ""


def test_windows_does_not_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    """Then nobody is signalled."""
    monkeypatch.setattr(sys, "platform", "win32")
    assert processes.born(os.getpid()) == ""
