"""The terminal, given back as it was: a program that is killed cannot."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

RESET = "\x1b[?1006l\x1b[?1003l\x1b[?1002l\x1b[?1000l\x1b[>4m\x1b[<u\x1b[?1004l\x1b[?2031l\x1b[?2004l\x1b[?1049l\x1b[?25h\x1b[0m"
"""No mouse, no special keys, no focus or paste marks, the usual screen, a cursor; each does nothing where it is so already."""
KILLED = 137


def reset() -> None:
    """Take back what a screen sets and its program could not."""
    if sys.stdout.isatty():
        sys.stdout.write(RESET)
        sys.stdout.flush()


@contextmanager
def as_it_was() -> Iterator[None]:
    """Give the terminal's modes back as they were at the beginning."""
    if sys.platform == "win32" or sys.stdin is None or not sys.stdin.isatty():
        yield
        return
    import termios  # noqa: PLC0415  # not on Windows

    before = termios.tcgetattr(sys.stdin)
    try:
        yield
    finally:
        with suppress(termios.error):
            termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)
