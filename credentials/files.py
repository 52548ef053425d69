"""Private files: read only when nobody else can, written whole or not at all, changed by one process at a time."""

import os
import stat
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from credentials.errors import Busy, Exposed, NotWritten, Unreadable

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

PRIVATE_FILE = 0o600
PRIVATE_FOLDER = 0o700
LARGEST = 16 * 2**20  # bytes; our files are some kilobytes
PATIENCE = 10.0  # seconds; a writer holds a lock for milliseconds
PAUSE = 0.01  # seconds between two tries to lock


class Disk:
    """The calls that writing makes, one method each, so that a test can make the n-th fail."""

    def create(self, path: Path) -> int:
        """Open a new file that only we can read; raise FileExistsError when there is one."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
        return os.open(path, flags, PRIVATE_FILE)

    def write(self, file: int, data: bytes) -> int:
        """Write some of data; return how much."""
        return os.write(file, data)

    def sync(self, file: int) -> None:
        """Wait until the file is on the disk."""
        os.fsync(file)

    def replace(self, source: Path, target: Path) -> None:
        """Give source the name of target."""
        source.replace(target)

    def link(self, source: Path, target: Path) -> None:
        """Give source a second name; raise FileExistsError when it is taken."""
        target.hardlink_to(source)

    def sync_folder(self, folder: Path) -> None:
        """Wait until the names in a folder are on the disk."""
        if sys.platform == "win32":
            return
        file = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(file)
        finally:
            os.close(file)


DISK = Disk()


def make_folder(folder: Path) -> None:
    """Make a folder that only we can enter; one that is there already stays as it is."""
    folder.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)


def read(path: Path, *, private: bool) -> bytes | None:
    """Return what a file holds, None when there is none.

    private: refuse it when other users can read or change it. Raises Exposed or Unreadable.
    """
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)  # a pipe must not make us wait
    try:
        file = os.open(path, flags)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Unreadable(path, _reason(error)) from error
    try:
        _check(path, os.fstat(file).st_mode, private=private)
        data = _read_all(file)
    except OSError as error:
        raise Unreadable(path, _reason(error)) from error
    finally:
        os.close(file)
    if len(data) > LARGEST:
        raise Unreadable(path, f"larger than {LARGEST} bytes")
    return data


def _check(path: Path, mode: int, *, private: bool) -> None:
    if not stat.S_ISREG(mode):
        raise Unreadable(path, "not a plain file")
    if private and sys.platform != "win32" and mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise Exposed(path)


def _read_all(file: int) -> bytes:
    """Read until the end or a little past LARGEST."""
    data = bytearray()
    while len(data) <= LARGEST and (chunk := os.read(file, 2**20)):
        data += chunk
    return bytes(data)


def write(path: Path, data: bytes, disk: Disk = DISK) -> None:
    """Replace a file by one that only we can read; whatever fails, the old one or the new one is there, whole.

    Raises NotWritten when the old one still stands.
    """
    target = Path(os.path.realpath(path))
    try:
        temporary = write_beside(target, data, disk)
        try:
            disk.replace(temporary, target)
        except BaseException:
            _remove(temporary)
            raise
    except OSError as error:
        raise NotWritten(path, _reason(error)) from error
    _settle(target.parent, disk)


def create(path: Path, data: bytes, disk: Disk = DISK) -> bool:
    """Write a file that is not there yet; return False, and change nothing, when there is one. Raises NotWritten."""
    target = Path(os.path.realpath(path))
    try:
        make_folder(target.parent)
        if target.exists():
            return False
        temporary = write_beside(target, data, disk)
        try:
            disk.link(temporary, target)
        except FileExistsError:
            return False
        finally:
            _remove(temporary)
    except OSError as error:
        raise NotWritten(path, _reason(error)) from error
    _settle(target.parent, disk)
    return True


@contextmanager
def lock(path: Path, patience: float = PATIENCE) -> Iterator[None]:
    """Keep other processes and threads from changing a file; what was read before must be read again inside.

    The lock is a file of its own beside it, because the file itself is replaced. Raises Busy after patience seconds.
    """
    target = Path(os.path.realpath(path))
    beside = target.with_name(f"{target.name}.lock")
    try:
        make_folder(target.parent)
        file = os.open(beside, os.O_RDWR | os.O_CREAT, PRIVATE_FILE)
    except OSError as error:
        raise NotWritten(path, _reason(error)) from error
    try:
        _acquire(file, beside, patience)
        yield
    finally:
        os.close(file)  # lets the lock go too


def _acquire(file: int, path: Path, patience: float) -> None:
    deadline = time.monotonic() + patience
    while not _try_lock(file):
        if time.monotonic() >= deadline:
            raise Busy(path, patience)
        time.sleep(PAUSE)


if sys.platform == "win32":

    def _try_lock(file: int) -> bool:
        try:
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:

    def _try_lock(file: int) -> bool:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


def write_beside(target: Path, data: bytes, disk: Disk, fit: Callable[[int], None] = lambda _: None) -> Path:
    """Write data to a new file in target's folder, which only we can read until fit makes it another; leave none when that fails."""
    temporary = target.with_name(f".{target.name}.{os.getpid()}.{os.urandom(6).hex()}.tmp")
    file = disk.create(temporary)
    try:
        try:
            left = memoryview(data)
            while left:
                left = left[disk.write(file, bytes(left)) :]
            fit(file)
            disk.sync(file)
        finally:
            os.close(file)
    except BaseException:
        _remove(temporary)
        raise
    return temporary


def _settle(folder: Path, disk: Disk) -> None:
    """Sync a folder if it can be: the new file already stands, so a failure here must not look like a failed write."""
    with suppress(OSError):
        disk.sync_folder(folder)


def _remove(path: Path) -> None:
    with suppress(OSError):
        path.unlink()


def _reason(error: OSError) -> str:
    return error.strerror or type(error).__name__
