"""Predecessors: the proxies before this one that still answer what they had begun, for as long as an answer may take.

Each holds a pipe open while it does: its end is the other's end, whatever became of the process id meanwhile. Who is stopped has them
end as well, for nobody else knows of them.
"""

import os
import signal
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import cache

from addons.handed import taken

ENDS: signal.Signals | None = getattr(signal, "SIGUSR1", None)
ENDS_NOW: signal.Signals | None = getattr(signal, "SIGUSR2", None)
"""What tells one to end: not as a person's signal does, of which a second one means something else. Windows has neither."""


class Predecessors:
    """given: the process id of each, and the end of its pipe that can be read, from which no byte ever comes."""

    def __init__(self, given: Iterable[tuple[int, int]] = ()) -> None:
        self._left = tuple(given)

    def at_work(self) -> Sequence[tuple[int, int]]:
        """Those that have not ended."""
        self._left = tuple(one for one in self._left if _is_open(one[1]))
        return self._left

    def pids(self) -> list[int]:
        """Their process ids."""
        return [pid for pid, _ in self.at_work()]

    def end(self, *, now: bool = False) -> None:
        """Have them end as this process does."""
        if (number := ENDS_NOW if now else ENDS) is None:
            return
        for pid in self.pids():
            with suppress(OSError):  # it has ended meanwhile
                os.kill(pid, number)


@cache
def known() -> Predecessors:
    """Those of this process."""
    return Predecessors(taken().before)


def _is_open(number: int) -> bool:
    """Whether the other end of a pipe is held; closes this one when it is not."""
    try:
        os.set_blocking(number, False)
        os.read(number, 1)
    except BlockingIOError:
        return True
    except OSError:  # it is none
        return False
    os.close(number)
    return False
