"""Starts Claude Code in our place."""

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from flowpool.errors import Failure
from flowpool.launch import loops
from flowpool.launch.binary import GET
from flowpool.launch.places import WINDOWS


def become(program: Path, arguments: Sequence[str], environ: Mapping[str, str], platform: str = sys.platform) -> int:
    """Become the program: its signals, its terminal and its code are its own. Raises Failure where it cannot be run.

    It returns on Windows alone, which knows no such thing: there it is a child, and what it ended with is returned.
    """
    values = loops.marked(environ, program)
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
    try:
        if platform == WINDOWS:
            return _waited([str(program), *arguments], values)
        _as_it_was()
        os.execve(program, [str(program), *arguments], values)  # noqa: S606  # no shell, the person's own program
    except OSError as error:
        raise Failure(f"{program} cannot be run: {error.strerror}; install it anew: {GET}") from error


def _as_it_was() -> None:
    """Give signals back that Python ignores, which would stay ignored in all that Claude Code starts."""
    for name in ("SIGPIPE", "SIGXFSZ"):
        if (number := getattr(signal, name, None)) is not None:
            signal.signal(number, signal.SIG_DFL)


def _waited(line: Sequence[str], environ: Mapping[str, str]) -> int:
    child = subprocess.Popen(line, env=environ)  # noqa: S603  # the person's own program
    while True:
        with suppress(KeyboardInterrupt):  # it got the same Ctrl-C, and knows what that means
            return child.wait()
