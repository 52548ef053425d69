"""Private files are read only in private and written whole or not at all."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from credentials import files
from credentials.errors import Busy, Exposed, NotWritten, Unreadable
from tests.credentials.disks import FailingDisk

ROOT = Path(__file__).parents[2]
OLD, NEW = b"old " * 10, b"new " * 10


def calls_of_one_write(folder: Path) -> int:
    disk = FailingDisk(fail_at=0)
    files.write(folder / "probe", NEW, disk)
    (folder / "probe").unlink()
    return disk.calls


def test_a_written_file_is_ours_alone(tmp_path: Path) -> None:
    """A file is written with mode 0600 whatever the umask, and nothing else is left in its folder."""
    before = os.umask(0)
    try:
        files.write(tmp_path / "x", NEW)
    finally:
        os.umask(before)

    assert (tmp_path / "x").stat().st_mode & 0o777 == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["x"]


def test_whatever_call_fails_a_whole_file_stands(tmp_path: Path) -> None:
    """For every n, when the n-th call fails, the old file stands or the new one does, no error means the new one, and no rest is left."""
    path, total = tmp_path / "x", calls_of_one_write(tmp_path)
    assert total > 5

    for fail_at in range(1, total + 1):
        path.write_bytes(OLD)
        try:
            files.write(path, NEW, FailingDisk(fail_at))
        except NotWritten:
            expected = OLD
        else:
            expected = NEW

        assert path.read_bytes() == expected
        assert [one.name for one in tmp_path.iterdir()] == ["x"]
        assert (expected == NEW) == (fail_at == total)  # only the last call, the folder's sync, may fail unseen


def test_create_never_replaces(tmp_path: Path) -> None:
    """Only the first create writes."""
    assert files.create(tmp_path / "deep" / "x", OLD)
    assert not files.create(tmp_path / "deep" / "x", NEW)
    assert (tmp_path / "deep" / "x").read_bytes() == OLD
    assert (tmp_path / "deep").stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("fail_at", range(1, 9))
def test_a_failed_create_leaves_nothing(tmp_path: Path, fail_at: int) -> None:
    """When a call of create fails, there is no file and no rest of one."""
    with pytest.raises(NotWritten, match=r"No space left.*run: df"):
        files.create(tmp_path / "x", NEW, FailingDisk(fail_at))

    assert list(tmp_path.iterdir()) == []


def test_a_link_is_followed(tmp_path: Path) -> None:
    """Writing through a symbolic link changes the file it points at and keeps the link."""
    (tmp_path / "real").write_bytes(OLD)
    (tmp_path / "x").symlink_to("real")
    files.write(tmp_path / "x", NEW)

    assert (tmp_path / "x").is_symlink()
    assert (tmp_path / "real").read_bytes() == NEW


def test_no_file_reads_as_none(tmp_path: Path) -> None:
    """A missing file is None, not a fault."""
    assert files.read(tmp_path / "x", private=True) is None


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o602, 0o644, 0o666])
def test_what_others_can_use_is_refused(tmp_path: Path, mode: int) -> None:
    """A private file that others can read or write is refused with the command that mends it; a public one is not."""
    path = tmp_path / "x"
    path.write_bytes(OLD)
    path.chmod(mode)

    with pytest.raises(Exposed, match=f"run: chmod 600 '{path}'$"):
        files.read(path, private=True)
    assert files.read(path, private=False) == OLD


def test_what_is_no_plain_file_is_refused(tmp_path: Path) -> None:
    """A folder and a pipe are refused at once."""
    os.mkfifo(tmp_path / "pipe")

    for path in (tmp_path, tmp_path / "pipe"):
        with pytest.raises(Unreadable):
            files.read(path, private=False)


def test_a_huge_file_is_refused(tmp_path: Path) -> None:
    """A file over the bound is refused and not kept in memory."""
    path = tmp_path / "x"
    path.touch(0o600)
    os.truncate(path, files.LARGEST + 1)

    with pytest.raises(Unreadable, match="larger"):
        files.read(path, private=True)


def test_a_lock_shuts_out_the_second(tmp_path: Path) -> None:
    """While it is held nobody else gets the lock, not in this process either; afterwards they do."""
    with files.lock(tmp_path / "x"), pytest.raises(Busy, match="run: fuser"), files.lock(tmp_path / "x", patience=0):
        pass

    with files.lock(tmp_path / "x", patience=0):
        pass


def test_a_lock_ends_with_its_process(tmp_path: Path) -> None:
    """A process that is killed while it holds the lock shuts nobody out."""
    code = "import sys, time; from pathlib import Path; from credentials import files\n"
    code += "with files.lock(Path(sys.argv[1])): print('held', flush=True); time.sleep(60)"
    holder = subprocess.Popen([sys.executable, "-c", code, str(tmp_path / "x")], stdout=subprocess.PIPE, cwd=ROOT)
    with holder:
        assert holder.stdout
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(Busy), files.lock(tmp_path / "x", patience=0):
            pass
        holder.kill()
    with files.lock(tmp_path / "x"):
        pass


def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    """A file where a folder should be is NotWritten, for lock and create alike."""
    (tmp_path / "file").touch()

    with pytest.raises(NotWritten), files.lock(tmp_path / "file" / "x"):
        pass
    with pytest.raises(NotWritten):
        files.create(tmp_path / "file" / "x", NEW)
