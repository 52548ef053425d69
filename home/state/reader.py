"""What the state tells without a proxy: read as it stands, and without SQLAlchemy, whose import takes longer than all of it."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from credentials.renewal import Renewal
from home.state.errors import NewerState, StateError
from home.state.ledger import line_of
from home.state.moments import of_text, to_text
from home.state.rows import Row, remembered_of
from home.state.stories import story_of
from home.state.version import VERSION
from routing.remembered import Remembered
from routing.words import AccountId

BUSY = 2.0  # seconds; a reader of this kind of file waits only while it is being made

_MOMENTS = frozenset(
    {"at", "until", "asked_until", "rest_until"}
)  # columns that hold one, and those whose names end so
_MOMENT = "_at"
_SELECTS = {
    "readings": "SELECT * FROM readings",
    "holds": "SELECT * FROM holds",
    "health": "SELECT * FROM health",
    "checks": "SELECT * FROM checks",
    "lifetimes": "SELECT * FROM lifetimes",
    "sticks": "SELECT * FROM sticks",
    "lines": "SELECT * FROM lines",
    "capacities": "SELECT * FROM capacities",
    "pins": "SELECT * FROM pins",
    "gauges": "SELECT * FROM gauges",
}
_LATER = frozenset(
    {"checks", "lifetimes", "capacities", "pins", "gauges"}
)  # tables that a file may lack until a proxy opens it
_NAMES = "SELECT name FROM sqlite_master WHERE type = 'table'"
_LATEST = "SELECT * FROM requests ORDER BY seq DESC LIMIT ?"
_AFTER = """
SELECT * FROM requests WHERE seq > (SELECT max(seq) FROM requests WHERE id = ?) ORDER BY seq LIMIT ?
"""
_HISTORY = "SELECT * FROM reading_history WHERE account = ? AND window_key = ? AND taken_at >= ? ORDER BY taken_at"
_BEGIN = "SELECT * FROM requests WHERE id >= ? AND id < ? ORDER BY seq DESC LIMIT ?"
_TALKS = "SELECT DISTINCT conversation FROM requests WHERE substr(conversation, 1, length(?1)) = ?1 LIMIT ?2"
_HAS_STORIES = "SELECT 1 FROM sqlite_master WHERE name = 'stories'"  # an older file has no such table
_HAS_RENEWALS = "SELECT 1 FROM sqlite_master WHERE name = 'renewals'"  # an older file has no such table


def remembered(path: Path) -> Remembered:
    """Read what the last run remembered; nothing when there is no file. Raises StateError."""
    with _open(path) as connection:
        if connection is None:
            return Remembered()
        lacking = _LATER - {name for (name,) in connection.execute(_NAMES)}
        found = {name: [] if name in lacking else _rows(connection, select) for name, select in _SELECTS.items()}
        return remembered_of(found)


def requests(path: Path, most: int = 50) -> list[dict[str, Any]]:
    """List the latest requests as lines of the ledger, the oldest first. Raises StateError."""
    with _open(path) as connection:
        return [] if connection is None else [line_of(row) for row in reversed(_rows(connection, _LATEST, most))]


def requests_after(path: Path, request: str, most: int = 1_000) -> list[dict[str, Any]]:
    """List what was entered after a request, the oldest first; nothing when it is not known. Raises StateError."""
    with _open(path) as connection:
        return [] if connection is None else [line_of(row) for row in _rows(connection, _AFTER, request, most)]


def requests_like(path: Path, beginning: str, most: int) -> list[dict[str, Any]]:
    """List the latest requests whose ids begin so, as lines of the ledger, the latest first. Raises StateError."""
    with _open(path) as connection:
        found = [] if connection is None else _rows(connection, _BEGIN, beginning, f"{beginning}~", most)
        return [line_of(row) for row in found]


def conversations_like(path: Path, beginning: str, most: int = 100) -> list[str]:
    """List conversations of the ledger whose ids begin so. Raises StateError."""
    with _open(path) as connection:
        found = [] if connection is None else connection.execute(_TALKS, (beginning, most)).fetchall()
        return [row["conversation"] for row in found]


def story(path: Path, request: str) -> dict[str, Any] | None:
    """Tell how a request came to where it went; None when that is not kept any more. Raises StateError."""
    with _open(path) as connection:
        if connection is None or not connection.execute(_HAS_STORIES).fetchone():
            return None
        found = _rows(connection, "SELECT * FROM stories WHERE id = ? ORDER BY seq DESC LIMIT 1", request)
    return story_of(found[0]) if found else None


def history(path: Path, account: str, window: str, since: datetime) -> list[Row]:
    """List a window's points since then, the oldest first. Raises StateError."""
    with _open(path) as connection:
        return [] if connection is None else _rows(connection, _HISTORY, account, window, to_text(since))


def renewals(path: Path) -> dict[AccountId, Renewal]:
    """Tell how the last try to renew each account's login ended; nothing where none was made. Raises StateError."""
    with _open(path) as connection:
        if connection is None or not connection.execute(_HAS_RENEWALS).fetchone():
            return {}
        rows = _rows(connection, "SELECT * FROM renewals")
    return {AccountId(row.pop("account")): Renewal(**row) for row in rows if row["at"] is not None}


@contextmanager
def _open(path: Path) -> Iterator[sqlite3.Connection | None]:
    if not path.exists():
        yield None
        return
    try:
        # A file's address escapes what has a meaning in addresses: %, ? and #.
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=BUSY)) as connection:
            connection.row_factory = sqlite3.Row
            yield connection if _is_ours(connection, path) else None
    except sqlite3.Error as error:
        raise StateError(f"{path} cannot be read: {error}; run: ls -l '{path}'") from error


def _is_ours(connection: sqlite3.Connection, path: Path) -> bool:
    """Whether the tables are there; a proxy may be making them just now."""
    if not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
        return False
    found = connection.execute("SELECT value FROM meta WHERE name = 'schema'").fetchone()
    if found is not None and int(found[0]) > VERSION:
        raise NewerState(path, int(found[0]), VERSION)
    return True


def _rows(connection: sqlite3.Connection, select: str, *values: Any) -> list[Row]:
    return [
        {name: of_text(row[name]) if name in _MOMENTS or name.endswith(_MOMENT) else row[name] for name in row.keys()}  # noqa: SIM118  # of values
        for row in connection.execute(select, values)
    ]
