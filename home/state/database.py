"""The file of the state: opened for us alone, with the tables that we know, or moved aside."""

import logging
import os
import sqlite3
from contextlib import suppress
from functools import partial
from pathlib import Path

from sqlalchemy import Connection, Engine, NullPool, create_engine, inspect, select
from sqlalchemy.exc import DBAPIError

from credentials.files import PRIVATE_FILE, make_folder
from home.state import tables
from home.state.errors import NewerState
from home.state.version import VERSION

logger = logging.getLogger(__name__)

BUSY = 1.0  # seconds that one try waits for another process's lock; the writer tries again
_BESIDE = ("-wal", "-shm", "-journal")


def prepare(path: Path) -> Engine:
    """Make the file fit to use, a fresh one where it is missing or corrupt.

    Raises NewerState, and DBAPIError or OSError when the disk does not let us.
    """
    try:
        return _opened(path)
    except DBAPIError as error:
        if not is_corrupt(error):
            raise
    except _Foreign:
        pass
    replace(path)
    return _opened(path)


def replace(path: Path) -> None:
    """Keep a corrupt file aside, say so, and let a fresh one begin."""
    logger.warning("flowpool: %s was corrupt; it is kept as %s, and a fresh one begins", path, set_aside(path))


class _Foreign(Exception):  # noqa: N818  # never leaves this module
    """The file holds tables, but not our word on them."""


def is_corrupt(error: BaseException) -> bool:
    """Whether the file, and not its surroundings, is to blame."""
    return _code(error) in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def is_busy(error: BaseException) -> bool:
    """Whether another process keeps it locked."""
    return _code(error) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def _code(error: BaseException) -> int:
    orig = error.orig if isinstance(error, DBAPIError) else error
    code = getattr(orig, "sqlite_errorcode", 0)
    return code & 0xFF if isinstance(code, int) else 0  # the low byte is the kind, the rest tells it closer


def set_aside(path: Path) -> Path:
    """Rename a file with what SQLite keeps beside it, to a name that nothing has."""
    count, target = 0, path.with_name(f"{path.name}.corrupt")
    while any(os.path.lexists(f"{target}{end}") for end in ("", *_BESIDE)):
        count += 1
        target = path.with_name(f"{path.name}.corrupt.{count}")
    for end in (*_BESIDE, ""):  # a log that stayed behind must not meet the fresh file
        with suppress(FileNotFoundError):
            Path(f"{path}{end}").replace(f"{target}{end}")
    return target


def _opened(path: Path) -> Engine:
    _make(path)
    # A function opens it, so no character of the path is taken for part of an address.
    engine = create_engine("sqlite://", creator=partial(_connect, path), poolclass=NullPool)
    with engine.connect() as connection:
        found = _version(connection)
        connection.rollback()
        if found is not None and found > VERSION:
            raise NewerState(path, found, VERSION)
        connection.exec_driver_sql("PRAGMA journal_mode = WAL")
        if found is None:
            _create(connection)
        elif not tables.METADATA.tables.keys() <= set(inspect(connection).get_table_names()):
            _complete(connection)
    return engine


def _make(path: Path) -> None:
    """Let the file be there, for us alone; SQLite gives what it keeps beside it the same mode."""
    make_folder(path.parent)
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE_FILE))
    except FileExistsError:
        if os.name == "posix" and path.stat().st_mode & 0o077:
            path.chmod(PRIVATE_FILE)


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=BUSY, isolation_level="IMMEDIATE")
    try:
        connection.execute("PRAGMA synchronous = NORMAL")  # with WAL: a power cut may cost a second, never the file
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _version(connection: Connection) -> int | None:
    """The schema's version, None when there are no tables at all."""
    names = inspect(connection).get_table_names()
    if not names:
        return None
    if tables.META.name not in names:
        raise _Foreign
    value = connection.scalar(select(tables.META.c.value).where(tables.META.c.name == "schema"))
    if not isinstance(value, str) or not value.isdecimal():
        raise _Foreign
    return int(value)


def _complete(connection: Connection) -> None:
    """Add the tables that an older file of the same version lacks; nothing of what is there is touched."""
    connection.rollback()
    connection.exec_driver_sql("BEGIN IMMEDIATE")
    tables.METADATA.create_all(connection)
    connection.commit()


def _create(connection: Connection) -> None:
    connection.exec_driver_sql("BEGIN IMMEDIATE")  # Python begins none for a CREATE
    if not inspect(connection).get_table_names():  # another process may have been faster
        tables.METADATA.create_all(connection)
        connection.execute(tables.META.insert(), {"name": "schema", "value": str(VERSION)})
    connection.commit()
