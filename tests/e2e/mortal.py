"""A worker of `flowpool refresh` that kills itself with -9 at its n-th write: `python -m tests.e2e.mortal N FILE ARGUMENTS`.

A write is a call of the disk, the commit of a transaction, or a line to the parent. One is left out: the line that hands over
the pair, as before it the pair is nowhere else. FILE is made when it came to its end.
"""

import os
import signal
import sys
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, event

from credentials.files import Disk
from flowpool import main, worker
from home.state import renewals

SEEN = 0


def count(at: int) -> None:
    """Count one write, and die if it is the one."""
    global SEEN  # noqa: PLW0603  # a program of one duty
    SEEN += 1
    if at == SEEN:
        os.kill(os.getpid(), signal.SIGKILL)


def mortal(at: int, call: Callable[..., Any]) -> Callable[..., Any]:
    """Return the call, dying before it."""

    def run(*args: Any) -> Any:
        count(at)
        return call(*args)

    return run


def arm(at: int) -> None:
    """Let the at-th write be the last moment of this process."""
    for name in ("create", "write", "sync", "replace", "link", "sync_folder"):
        setattr(Disk, name, mortal(at, getattr(Disk, name)))
    event.listen(Engine, "commit", lambda _connection: count(at))
    say = worker.say

    def dying_say(line: str) -> None:
        if '"outcome"' in line:
            count(at)
        say(line)
        count(at)

    worker.say = dying_say
    renewals.GAP = timedelta(0)


if __name__ == "__main__":
    arm(int(sys.argv.pop(1)))
    end = Path(sys.argv.pop(1))
    try:
        main.main()
    finally:
        end.touch()
