"""The folder of whole exchanges: how its files are named, and how it is kept within its bounds.

Names sort by time and end with the request's id; what is named otherwise is somebody else's, and is never touched.
"""

import errno
import os
import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

from credentials.files import make_folder

SPARED = 0.95
"""What of the bound is filled after making room, so that not every file has to look for it."""
PRIVATE = 0o600

_NAME = re.compile(r"(\d{8}-\d{6})\.\d{3}-[0-9a-f]{12}\.txt")
_SECONDS = "%Y%m%d-%H%M%S"


def name_of(at: datetime, request: str) -> str:
    """The file of a request. at: when it came; request: its id."""
    at = at.astimezone(UTC)
    return f"{at:{_SECONDS}}.{at.microsecond // 1000:03d}-{request}.txt"


def find(folder: Path, request: str) -> Path | None:
    """The file of the request with this id; None when there is none."""
    try:
        return (
            next(folder.glob(f"*-{request}.txt"), None)
            if _NAME.fullmatch(f"00000000-000000.000-{request}.txt")
            else None
        )
    except OSError:
        return None


class Shelf:
    """The folder, within its bounds. Every method raises OSError."""

    def __init__(self, folder: Path, most: int, age: timedelta) -> None:
        """most: bytes of all files; age: of the oldest."""
        self._folder = folder
        self._most = most
        self._age = age
        self._used: int | None = None  # bytes; None while nobody has looked

    def put(self, name: str, data: bytes, now: datetime) -> None:
        """Write one more file, for its owner's eyes alone; the oldest go to make room for it."""
        if len(data) > self._most:
            raise OSError(errno.EFBIG, "one exchange is larger than [log] bodies_mib")
        if self._used is None or self._used + len(data) > self._most:
            self.tidy(now, len(data))
        path = self._folder / name
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), PRIVATE)
        try:
            with os.fdopen(file, "wb") as out:
                out.write(data)
        except OSError:
            with suppress(OSError):
                path.unlink()
            raise
        self._used = (self._used or 0) + len(data)

    def tidy(self, now: datetime, room: int = 0) -> None:
        """Remove what is too old, and the oldest until there is room for so many bytes; make the folder if it is missing."""
        make_folder(self._folder)
        files = sorted(self._files())
        used = sum(size for _, _, size in files)
        most = self._most - room if used + room <= self._most else int(self._most * SPARED) - room
        for at, path, size in files:
            if used <= most and at >= now - self._age:
                break
            path.unlink(missing_ok=True)
            used -= size
        self._used = used

    def _files(self) -> Iterator[tuple[datetime, Path, int]]:
        """When each of ours began, where it is, and its size."""
        with os.scandir(self._folder) as entries:
            for entry in entries:
                found = _NAME.fullmatch(entry.name)
                if found is None or not entry.is_file(follow_symlinks=False):
                    continue
                with suppress(ValueError, FileNotFoundError):  # no such day; gone meanwhile
                    at = datetime.strptime(found[1], _SECONDS).replace(tzinfo=UTC)
                    yield at, Path(entry.path), entry.stat(follow_symlinks=False).st_size
