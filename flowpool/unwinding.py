"""Lets what usually ends a program at once unwind it, so that what it started ends too."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

import click

BEYOND = 128  # a shell's code for who was ended by a signal: this and its number
ENDING = tuple(
    number for name in ("SIGTERM", "SIGHUP") if isinstance(number := getattr(signal, name, None), signal.Signals)
)


class Ended(SystemExit):
    """A signal asked this program to end; its code says which."""


@contextmanager
def unwinding() -> Iterator[None]:
    """End as Ctrl-C does on the signals of ENDING: with one line on stderr, once all that was opened is closed."""

    def unwind(number: int, _frame: FrameType | None) -> NoReturn:
        raise Ended(BEYOND + number)

    before = {number: signal.signal(number, unwind) for number in ENDING}
    try:
        yield
    except Ended:
        click.echo("flowpool: stopped", err=True)
        raise
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
