"""Files of other programs: replaced whole and in one step, with the mode and the owner that they had.

Nothing is left beside them: our locks are elsewhere, and a temporary file that a killed program left is found by its name.
"""

import os
import re
import stat
from contextlib import suppress
from pathlib import Path

from credentials import files
from credentials.errors import Exposed, NotWritten
from credentials.files import DISK, Disk
from home import running

OTHERS = stat.S_IRWXG | stat.S_IRWXO
TEMPORARY = re.compile(r"\.(?P<name>.+)\.(?P<pid>[0-9]{1,10})\.[0-9a-f]{12}\.tmp")
"""What a file is called, here and in credentials/files.py, that is to take the place of the one with that name."""


def read(path: Path) -> bytes | None:
    """Return what a file holds, None when there is none. Raises Unreadable."""
    return files.read(path, private=False)


def folders(path: Path) -> tuple[Path, ...]:
    """Return the folders that are missing for a file, outermost first."""
    target = Path(os.path.realpath(path))
    return tuple(folder for folder in reversed(target.parents) if not folder.exists())


def replace(path: Path, data: bytes | None, expected: bytes | None, disk: Disk = DISK) -> bool:
    """Let a file, which is expected to hold something, hold something else; return False, and change nothing, when it does not.

    A link is written through. None stands for no file; one that is made is ours alone. Raises NotWritten, Unreadable.
    """
    target = Path(os.path.realpath(path))
    if data is None:
        return _take_away(target, expected)
    try:
        files.make_folder(target.parent)
        temporary = files.write_beside(target, data, disk, lambda file: _like(file, target))
        try:
            return _put_in_place(temporary, target, expected, disk)
        finally:
            with suppress(OSError):
                temporary.unlink()
    except OSError as error:
        raise NotWritten(path, error.strerror or type(error).__name__) from error


def keep_private(path: Path) -> None:
    """Refuse a file that is to hold a secret and that other users can read. Raises Exposed."""
    target = Path(os.path.realpath(path))
    try:
        is_open = target.stat().st_mode & OTHERS and target.parent.stat().st_mode & OTHERS
    except OSError:  # it will be made, for us alone
        return
    if is_open and os.name != "nt":
        raise Exposed(target)


def left_beside(path: Path) -> list[Path]:
    """Return temporary files beside a file that were to take its place, of programs that are gone."""
    target = Path(os.path.realpath(path))
    return [one for one in abandoned(target.parent) if one.name.startswith(f".{target.name}.")]


def abandoned(folder: Path) -> list[Path]:
    """Return all temporary files in a folder of programs that are gone; none where the folder cannot be read."""
    try:
        found = [(one, TEMPORARY.fullmatch(one.name)) for one in sorted(folder.iterdir())]
    except OSError:
        return []
    return [one for one, match in found if match and not running.is_alive(int(match["pid"]))]


def remove_folders(made: tuple[Path, ...]) -> None:
    """Take away folders that we made, innermost first, as far as nothing is in them."""
    for folder in reversed(made):
        with suppress(OSError):
            folder.rmdir()


def _take_away(target: Path, expected: bytes | None) -> bool:
    if read(target) != expected:
        return False
    try:
        target.unlink(missing_ok=True)
    except OSError as error:
        raise NotWritten(target, error.strerror or type(error).__name__) from error
    with suppress(OSError):
        DISK.sync_folder(target.parent)
    return True


def _like(file: int, target: Path) -> None:
    """Give a new file the owner and mode of the one whose place it takes; raise OSError where that is not allowed."""
    if os.name == "nt" or not target.exists():
        return
    was, now = target.stat(), os.fstat(file)
    if (was.st_uid, was.st_gid) != (now.st_uid, now.st_gid):
        os.fchown(file, was.st_uid, was.st_gid)
    os.fchmod(file, stat.S_IMODE(was.st_mode))


def _put_in_place(temporary: Path, target: Path, expected: bytes | None, disk: Disk) -> bool:
    """Look once more, at the last moment, whether another program wrote the file meanwhile."""
    if expected is None:
        try:
            disk.link(temporary, target)
        except FileExistsError:
            return False
    elif read(target) != expected:
        return False
    else:
        disk.replace(temporary, target)
    with suppress(OSError):  # the new file already stands
        disk.sync_folder(target.parent)
    return True
