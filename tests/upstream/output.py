"""What a child program writes, line by line as it comes, for threads that wait for a line."""

from __future__ import annotations

import re
import subprocess
import threading
from typing import IO

from tests.forge import Forged

PATIENCE = 20.0  # seconds for what a pipe still holds


class Output:
    """What a program writes, line by line as it comes."""

    def __init__(self) -> None:
        self._lines: list[tuple[str, str]] = []
        self._changed = threading.Condition()
        self._open = 0
        self._from = 0
        self._threads: list[threading.Thread] = []

    def follow(self, process: subprocess.Popen[bytes] | Forged) -> None:
        """Read both pipes until they close."""
        assert process.stdout is not None
        assert process.stderr is not None
        self._open = 2
        pipes = (("out", process.stdout), ("err", process.stderr))
        self._threads = [threading.Thread(target=self._read, args=pipe, daemon=True) for pipe in pipes]
        for thread in self._threads:
            thread.start()

    def _read(self, name: str, pipe: IO[bytes]) -> None:
        with pipe:
            for line in pipe:
                self._add(name, line.decode("utf-8", "replace"))
        with self._changed:
            self._open -= 1
            self._changed.notify_all()

    def _add(self, name: str, line: str) -> None:
        with self._changed:
            self._lines.append((name, line))
            self._changed.notify_all()

    def wait_for(self, pattern: re.Pattern[str], timeout: float, *, nth: int = 1) -> str | None:
        """The first group of the nth match; None when the pipes close or the time is over without one."""

        def found() -> str | None:
            matches = [match[1] for _, line in self._lines[self._from :] if (match := pattern.search(line))]
            return matches[nth - 1] if len(matches) >= nth else None

        with self._changed:
            self._changed.wait_for(lambda: found() is not None or not self._open, timeout)
            return found()

    def mark(self) -> None:
        """Let `wait_for` look only at what comes from here on."""
        self._from = len(self._lines)

    def join(self) -> None:
        """Wait until all that was written is read."""
        for thread in self._threads:
            thread.join(PATIENCE)

    def text(self, name: str | None = None) -> str:
        """All lines, or those of one pipe."""
        return "".join(line for pipe, line in list(self._lines) if name in (None, pipe))
