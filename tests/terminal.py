"""A real terminal around a program: what it shows is waited for, what a person would type is typed."""

import fcntl
import os
import pty
import select
import subprocess
import termios
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self

PATIENCE = 60.0  # seconds; nothing here takes longer unless it hangs
CTRL_C = "\x03"


class Terminal:
    """Runs one program as the foreground of a terminal of its own. shown: all that was on it."""

    def __init__(self, line: Sequence[str], env: Mapping[str, str], cwd: Path) -> None:
        self.shown = ""
        self._seen = 0
        self._ours, theirs = pty.openpty()
        termios.tcsetwinsize(theirs, (50, 200))
        self.child = subprocess.Popen(
            line,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env={"TERM": "xterm", **env},
            cwd=cwd,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        os.close(theirs)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.child.poll() is None:
            self.child.kill()
        self.child.wait()
        os.close(self._ours)

    def until(self, text: str) -> None:
        """Wait until it shows this, behind what was waited for before."""
        while (at := self.shown.find(text, self._seen)) < 0:
            assert self._read(), f"{text!r} never came; there is: {self.shown}"
        self._seen = at + len(text)

    def type(self, text: str) -> None:
        """Type it; Enter is a line feed."""
        os.write(self._ours, text.encode())

    def end(self, code: int) -> str:
        """Wait until the program ends, with this code; return all that it showed."""
        while self._read():
            pass
        assert self.child.wait(PATIENCE) == code, self.shown
        return self.shown

    def _read(self) -> bool:
        """Take in more; False when there will be none."""
        ready, _, _ = select.select([self._ours], [], [], PATIENCE)
        assert ready, f"nothing more came within {PATIENCE:g} s; there is: {self.shown}"
        try:
            data = os.read(self._ours, 4096)
        except OSError:  # the other end is closed
            return False
        self.shown += data.decode(errors="replace").replace("\r\n", "\n")
        return bool(data)
