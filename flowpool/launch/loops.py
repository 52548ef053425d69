"""A mark in the environment of what we start, by which a `claude` that starts us again is known.

It is a wrapper somewhere on the PATH, and no Claude Code: the next one is looked for, and where there is none the loop ends with a word.
"""

import json
import os
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

VARIABLE = "FLOWPOOL_STARTED"
SOON = 30.0  # seconds within which what took our place, and starts us again, is a wrapper
AT_ONCE = 10.0  # seconds within which somebody's child starts us as fast as no person and no session does
DEEPEST = 10  # starts of that kind, one in the other


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """What was started last. pid: whose process it became; at: seconds since 1970; depth: how many starts led to it at once.

    paths: what was tried in this process, each of which led back to us but perhaps the last.
    """

    pid: int
    at: float
    depth: int
    paths: tuple[str, ...]


def read(environ: Mapping[str, str]) -> Mark | None:
    """Return the mark that we were started with; None where there is none that makes sense."""
    try:
        match json.loads(environ.get(VARIABLE, "")):
            case [int(pid), int() | float() as at, int(depth), [*paths]]:
                return Mark(pid=pid, at=float(at), depth=depth, paths=tuple(map(str, paths)))
            case _:
                pass
    except (ValueError, RecursionError):
        pass
    return None


def wrappers(mark: Mark | None, *, pid: int, now: float) -> frozenset[Path]:
    """Return what started us again in the very process in which we had started it."""
    if mark is None or mark.pid != pid or not 0 <= now - mark.at <= SOON:
        return frozenset()
    return frozenset(map(Path, mark.paths))


def is_endless(mark: Mark | None, *, now: float) -> bool:
    """Tell whether processes start one another, us among them."""
    return mark is not None and mark.depth >= DEEPEST and 0 <= now - mark.at <= AT_ONCE


def marked(environ: Mapping[str, str], program: Path) -> dict[str, str]:
    """Return the environment in which this process starts, or becomes, the program."""
    pid, now, before = os.getpid(), time.time(), read(environ)
    return {**environ, VARIABLE: _written(_next(before, program, pid=pid, now=now))}


def _next(before: Mark | None, program: Path, *, pid: int, now: float) -> Mark:
    tried: Iterable[Path] = wrappers(before, pid=pid, now=now)
    is_at_once = before is not None and 0 <= now - before.at <= AT_ONCE
    depth = before.depth + 1 if before is not None and is_at_once else 0
    return Mark(pid=pid, at=now, depth=depth, paths=(*sorted(map(str, tried)), str(program)))


def _written(mark: Mark) -> str:
    return json.dumps([mark.pid, mark.at, mark.depth, mark.paths])
