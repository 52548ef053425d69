"""Runs the vendor's own `claude`, which alone logs in: found, kept from this machine's other logins, and ended for sure."""

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from flowpool.errors import Failure
from flowpool.launch import binary
from home.clientlogin import VARIABLE

PROGRAM = "claude"
GET = "npm install -g @anthropic-ai/claude-code"
PATIENCE = 30.0  # seconds for it to say what it can do
PARTING = 5.0  # seconds that it gets to end by itself
OURS = ("ANTHROPIC_", "CLAUDE")  # how names of variables begin that would give it a login, an address or a folder
STOPPED = (-signal.SIGINT, 128 + signal.SIGINT)  # what it ends with after Ctrl-C

_LOGIN = re.compile(r"^\s+login\b", re.MULTILINE)


def find(given: str | None, again: str) -> str:
    """Return the path of the program. Raises Failure with how to get it."""
    if found := shutil.which(given or PROGRAM):
        path = Path(found).absolute()  # our link would send it through the pool, on a login that there is not yet
        return str(binary.find(os.environ, ours=None) if binary.is_link(path) else path)
    if given:
        raise Failure(f"{given} is no program that can be run; run: {again} --claude PATH, or install it: {GET}")
    raise Failure(
        f"there is no `{PROGRAM}` on the PATH; Claude Code alone can log in; install it: {GET}, then run: {again}"
    )


def login_arguments(program: str, folder: Path) -> tuple[str, ...]:
    """Return what makes this version log in: `auth login`, else, before there was that, its own screen."""
    try:
        told = subprocess.run(  # noqa: S603  # the person's own program
            (program, "auth", "--help"),
            env=environ(os.environ, folder),
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PATIENCE,
            check=False,
        ).stdout
    except (OSError, subprocess.TimeoutExpired):
        told = b""
    return ("auth", "login") if _LOGIN.search(told.decode(errors="replace")) else ("/login",)


def environ(given: Mapping[str, str], folder: Path) -> dict[str, str]:
    """Return the variables that it gets: its folder, and none that would log it in or send it elsewhere."""
    return {name: value for name, value in given.items() if not name.startswith(OURS)} | {VARIABLE: str(folder)}


def run(program: str, arguments: Sequence[str], folder: Path) -> int:
    """Let a person use it on this terminal; return what it ended with. It has ended when this returns or raises."""
    with _terminal_as_it_was():
        try:
            child = subprocess.Popen((program, *arguments), env=environ(os.environ, folder), cwd=folder)  # noqa: S603
        except OSError as error:
            raise Failure(f"{program} cannot be run: {error.strerror}; install it anew: {GET}") from error
        try:
            return child.wait()
        except KeyboardInterrupt:
            _await(child)  # it got the same Ctrl-C
            return STOPPED[0]
        finally:
            _end(child)


def _await(child: subprocess.Popen[bytes]) -> None:
    with suppress(subprocess.TimeoutExpired, KeyboardInterrupt):
        child.wait(PARTING)


def _end(child: subprocess.Popen[bytes]) -> None:
    if child.poll() is None:
        child.terminate()
        _await(child)
    if child.poll() is None:
        child.kill()
        child.wait()


@contextmanager
def _terminal_as_it_was() -> Iterator[None]:
    """Give the terminal back as it was: a program that is killed cannot."""
    if sys.platform == "win32" or sys.stdin is None or not sys.stdin.isatty():
        yield
        return
    import termios  # noqa: PLC0415  # not on Windows

    before = termios.tcgetattr(sys.stdin)
    try:
        yield
    finally:
        with suppress(termios.error):
            termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)
