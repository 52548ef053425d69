"""What every system's manager of services is asked, and the one way to its program."""

import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from flowpool.errors import Failure
from flowpool.launch.program import Program
from flowpool.proxy import clean

PATIENCE = 300.0  # seconds; a service that is stopped may drain for as long as the person set


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """How a program ended, and what it said."""

    code: int
    out: str
    err: str

    @property
    def said(self) -> str:
        """Its first line, for a message."""
        lines = [line for line in (*self.err.splitlines(), *self.out.splitlines()) if line.strip()]
        return clean(lines[0]).strip() if lines else f"it ended with code {self.code}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How a service stands with its manager.

    is_enabled: whether it starts by itself. word: the manager's own for its state. pid: of its proxy. since: as the manager tells it.
    """

    is_enabled: bool = False
    is_running: bool = False
    is_failed: bool = False
    word: str = "not known"
    pid: int | None = None
    since: str = ""


class Manager(Protocol):
    """The manager of services of one system. Each call raises Failure when it is not answered."""

    name: str
    path: Path
    """The file that describes the service."""
    journal: str
    """The command that shows what the service said."""

    def text(self, program: Program) -> bytes:
        """The file's text for this program."""

    def environment(self, text: bytes) -> Mapping[str, str] | None:
        """The variables that a file sets; None when flowpool did not write it."""

    def reach(self) -> None:
        """Raise Failure, with what to run, where nobody manages services for this person."""

    def look(self) -> Standing:
        """How the service stands."""

    def start(self, before: bytes | None, after: bytes) -> None:
        """Take the file up, let it start with the person's session, and start it now. before: the file that stood there."""

    def stop(self) -> None:
        """Stop it, and let it start no more."""

    def forget(self) -> None:
        """Leave nothing of it, now that its file is gone."""

    def said(self, count: int) -> str:
        """What it said last, beside the proxy's own log; empty when nothing."""

    def follow(self, count: int) -> tuple[str, ...]:
        """The command line that shows it and goes on; empty when there is none."""

    def hints(self) -> tuple[str, ...]:
        """What a person should know once it is installed."""


def call(*line: str) -> Done:
    """Ask a program of the system, the only way to it. Raises Failure when it is not there or does not end."""
    path = shutil.which(line[0])
    if path is None:
        raise Failure(f"{line[0]} is not on the PATH, so nothing runs a service; run: flowpool start")
    try:
        done = subprocess.run(  # noqa: S603  # no shell, the system's own program
            [path, *line[1:]], stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE, check=False
        )
    except subprocess.TimeoutExpired:
        raise Failure(
            f"`{' '.join(line)}` did not end within {PATIENCE:g} s; run it by hand: {' '.join(line)}"
        ) from None
    except OSError as error:
        raise Failure(f"{path} cannot be run: {error.strerror}; run: ls -l '{path}'") from error
    return Done(
        code=done.returncode, out=done.stdout.decode(errors="replace"), err=done.stderr.decode(errors="replace")
    )


def must(*line: str) -> Done:
    """Ask it for something that has to work. Raises Failure with what it said."""
    done = call(*line)
    if done.code:
        raise Failure(f"`{' '.join(line)}` failed: {done.said}; run: flowpool service logs")
    return done
