"""home/bodies.py: names that sort by time, and a folder within its bounds."""

import io
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from home.bodies import Shelf, find, name_of

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
DAY = timedelta(days=1)


def name(number: int, at: datetime = NOON) -> str:
    """The file of the request with this number, that many seconds after a moment."""
    return name_of(at + timedelta(seconds=number), f"{number:012x}")


def numbers(folder: Path) -> list[int]:
    """Which of ours are there."""
    return [int(path.stem[-12:], 16) for path in sorted(folder.iterdir()) if path.suffix == ".txt"]


@given(st.lists(st.integers(0, 2**41).map(lambda ms: NOON + timedelta(milliseconds=ms)), min_size=2))
def test_names_sort_by_time(moments: list[datetime]) -> None:
    """To the millisecond."""
    names = [name_of(moment, "0" * 12) for moment in sorted(moments)]
    assert names == sorted(names)


def test_a_name_is_in_utc_and_ends_with_the_id() -> None:
    """So that it sorts everywhere, and is found by what `flowpool requests` shows."""
    at = datetime(2026, 11, 30, 1, 2, 3, 456_789, timezone(timedelta(hours=-5)))
    assert name_of(at, "1a2b3c4d5e6f") == "20261130-060203.456-1a2b3c4d5e6f.txt"


def test_a_request_finds_its_file(tmp_path: Path) -> None:
    """By its whole id; an id that is none finds nothing, whatever it would match."""
    Shelf(tmp_path, 1000, DAY).put(name(1), b"one", NOON)
    assert find(tmp_path, f"{1:012x}") == tmp_path / name(1)
    for request in (f"{2:012x}", "*", "", "../x"):
        assert find(tmp_path, request) is None
    assert find(tmp_path / "nowhere", f"{1:012x}") is None


def test_files_and_the_folder_are_their_owners_alone(tmp_path: Path) -> None:
    """A folder that was there keeps its mode: it may be the person's for other things too."""
    Shelf(tmp_path / "a" / "b", 1000, DAY).put(name(1), b"one", NOON)
    assert (tmp_path / "a" / "b").stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "a" / "b" / name(1)).stat().st_mode & 0o777 == 0o600


@given(sizes=st.lists(st.integers(0, 120), max_size=30))
def test_the_bound_is_never_passed_and_the_newest_stay(
    tmp_path_factory: pytest.TempPathFactory, sizes: list[int]
) -> None:
    """After every write, also of a shelf that finds files of another run; the oldest go first."""
    folder = tmp_path_factory.mktemp("shelf")
    shelves = [Shelf(folder, 100, DAY) for _ in sizes[::7]]  # each begins when the one before it has ended
    for number, size in enumerate(sizes):
        shelf = shelves[number // 7]
        if size > 100:
            with pytest.raises(OSError, match="larger than"):
                shelf.put(name(number), b"x" * size, NOON)
            continue
        shelf.put(name(number), b"x" * size, NOON)
        there = numbers(folder)
        written = [one for one, size in enumerate(sizes[: number + 1]) if size <= 100]
        assert sum(path.stat().st_size for path in folder.iterdir()) <= 100
        assert there == written[len(written) - len(there) :]
        assert there[-1] == number


def test_what_is_too_old_goes(tmp_path: Path) -> None:
    """By the time in its name, for a copy has another."""
    shelf = Shelf(tmp_path, 1000, DAY)
    for number in range(3):
        shelf.put(name(number, NOON - DAY), b"x", NOON - DAY)
    shelf.tidy(NOON + timedelta(seconds=1))
    assert numbers(tmp_path) == [1, 2]


def test_what_is_not_ours_is_never_touched(tmp_path: Path) -> None:
    """Whatever its age and size; nor is it counted."""
    strange = ["notes.txt", "20200101-000000.000-xyz.txt", "20209999-000000.000-000000000001.txt", name(1) + ".bak"]
    for one in strange:
        (tmp_path / one).write_bytes(b"x" * 1000)
    (tmp_path / name(2, NOON - 9 * DAY)).mkdir()
    (tmp_path / name(3, NOON - 9 * DAY)).symlink_to(tmp_path / "notes.txt")
    Shelf(tmp_path, 100, DAY).put(name(4), b"x" * 100, NOON)

    assert len(list(tmp_path.iterdir())) == len(strange) + 3


class _Full(io.FileIO):
    """A file on a disk that is full."""

    def write(self, _data: object) -> int:
        raise OSError(28, "No space left on device")


def test_a_disk_that_refuses_leaves_no_half_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error is the caller's to tell."""
    shelf = Shelf(tmp_path, 1000, DAY)
    shelf.put(name(1), b"one", NOON)

    with monkeypatch.context() as patch:
        patch.setattr("os.fdopen", lambda file, _mode: _Full(file, "wb"))
        with pytest.raises(OSError, match="No space"):
            shelf.put(name(2), b"two", NOON)
    assert numbers(tmp_path) == [1]
    shelf.put(name(2), b"two", NOON)
    assert numbers(tmp_path) == [1, 2]
