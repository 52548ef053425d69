"""The real `claude`: found on the PATH, else wherever it is known to be installed, and never one that leads back to us.

The PATH goes before a higher version: its order is the person's own choice, made by hand or by a version manager, and a `claude` that
behaves otherwise under `flowpool run` than in the shell beside it would surprise. Where nobody chose, the highest version wins.
"""

import os
import shlex
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from flowpool.errors import Failure
from flowpool.launch import loops
from flowpool.launch.places import PROGRAM, WINDOWS, elsewhere, version

MARKER = b"flowpool-link"
"""Stands in the first lines of every link of ours, of whichever installation."""
BEGINNING = 4096  # bytes that are looked at for it
GET = "npm install -g @anthropic-ai/claude-code"
_EXTENSIONS = ".COM;.EXE;.BAT;.CMD"


def find(variables: Mapping[str, str], *, ours: Path | None, platform: str = sys.platform) -> Path:
    """Return its whole path; ours: our own link, wherever it is written. Raises Failure, which says how to get it."""
    now, mark = time.time(), loops.read(variables)
    if loops.is_endless(mark, now=now):
        raise Failure(f"{PROGRAM} starts flowpool, and flowpool {PROGRAM}, again and again: {_tried(mark)}; remove one")
    wrappers = loops.wrappers(mark, pid=os.getpid(), now=now)
    names = _names(variables, platform)
    found = next(_fit(_on_path(variables, names, platform), ours, wrappers, platform), None)
    if found is None:
        others = list(_fit(elsewhere(variables, platform, names), ours, wrappers, platform))
        found = max(others, key=version, default=None)  # of equals the first
    if found is not None:
        return found
    if wrappers:
        raise Failure(f"every {PROGRAM} there is starts flowpool again: {_tried(mark)}; install Claude Code: {GET}")
    raise Failure(f"there is no {PROGRAM}, neither on the PATH nor where it usually is; install Claude Code: {GET}")


def _tried(mark: loops.Mark | None) -> str:
    return ", ".join(map(shlex.quote, mark.paths)) if mark else ""


def _names(variables: Mapping[str, str], platform: str) -> tuple[str, ...]:
    """What the program may be called. On Windows npm makes a `claude.cmd`, which only its whole path starts."""
    if platform != WINDOWS:
        return (PROGRAM,)
    extensions = [one for one in (variables.get("PATHEXT") or _EXTENSIONS).split(";") if one]
    return tuple(f"{PROGRAM}{shown}" for one in extensions for shown in dict.fromkeys((one, one.lower())))


def _on_path(variables: Mapping[str, str], names: tuple[str, ...], platform: str) -> Iterator[Path]:
    folders = variables.get("PATH", "").split(";" if platform == WINDOWS else os.pathsep)
    for folder in dict.fromkeys(filter(None, folders)):
        yield from (Path(folder.strip('"') if platform == WINDOWS else folder).absolute() / name for name in names)


def _fit(candidates: Iterator[Path], ours: Path | None, wrappers: frozenset[Path], platform: str) -> Iterator[Path]:
    """Yield those that can be run and are neither ours nor lead back to us."""
    for path in candidates:
        if path in wrappers or not _is_program(path, platform) or is_link(path):
            continue
        if ours is not None and _is_same(path, ours):
            continue
        yield path


def _is_program(path: Path, platform: str) -> bool:
    is_file = os.path.isfile(path)  # noqa: PTH113  # before Python 3.13 Path.is_file raises for a folder that we may not enter
    return is_file and (platform == WINDOWS or os.access(path, os.X_OK))


def _is_same(path: Path, ours: Path) -> bool:
    try:
        return path.samefile(ours)
    except OSError:
        return False


def is_link(path: Path) -> bool:
    """Tell whether it is a link of ours, or leads to one."""
    try:
        with path.open("rb") as file:
            return MARKER in file.read(BEGINNING)
    except OSError:
        return False
