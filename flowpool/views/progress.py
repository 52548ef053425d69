"""The line on a terminal's stderr that says how far a long run is."""

import sys
import time
from collections.abc import Callable, Generator
from contextlib import closing

MINUTE, HOUR, TEN_HOURS = 60, 3600, 36_000  # seconds


def watched[T](found: Generator[T], count: int, clock: Callable[[], float] = time.monotonic) -> Generator[T]:
    """Pass on what is found, and tell how much of it has come; nothing where stderr is no terminal.

    The line stands only while this waits: whoever takes what was found may print at once.
    """
    with closing(found):
        if not sys.stderr.isatty():
            yield from found
            return
        began = clock()
        _write(told(0, count, 0))
        try:
            for number, one in enumerate(found, 1):
                _erase()
                yield one
                if number < count:
                    _write(told(number, count, clock() - began))
        finally:
            _erase()


def told(played: int, count: int, seconds: float) -> str:
    """Say how many of them are played; seconds: how long that took, from which the rest is guessed."""
    line = f"played {played} of {count}"
    return f"{line}, about {duration(seconds / played * (count - played))} left" if played else line


def duration(seconds: float) -> str:
    """Write 40 s, 2 min, 1.5 h or 12 h."""
    if seconds < MINUTE:
        return f"{seconds:.0f} s"
    if seconds < HOUR:
        return f"{seconds / MINUTE:.0f} min"
    return f"{seconds / HOUR:.{seconds < TEN_HOURS:d}f} h"


def _write(line: str) -> None:
    from rich.console import Console  # noqa: PLC0415  # 50 ms, and only where somebody looks

    screen = Console(stderr=True, highlight=False)
    if not screen.is_dumb_terminal:
        screen.print(line, end="", no_wrap=True, overflow="crop")


def _erase() -> None:
    from rich.console import Console  # noqa: PLC0415
    from rich.control import Control  # noqa: PLC0415
    from rich.segment import ControlType  # noqa: PLC0415

    Console(stderr=True).control(Control(ControlType.CARRIAGE_RETURN, (ControlType.ERASE_IN_LINE, 2)))
