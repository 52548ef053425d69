"""Handover: starts the next proxy, which gets the listening sockets, and waits until it serves."""

import asyncio
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from functools import partial
from typing import IO

from addons.aside import aside
from addons.handed import READY, Handed
from addons.listeners import Listeners
from addons.notify import Notify
from addons.predecessors import Predecessors

PATIENCE = 30.0  # seconds; a start takes about one, on a busy machine several
LONGEST = 4096  # bytes of what a failed start said that are told
ENDING = 5.0  # seconds for one that did not start to end


class NoSuccessorError(Exception):
    """The next proxy did not come up; the message says why, in one line."""


class Handover:
    """How this process is followed by another.

    command: starts a proxy. environ: of this process, without what it was given alone. before: those that it came after.
    in_place: whether this process itself becomes the next one, where who looks after it knows no other.
    """

    def __init__(
        self,
        listeners: Listeners,
        notify: Notify,
        *,
        command: Sequence[str],
        environ: Mapping[str, str],
        before: Predecessors | None = None,
        in_place: bool = False,
    ) -> None:
        self.listeners, self.notify, self.in_place = listeners, notify, in_place
        self._command = tuple(command)
        self._environ = environ
        self._before = before or Predecessors()

    async def spawn(self, patience: float = PATIENCE) -> int:
        """Start a successor, and return its process id once it serves. Raises NoSuccessorError."""
        try:
            said = tempfile.TemporaryFile()  # noqa: SIM115  # it is closed below
        except OSError as error:
            raise NoSuccessorError(f"nothing can be written to {tempfile.gettempdir()}: {error.strerror}") from error
        with said, ExitStack() as unless:
            reader, child = self._started(said, unless)
            try:
                word = await _first_word(reader, child, patience)
            finally:
                os.close(reader)
            text = _tail(said)
            if word is None:
                raise NoSuccessorError(f"the new process did not serve within {patience:g} s: {_one_line(text)}")
            if word != READY:
                code = await aside(partial(_ended, child))
                raise NoSuccessorError(_why(_one_line(text), code))
            child.returncode = 0  # it goes on by itself: nobody here waits for its end
            unless.pop_all()
        with suppress(OSError, ValueError, AttributeError):  # a screen that is gone takes nothing back
            sys.stderr.write(text)
            sys.stderr.flush()
        return child.pid

    def _started(self, said: IO[bytes], unless: ExitStack) -> tuple[int, "subprocess.Popen[bytes]"]:
        """Start it; where its word comes, and the process. unless: closes what this process keeps open, should that one fail."""
        with ExitStack() as theirs, ExitStack() as ours:
            try:
                reader, ready = _pipe(ours, theirs)
                ended, alive = os.pipe()
                theirs.callback(os.close, ended)
                unless.callback(os.close, alive)
                screen = _screen()
                theirs.callback(os.close, screen)
                child = self._begun(said, ready=ready, screen=screen, ended=ended)
            except OSError as error:
                raise NoSuccessorError(f"no new process can be started: {error.strerror}") from error
            ours.pop_all()
            return reader, child

    def _begun(self, said: IO[bytes], *, ready: int, screen: int, ended: int) -> "subprocess.Popen[bytes]":
        handed = Handed(
            predecessor=os.getpid(),
            sockets=tuple(self.listeners.passed()),
            ready=ready,
            screen=screen,
            before=(*self._before.at_work(), (os.getpid(), ended)),
        )
        return subprocess.Popen(  # noqa: S603  # our own interpreter
            self._command,
            env={**self._environ, **self.notify.told(), **handed.told()},
            stderr=said,
            pass_fds=[ready, screen, *(number for _, number in (*handed.sockets, *handed.before))],
        )

    def become(self) -> None:
        """Start anew in this very process, with the sockets; does not return."""
        handed = Handed(predecessor=os.getpid(), sockets=tuple(self.listeners.passed()))
        for _, number in handed.sockets:
            os.set_inheritable(number, True)
        sys.stdout.flush()
        sys.stderr.flush()
        environ = {**self._environ, **self.notify.told(), **handed.told()}
        os.execve(self._command[0], self._command, environ)  # noqa: S606  # no shell, our own interpreter


async def _first_word(reader: int, child: "subprocess.Popen[bytes]", patience: float) -> bytes | None:
    """Wait for its word: empty when it ended without one, None when it said none in time and was ended."""
    word = asyncio.ensure_future(aside(partial(os.read, reader, len(READY))))
    try:
        return await asyncio.wait_for(asyncio.shield(word), patience)
    except TimeoutError:
        child.kill()
        child.wait()
        await word  # its end closes the pipe; until then the descriptor must not be another's
        return None
    except asyncio.CancelledError:  # this process is to end: so is the one that was to follow
        child.kill()
        child.wait()
        await word  # as above
        raise


def _pipe(ours: ExitStack, theirs: ExitStack) -> tuple[int, int]:
    """A pipe of which we read, and the next one writes."""
    reader, writer = os.pipe()
    ours.callback(os.close, reader)
    theirs.callback(os.close, writer)
    return reader, writer


def _screen() -> int:
    """The real stderr, or nothing where there is none."""
    try:
        return os.dup(2)
    except OSError:
        return os.open(os.devnull, os.O_WRONLY)


def _ended(child: "subprocess.Popen[bytes]") -> int:
    try:
        return child.wait(ENDING)
    except subprocess.TimeoutExpired:
        child.kill()
        return child.wait()


def _why(text: str, code: int) -> str:
    """Why it ended: what it said, unless somebody else ended it."""
    ended = f"the new process ended with {code}"
    if code < 0 and text:
        return f"{ended}, after it said: {text}"
    return text or ended


def _tail(said: IO[bytes]) -> str:
    said.seek(max(0, said.seek(0, os.SEEK_END) - LONGEST))
    return said.read().decode("utf-8", "replace")


def _one_line(text: str) -> str:
    lines = [line.removeprefix("flowpool: ").strip() for line in text.splitlines()]
    return " / ".join(filter(None, lines))
