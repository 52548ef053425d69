"""The file is ours alone, in WAL, and moved aside when it is broken."""

import sqlite3
from pathlib import Path

import pytest
from sqlalchemy import inspect
from sqlalchemy.exc import DBAPIError, OperationalError

from home.state import database
from home.state.database import is_busy, is_corrupt, prepare, set_aside
from home.state.tables import METADATA
from tests.home.state.made import raw


def failed(kind: type[sqlite3.Error], code: int | None) -> OperationalError:
    """An error as SQLAlchemy hands it on."""
    orig = kind("why")
    if code is not None:
        orig.sqlite_errorcode = code
    return OperationalError("SELECT", None, orig)


def test_a_fresh_file_has_all_tables(tmp_path: Path) -> None:
    """In write-ahead mode, for us alone, in a folder for us alone; a second opening changes nothing."""
    path = tmp_path / "folder" / "state.sqlite3"
    for _ in range(2):
        with prepare(path).connect() as connection:
            assert set(inspect(connection).get_table_names()) == set(METADATA.tables)
            assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
            assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 1
            assert {one.stat().st_mode & 0o777 for one in path.parent.iterdir()} == {0o600}

    assert path.parent.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize(
    ("error", "corrupt", "busy"),
    [
        (failed(sqlite3.DatabaseError, sqlite3.SQLITE_NOTADB), True, False),
        (failed(sqlite3.DatabaseError, sqlite3.SQLITE_CORRUPT), True, False),
        (failed(sqlite3.DatabaseError, sqlite3.SQLITE_CORRUPT_INDEX), True, False),
        (failed(sqlite3.OperationalError, sqlite3.SQLITE_BUSY), False, True),
        (failed(sqlite3.OperationalError, sqlite3.SQLITE_BUSY_SNAPSHOT), False, True),
        (failed(sqlite3.OperationalError, sqlite3.SQLITE_LOCKED), False, True),
        (failed(sqlite3.OperationalError, sqlite3.SQLITE_FULL), False, False),
        (failed(sqlite3.OperationalError, None), False, False),
        (OSError(28, "No space left on device"), False, False),
    ],
)
def test_who_is_to_blame(error: Exception, corrupt: bool, busy: bool) -> None:
    """Only a file that is broken is moved aside; a full disk and another process are waited for."""
    assert (is_corrupt(error), is_busy(error)) == (corrupt, busy)


def test_what_is_beside_the_file_goes_with_it(tmp_path: Path) -> None:
    """The write-ahead log moves too, to a name of which nothing is taken."""
    path = tmp_path / "s"
    (tmp_path / "s.corrupt-wal").write_text("of an earlier one")
    for end in ("", "-wal", "-shm"):
        Path(f"{path}{end}").write_text(end)

    assert set_aside(path) == tmp_path / "s.corrupt.1"
    assert {one.name: one.read_text() for one in tmp_path.iterdir()} == {
        "s.corrupt-wal": "of an earlier one",
        "s.corrupt.1": "",
        "s.corrupt.1-wal": "-wal",
        "s.corrupt.1-shm": "-shm",
    }


@pytest.mark.parametrize("statement", ["DELETE FROM meta", "UPDATE meta SET value = 'one'", "DROP TABLE meta"])
def test_a_file_without_a_version_is_not_ours(tmp_path: Path, statement: str) -> None:
    """It is kept aside like a corrupt one."""
    path = tmp_path / "s"
    prepare(path)
    with raw(path) as connection:
        connection.execute(statement)
    prepare(path)

    assert (tmp_path / "s.corrupt").exists()


def test_a_faster_process_is_let_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the tables appear between looking and making, they are taken as they are."""
    path = tmp_path / "s"
    prepare(path)
    monkeypatch.setattr(database, "_version", lambda _: None)
    prepare(path)

    with raw(path) as connection:
        assert connection.execute("SELECT count(*) FROM meta").fetchone() == (1,)


def test_a_disk_that_refuses_is_raised(tmp_path: Path) -> None:
    """It is not the file's fault, so nothing is moved."""
    (tmp_path / "s").mkdir()
    with pytest.raises(DBAPIError):
        prepare(tmp_path / "s")

    assert [one.name for one in tmp_path.iterdir()] == ["s"]
