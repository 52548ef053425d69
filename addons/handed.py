"""Handed: what the proxy before gave this one at its start.

Its listening sockets, a pipe for the word that the new one serves, and the screen: until then what the new one says on stderr is kept, so
that whoever asked for the restart can be told why it failed.
"""

import json
import os
import sys
from collections.abc import Mapping, MutableMapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import Any

VARIABLE = "FLOWPOOL_HANDED"
READY = b"+"
LARGEST = 2**31  # no descriptor has this number, nor one beyond it


@dataclass(frozen=True, slots=True, kw_only=True)
class Handed:
    """Descriptors that were inherited.

    predecessor: its process id; this process's own where it started itself anew. sockets: each listening one, with the address that was
    asked for, port 0 included. ready: where to say that this one serves. screen: the real stderr. before: see addons/predecessors.py.
    """

    predecessor: int | None = None
    sockets: tuple[tuple[str, int], ...] = ()
    ready: int | None = None
    screen: int | None = None
    before: tuple[tuple[int, int], ...] = ()

    @property
    def follows(self) -> int | None:
        """Which other process this one follows; None when there is none any more."""
        return None if self.predecessor == os.getpid() else self.predecessor

    def told(self) -> Mapping[str, str]:
        """What goes into the environment of the process that is to find it."""
        document = {
            "from": self.predecessor,
            "sockets": [list(one) for one in self.sockets],
            "ready": self.ready,
            "screen": self.screen,
            "before": [list(one) for one in self.before],
            "marks": [_mark(number) for number in self.numbers()],
        }
        return {VARIABLE: json.dumps(document)}

    def is_marked(self, marks: object) -> bool:
        """Whether the descriptors are the very ones that were given."""
        found = [_mark(number) for number in self.numbers()]
        return found != [] and all(found) and found == marks

    def numbers(self) -> list[int]:
        """All descriptors."""
        given = [number for _, number in (*self.sockets, *self.before)]
        return [*given, *(number for number in (self.ready, self.screen) if number is not None)]

    def say_ready(self) -> None:
        """Tell the proxy before that this one serves; from here on the screen is this one's, too."""
        if self.screen is not None:
            sys.stderr.flush()
            os.dup2(self.screen, 2)
            os.close(self.screen)
        if self.ready is not None:
            with suppress(OSError):  # it has ended meanwhile
                os.write(self.ready, READY)
            os.close(self.ready)


NOTHING = Handed()


@cache
def taken() -> Handed:
    """What this process was given; programs that it starts do not find it."""
    return take(os.environ, (os.getpid(), os.getppid()))


def take(environ: MutableMapping[str, str], givers: tuple[int, ...]) -> Handed:
    """Read it, once; nothing where it makes no sense, or was not meant for this process.

    givers: who may have given it: the process that started this one, and itself. One that has ended since is known by what it gave.
    """
    text = environ.pop(VARIABLE, "")
    try:
        document: Any = json.loads(text) if text else {}
        found = _parse(document) if text else NOTHING
    except (ValueError, RecursionError):
        return NOTHING
    if found.predecessor not in givers and not found.is_marked(document.get("marks")):
        return NOTHING
    for number in found.numbers():
        with suppress(OSError):
            os.set_inheritable(number, False)
    return found


def _mark(number: int) -> int:
    """What tells an open descriptor's file from all others; 0 where none is open, which is no file's."""
    try:
        return os.fstat(number).st_ino
    except OSError:
        return 0


def _parse(document: object) -> Handed:
    match document:
        case {
            "from": int(giver),
            "sockets": list(sockets),
            "ready": int() | None as ready,
            "screen": int() | None as screen,
            "before": list(before),
        }:
            found = Handed(
                predecessor=giver,
                sockets=tuple(_pair(one) for one in sockets),
                ready=ready,
                screen=screen,
                before=tuple(_process(one) for one in before),
            )
            numbers = [number for _, number in (*found.sockets, *found.before)]
            if not all(0 <= number < LARGEST for number in (*numbers, ready or 0, screen or 0)):
                raise ValueError("not a descriptor")
            return found
        case _:
            raise ValueError("not what a proxy hands on")


def _pair(one: object) -> tuple[str, int]:
    match one:
        case [str(asked), int(number)]:
            return asked, number
        case _:
            raise ValueError("not a socket")


def _process(one: object) -> tuple[int, int]:
    match one:
        case [int(pid), int(number)] if pid > 1:
            return pid, number
        case _:
            raise ValueError("not a process")
