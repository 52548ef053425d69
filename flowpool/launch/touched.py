"""connected.json: what flowpool changed in other programs' files, and what stood there before.

It is written before such a file is, and forgotten after the file is as it was, so that whatever ends us in between can be undone.
What stood there may be a secret: only the person can read it.
"""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from credentials import files
from credentials.errors import NotWritten, Unreadable
from flowpool.launch.overlay import Change
from home.paths import Home

VERSION = 1
NAME = "connected.json"
NEWER = "flowpool --version, and install that newer one"


class Phase(StrEnum):
    """How far a change is."""

    LAYING = "laying"  # begun: the file may be as before or as wished
    LAID = "laid"
    LIFTING = "lifting"  # begun: the file may be as wished or as before


@dataclass(frozen=True, slots=True, kw_only=True)
class Touched:
    """One file of another program.

    program: whose it is. file: as the person named it, absolute. folders: those that had to be made for it, outermost first.
    """

    program: str
    file: Path
    phase: Phase
    changes: tuple[Change, ...]
    folders: tuple[Path, ...] = ()

    @property
    def is_begun(self) -> bool:
        """Whether a change of it was begun and not ended."""
        return self.phase is not Phase.LAID

    def is_at(self, file: Path) -> bool:
        """Whether it is this file, perhaps by another name."""
        return os.path.realpath(self.file) == os.path.realpath(file)


def path(home: Home) -> Path:
    """Return where it is written down."""
    return home.state_folder / NAME


@contextmanager
def alone(home: Home) -> Iterator[None]:
    """Let nobody else change what is written down, nor the files that it is about. Raises Busy, NotWritten."""
    with files.lock(path(home)):
        yield


def load(home: Home) -> tuple[Touched, ...]:
    """Return all files. Raises Unreadable, Exposed: what cannot be read is never overwritten."""
    place = path(home)
    data = files.read(place, private=True)
    if data is None:
        return ()
    try:
        found = json.loads(data)
        if isinstance(found, dict) and isinstance(found.get("version"), int) and found["version"] > VERSION:
            raise Unreadable(place, f"written by a newer flowpool (version {found['version']})", NEWER)
        return tuple(_parse(one) for one in found["files"])
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
        raise Unreadable(place, "not what flowpool writes") from None  # the cause may quote it


def find(home: Home, program: str, file: Path) -> Touched | None:
    """Return what is known of one file; raise like load."""
    return next((one for one in load(home) if one.program == program and one.is_at(file)), None)


def keep(home: Home, touched: Touched) -> None:
    """Write down one file in place of what was known of it; on the disk when this returns. Raises FileFault."""
    _save(home, (*_others(home, touched), touched))


def forget(home: Home, touched: Touched) -> None:
    """Forget one file; the last one takes the record with it. Raises FileFault."""
    _save(home, _others(home, touched))


def _others(home: Home, touched: Touched) -> tuple[Touched, ...]:
    return tuple(one for one in load(home) if one.program != touched.program or not one.is_at(touched.file))


def _save(home: Home, kept: tuple[Touched, ...]) -> None:
    place = path(home)
    if kept:
        document = {"version": VERSION, "files": [_plain(one) for one in kept]}
        files.write(place, json.dumps(document, indent=1).encode())
        return
    try:
        place.unlink(missing_ok=True)
    except OSError as error:
        raise NotWritten(place, error.strerror or type(error).__name__) from error
    with suppress(OSError):
        files.DISK.sync_folder(place.parent)


def _plain(touched: Touched) -> dict[str, Any]:
    changes = [{"path": list(one.path), "was": one.was, "ours": list(one.ours)} for one in touched.changes]
    folders = [str(folder) for folder in touched.folders]
    return {
        "program": touched.program,
        "file": str(touched.file),
        "phase": touched.phase.value,
        "folders": folders,
        "changes": changes,
    }


def _parse(found: Any) -> Touched:
    match found:
        case {
            "program": str(program),
            "file": str(file),
            "phase": str(phase),
            "folders": list(made),
            "changes": list(changes),
        }:
            return Touched(
                program=program,
                file=Path(file),
                phase=Phase(phase),
                changes=tuple(_parse_change(one) for one in changes),
                folders=tuple(Path(str(one)) for one in made),
            )
        case _:
            raise ValueError("not a file that was touched")


def _parse_change(found: Any) -> Change:
    match found:
        case {"path": list(keys), "was": (str() | None) as was, "ours": list(ours)}:
            return Change(path=tuple(map(str, keys)), was=was, ours=tuple(map(str, ours)))
        case _:
            raise ValueError("not a change")
