"""One run of a program in the foreground of this terminal, which is looked at once a second and can be ended."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from enum import Enum, auto
from pathlib import Path
from queue import Empty, SimpleQueue

from flowpool.errors import Failure

EVERY = 1.0
"""Seconds between two looks."""
PARTING = 2.0
"""Seconds that it gets to end by itself once it is told to."""
PIECE = 65_536
"""Bytes that are read at once."""
KILLED_BY = 128
"""What a shell adds to the number of the signal that ended a program."""

type News = int | Stopped


class Stopped(Enum):
    """It stopped itself, as a person's Ctrl-Z makes it do."""

    STOPPED = auto()


class Child:
    """The program, running. code: as a shell shows it; None while it runs."""

    def __init__(self, line: Sequence[str | Path], environ: Mapping[str, str], *, is_held: bool = False) -> None:
        """is_held: whether its output is kept back. Raises Failure where it cannot be run."""
        out = subprocess.PIPE if is_held else None
        try:
            self._process = subprocess.Popen(line, env=dict(environ), stdout=out)  # noqa: S603  # the person's own program
        except OSError as error:
            raise Failure(f"{line[0]} cannot be run: {error.strerror or error}") from error
        self.code: int | None = None
        self._news: SimpleQueue[News] = SimpleQueue()
        self._held = bytearray()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        threading.Thread(target=self._wait, daemon=True).start()

    def watch(self, look: Callable[[], bool]) -> int | None:
        """Wait until it ends, and return its code; None, and it goes on, as soon as a look says that it is to end."""
        while True:
            try:
                news = self._news.get(timeout=EVERY)
            except Empty:
                if look():
                    return None
                continue
            if news is Stopped.STOPPED:
                _stop()
                continue
            return news

    def end(self) -> int:
        """Have it end, gently first; return its code."""
        for how in (signal.SIGTERM, getattr(signal, "SIGKILL", signal.SIGTERM)):
            self.signal(how)
            if (code := self._ends_within(PARTING)) is not None:
                return code
        self._process.wait()  # nothing survives this, but the system may be slow
        return self.code if self.code is not None else KILLED_BY

    def signal(self, number: int) -> None:
        """Signal it, unless it has ended."""
        if self.code is None:
            with suppress(OSError):
                os.kill(self._process.pid, number)

    def held(self) -> bytes:
        """All that it wrote; to be asked once it has ended. What it started itself may hold the pipe open."""
        self._reader.join(PARTING)
        return bytes(self._held)

    def _ends_within(self, seconds: float) -> int | None:
        try:
            while not isinstance(news := self._news.get(timeout=seconds), int):
                self.signal(signal.SIGCONT)
        except Empty:
            return None
        return news

    def _read(self) -> None:
        if self._process.stdout is None:
            return
        with self._process.stdout as out:
            while data := os.read(out.fileno(), PIECE):
                self._held += data

    if sys.platform == "win32":

        def _wait(self) -> None:
            self._ended(self._process.wait())

    else:

        def _wait(self) -> None:
            """Reap it here, for Popen does not tell of a program that stops."""
            while True:
                _, status = os.waitpid(self._process.pid, os.WUNTRACED)
                if not os.WIFSTOPPED(status):
                    break
                self._news.put(Stopped.STOPPED)
            self._ended(os.waitstatus_to_exitcode(status))

    def _ended(self, code: int) -> None:
        self.code = self._process.returncode = code if code >= 0 else KILLED_BY - code
        self._news.put(self.code)


def _stop() -> None:
    """Stop as well: the shell waits for us, and gets its terminal back only then. Its `fg` lets both go on."""
    if sys.platform != "win32":
        os.kill(os.getpid(), signal.SIGSTOP)
