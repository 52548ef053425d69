"""Another program's file is replaced in one step, or not at all, and keeps its mode, its owner and its name."""

import os
import stat
from pathlib import Path

import pytest

from credentials.errors import Exposed, NotWritten
from flowpool.launch import foreign
from tests.credentials.disks import FailingDisk

OLD, NEW = b"old " * 10, b"new " * 10
as_root = pytest.mark.skipif(os.getuid() != 0, reason="only root may give files away")


def names(folder: Path) -> list[str]:
    """All that is in a folder."""
    return [path.name for path in folder.iterdir()]


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o664, 0o640])
def test_the_mode_stays(tmp_path: Path, mode: int) -> None:
    """Whatever it is, and whatever the umask."""
    path = tmp_path / "settings.json"
    path.write_bytes(OLD)
    path.chmod(mode)

    assert foreign.replace(path, NEW, OLD)
    assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (NEW, mode)
    assert names(tmp_path) == ["settings.json"]


@as_root
def test_the_owner_stays(tmp_path: Path) -> None:
    """Also where another user, as root does, changes it."""
    path = tmp_path / "settings.json"
    path.write_bytes(OLD)
    os.chown(path, 1234, 2345)

    assert foreign.replace(path, NEW, OLD)
    assert (path.stat().st_uid, path.stat().st_gid) == (1234, 2345)


def test_an_owner_that_cannot_be_kept_keeps_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rather than make it ours."""
    path = tmp_path / "settings.json"
    path.write_bytes(OLD)
    real = os.fstat

    def another(file: int) -> os.stat_result:
        found = list(real(file))
        found[4] += 1
        return os.stat_result(found)

    def refused(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "fstat", another)
    monkeypatch.setattr(os, "fchown", refused)
    with pytest.raises(NotWritten, match="not permitted"):
        foreign.replace(path, NEW, OLD)

    assert path.read_bytes() == OLD
    assert names(tmp_path) == ["settings.json"]


def test_a_link_is_written_through(tmp_path: Path) -> None:
    """It stays a link, as people have who keep their dotfiles elsewhere."""
    (tmp_path / "dotfiles").mkdir()
    (tmp_path / "dotfiles" / "real.json").write_bytes(OLD)
    path = tmp_path / "settings.json"
    path.symlink_to(Path("dotfiles") / "real.json")

    assert foreign.replace(path, NEW, OLD)
    assert path.is_symlink()
    assert (tmp_path / "dotfiles" / "real.json").read_bytes() == NEW


def test_a_new_file_is_ours_alone(tmp_path: Path) -> None:
    """And so are the folders that it needs, which can be taken away again."""
    path = tmp_path / "a" / "b" / "settings.json"
    made = foreign.folders(path)

    assert made == (tmp_path / "a", tmp_path / "a" / "b")
    assert foreign.replace(path, NEW, None)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    foreign.remove_folders(made)
    assert path.exists()
    assert foreign.replace(path, None, NEW)
    foreign.remove_folders(made)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("there", "expected"), [(OLD, b"other"), (OLD, None), (None, OLD)])
@pytest.mark.parametrize("data", [NEW, None])
def test_what_another_program_wrote_meanwhile_stays(
    tmp_path: Path, there: bytes | None, expected: bytes | None, data: bytes | None
) -> None:
    """Then nothing is changed, and that is told."""
    path = tmp_path / "settings.json"
    if there is not None:
        path.write_bytes(there)

    assert not foreign.replace(path, data, expected)
    assert foreign.read(path) == there
    assert len(names(tmp_path)) == (there is not None)


def test_whatever_call_fails_a_whole_file_stands(tmp_path: Path) -> None:
    """For each call on the disk, the old file or the new one is there, nothing beside it, and an error means the old one."""
    path, probe = tmp_path / "settings.json", FailingDisk(fail_at=0)
    path.write_bytes(OLD)
    assert foreign.replace(path, NEW, OLD, probe)
    assert probe.calls > 5
    for fail_at in range(1, probe.calls + 1):
        path.write_bytes(OLD)
        try:
            foreign.replace(path, NEW, OLD, FailingDisk(fail_at))
        except NotWritten:
            assert path.read_bytes() == OLD
        else:
            assert path.read_bytes() == NEW
        assert names(tmp_path) == ["settings.json"]


def test_a_secret_goes_into_no_open_file(tmp_path: Path) -> None:
    """Unless nobody else can enter its folder; one that is not there yet is made for us alone."""
    path = tmp_path / "settings.json"
    foreign.keep_private(path)
    path.write_bytes(OLD)
    path.chmod(0o644)
    tmp_path.chmod(0o755)
    with pytest.raises(Exposed, match=f"run: chmod 600 '{path}'"):
        foreign.keep_private(path)

    tmp_path.chmod(0o700)
    foreign.keep_private(path)
