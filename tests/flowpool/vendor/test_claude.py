"""The vendor's program is found, told apart, kept from other logins, and ended for sure."""

import os
import signal
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowpool.errors import Failure
from flowpool.launch.binary import MARKER
from flowpool.vendor import claude, isolation
from home.paths import Home

NAMES = st.sampled_from(["ANTHROPIC_", "CLAUDE_CODE_", "CLAUDE_", "CLAUDE", "HOME", "PATH", "XCLAUDE"])


def program(folder: Path, script: str) -> str:
    """Make a program of a shell script; return its path."""
    path = folder / "claude"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o700)
    return str(path)


def test_it_is_found_or_how_to_get_it_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On the PATH, or where it is said to be."""
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(
        Failure, match=r"no `claude` on the PATH; .* install it: npm install .*, then run: flowpool login"
    ):
        claude.find(None, "flowpool login")
    path = program(tmp_path, "exit 0")
    assert claude.find(None, "x") == claude.find(path, "x") == path
    with pytest.raises(Failure, match=r"/nowhere is no program .* run: flowpool login --claude PATH"):
        claude.find("/nowhere", "flowpool login")


def test_our_link_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It would send a program that is to log in through the pool, with a login that nobody has."""
    for name in ("ours", "real"):
        (tmp_path / name).mkdir()
    link = program(tmp_path / "ours", f"# {MARKER.decode()}")
    path = program(tmp_path / "real", "exit 0")
    monkeypatch.setenv("PATH", f"{tmp_path / 'ours'}{os.pathsep}{tmp_path / 'real'}")

    assert claude.find(None, "x") == claude.find(link, "x") == path


@given(given=st.dictionaries(st.builds(str.__add__, NAMES, st.sampled_from(["", "API_KEY", "X"])), st.text(max_size=3)))
def test_it_gets_its_folder_and_no_other_login(given: dict[str, str]) -> None:
    """Nothing of Claude's or Anthropic's goes along, and all else does."""
    got = claude.environ(given, Path("/folder"))

    assert got.pop("CLAUDE_CONFIG_DIR") == "/folder"
    assert not [name for name in got if name.startswith(("ANTHROPIC_", "CLAUDE"))]
    assert got == {name: value for name, value in given.items() if not name.startswith(("ANTHROPIC_", "CLAUDE"))}


SAYS = [
    ("echo 'Commands:'; echo '  login [options]   Sign in'", ("auth", "login")),
    ("echo 'Usage: claude [prompt]'; echo '  --login-x  no'", ("/login",)),
    ("exit 1", ("/login",)),
]


@pytest.mark.parametrize(("script", "arguments"), SAYS, ids=range(len(SAYS)))
def test_how_it_logs_in_is_asked(tmp_path: Path, script: str, arguments: tuple[str, ...]) -> None:
    """Versions differ."""
    assert claude.login_arguments(program(tmp_path, script), tmp_path) == arguments


def test_what_does_not_answer_logs_in_the_old_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its time is bounded."""
    monkeypatch.setattr(claude, "PATIENCE", 0.2)
    assert claude.login_arguments(program(tmp_path, "exec tail -f /dev/null"), tmp_path) == ("/login",)
    assert claude.login_arguments(str(tmp_path / "nowhere"), tmp_path) == ("/login",)


def test_it_runs_in_its_folder(tmp_path: Path) -> None:
    """And what it ended with is returned."""
    path = program(tmp_path, 'echo "$1 $PWD $CLAUDE_CONFIG_DIR" > said; exit 7')
    folder = tmp_path / "folder"
    folder.mkdir()

    assert claude.run(path, ("auth",), folder) == 7
    assert (folder / "said").read_text() == f"auth {folder} {folder}\n"


def test_what_cannot_be_run_is_one_line(tmp_path: Path) -> None:
    """A program of another machine's, or one that is gone by now."""
    with pytest.raises(Failure, match=r"cannot be run: No such file.*install it anew: npm"):
        claude.run(str(tmp_path / "gone"), (), tmp_path)


def interrupt_once_there(path: Path, number: signal.Signals) -> threading.Thread:
    """Send this process a signal as soon as a pipe was opened by the program."""

    def wait() -> None:
        path.read_text()
        os.kill(os.getpid(), number)

    os.mkfifo(path)
    thread = threading.Thread(target=wait)
    thread.start()
    return thread


@pytest.mark.parametrize("number", [signal.SIGINT, *isolation.ENDING])
def test_a_deaf_program_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: signal.Signals) -> None:
    """Whatever ends us ends it, though it does not listen; and our own handlers are back."""
    monkeypatch.setattr(claude, "PARTING", 0.1)
    before = [signal.getsignal(one) for one in isolation.ENDING]
    home = Home(config_folder=tmp_path, state_folder=tmp_path)
    script = f"import os, signal\nfor n in (1, 2, 15): signal.signal(n, signal.SIG_IGN)\nopen('pid', 'w').write(str(os.getpid()))\nopen({str(tmp_path / 'there')!r}, 'w').close()\nwhile True: signal.pause()"
    thread = interrupt_once_there(tmp_path / "there", number)
    if number is signal.SIGINT:
        assert claude.run(sys.executable, ("-c", script), tmp_path) in claude.STOPPED
    else:
        with pytest.raises(SystemExit) as caught, isolation.folder(home):
            claude.run(sys.executable, ("-c", script), tmp_path)
        assert caught.value.code == 128 + number
    thread.join()

    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)
    assert [signal.getsignal(one) for one in isolation.ENDING] == before
    assert not list(tmp_path.glob(f"{isolation.PREFIX}*"))
