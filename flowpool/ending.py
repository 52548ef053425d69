"""The end of a proxy's process: awaited, and brought about where it does not answer any more, once it is sure whose process it is."""

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

from flowpool.errors import Failure
from home import running
from home.running import Running

PAUSE = 0.05  # seconds between two looks at a process
TERMINATING = 5.0  # seconds that a signal is given; one that answers nothing may still take it
KILLING = 10.0  # seconds for the system to end it


def is_over(found: Running, patience: float, look: Callable[[], None] = lambda: None) -> bool:
    """Wait for a process to end; False when it took too long. look: called again and again meanwhile."""
    deadline = time.monotonic() + patience
    while running.is_there(found):
        if time.monotonic() > deadline:
            return False
        look()
        time.sleep(PAUSE)
    return True


def force(path: Path, found: Running, say: Callable[[str], None]) -> None:
    """End a proxy that does not answer; path: of running.json. Raises Failure where it is not sure that it is one, or it will not end."""
    if not found.born:
        raise Failure(
            f"the proxy (pid {found.pid}) does not answer, and it is not sure that this is its process;"
            f" look at it, and end it yourself: kill {found.pid}"
        )
    say(f"the proxy (pid {found.pid}) does not answer; it is told to end")
    if not _ends(found, signal.SIGTERM, TERMINATING):
        say("it does not end by itself, and is killed")
        if not _ends(found, _KILL, KILLING):
            raise Failure(f"process {found.pid} does not end; see what it waits for: ps -o stat,wchan -p {found.pid}")
    running.remove(path, found.pid)


_KILL = getattr(signal, "SIGKILL", signal.SIGTERM)


def tell(found: Running, number: signal.Signals) -> None:
    """Signal the process, if it is still the one that wrote running.json."""
    if found.born and running.is_there(found):
        try:
            os.kill(found.pid, number)
        except ProcessLookupError:
            return
        except PermissionError:
            raise Failure(f"process {found.pid} is another user's; have that user run: flowpool stop") from None


def _ends(found: Running, number: signal.Signals, patience: float) -> bool:
    tell(found, number)
    return is_over(found, patience)
