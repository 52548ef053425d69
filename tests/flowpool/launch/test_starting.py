"""Claude Code takes our place: its arguments, its signals and its code are its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from flowpool.errors import Failure
from flowpool.launch import loops, starting
from flowpool.launch.starting import become
from tests.flowpool.launch.claudes import StandIn

PROGRAM = "import sys, os\nfrom pathlib import Path\nfrom flowpool.launch.starting import become\nbecome(Path(sys.argv[1]), sys.argv[2:], os.environ)"


def replaced(program: StandIn, *arguments: str) -> subprocess.Popen[bytes]:
    """Start a process that becomes the program."""
    line = [sys.executable, "-c", PROGRAM, str(program.path), *arguments]
    return subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def test_it_is_the_same_process_with_the_same_arguments(tmp_path: Path) -> None:
    """Whatever they are; the program knows where it lies, and the process what it became."""
    program = StandIn(tmp_path / "a b" / "claude", "sys.exit(7)")
    arguments = ["--", "-p", "", "two words", "$HOME", "-"]
    with replaced(program, *arguments) as process:
        process.communicate(timeout=30)
    start = program.start()

    assert process.returncode == 7
    assert (start.pid, start.arguments, start.program) == (process.pid, arguments, str(program.path))
    mark = loops.read(start.environ)
    assert mark is not None
    assert (mark.pid, mark.paths) == (process.pid, (str(program.path),))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_a_signal_is_its_own(tmp_path: Path, number: signal.Signals) -> None:
    """It ends by it as if we had never been there, and what Python ignores is not ignored."""
    does = "signal.signal(signal.SIGINT, signal.SIG_DFL)\nprint('up', flush=True)\nsignal.pause()"
    program = StandIn(tmp_path / "claude", does)
    with replaced(program) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"up\n"
        process.send_signal(number)
        assert process.wait(30) == -number


def test_no_signal_is_ignored_because_python_ignores_it(tmp_path: Path) -> None:
    """All that Claude Code starts would ignore it, too."""
    script = tmp_path / "claude"
    script.write_text("#!/bin/sh\nsed -n 's/^SigIgn:[[:space:]]*//p' /proc/$$/status\n")
    script.chmod(0o700)
    line = [sys.executable, "-c", PROGRAM, str(script)]
    ignored = int(subprocess.run(line, capture_output=True, check=True, timeout=30).stdout, 16)

    assert not ignored & sum(1 << (number - 1) for number in (signal.SIGPIPE, signal.SIGXFSZ))


def test_what_cannot_be_run_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With its path, and how to get another."""
    monkeypatch.setattr(starting, "_as_it_was", lambda: None)

    with pytest.raises(Failure, match=r"claude cannot be run: No such file or directory.*npm install"):
        become(tmp_path / "claude", [], {})


def test_on_windows_it_is_a_child_whose_code_is_ours(tmp_path: Path) -> None:
    """X108: it is started by its whole path, which is all that works of a `claude.cmd`."""
    program = StandIn(tmp_path / "claude.cmd", "sys.exit(3)")

    assert become(program.path, ["-p", "hi"], dict(os.environ), platform="win32") == 3
    start = program.start()
    assert (start.program, start.arguments) == (str(program.path), ["-p", "hi"])
    assert start.pid != os.getpid()


def test_on_windows_ctrl_c_is_the_childs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It may mean much to it; we wait for what it ends with."""
    turns = iter([KeyboardInterrupt, KeyboardInterrupt, None])

    class Child:
        def __init__(self, line: list[str], env: dict[str, str]) -> None:
            assert json.dumps([line, sorted(env)])

        def wait(self) -> int:
            if (raised := next(turns)) is not None:
                raise raised
            return 5

    monkeypatch.setattr(subprocess, "Popen", Child)

    assert become(tmp_path / "claude.exe", [], {}, platform="win32") == 5
