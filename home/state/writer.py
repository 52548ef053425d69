"""The thread that writes: each batch is one transaction, tried until the disk takes it."""

import logging
import os
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, select
from sqlalchemy.exc import DBAPIError, OperationalError

from home.state import changes, ledger, retention, rows
from home.state.backlog import Backlog, Batch
from home.state.database import is_busy, is_corrupt, prepare, replace
from home.state.errors import StateError
from home.state.ledger import Line
from home.state.stories import Story, row_of
from home.state.tables import HISTORY, METADATA, REQUESTS, STORIES
from home.state.trouble import Trouble
from routing.remembered import Remembered

logger = logging.getLogger(__name__)

BEHIND = 1.0  # seconds that a request may wait for company
PAUSE = 1.0  # seconds between two tries when the disk refuses
TIDY = 3600.0  # seconds between two looks for what is too old
FIRST_TIDY = 60.0  # seconds after the start, which has enough to do


class Writer:
    """Owns the connection; whatever fails, what it holds is the newest picture and one batch."""

    def __init__(self, path: Path, backlog: Backlog, clock: Callable[[], datetime], most: int) -> None:
        self._path, self._backlog, self._clock, self._most = path, backlog, clock, most
        self._trouble = Trouble(path)
        self._connection: Connection | None = None
        self._file: tuple[int, int] | None = None
        self._written = Remembered()
        self._newest: Remembered | None = None
        self._tidy_at = time.monotonic() + FIRST_TIDY

    def run(self) -> None:
        """Write until the backlog is closed and empty."""
        while True:
            batch = self._backlog.take(BEHIND)
            if batch is not None:
                self._deliver(batch)
            elif self._backlog.is_closed:
                self._disconnect()
                return
            elif time.monotonic() >= self._tidy_at:
                self._tidy_at = time.monotonic() + TIDY
                self.tidy()

    def tidy(self) -> None:
        """Delete what is too old; what comes meanwhile is written between two steps."""
        for step in retention.steps(self._clock(), self._most):
            while self._try(step):
                batch = self._backlog.take(0)
                if batch is not None:
                    self._deliver(batch)

    def _try(self, step: retention.Step) -> bool:
        """Whether there may be more of it; a disk that refuses is asked again in an hour."""
        try:
            connection = self._connected()
            with connection.begin():
                return step(connection) > 0
        except (DBAPIError, OSError, StateError) as error:
            logger.info("flowpool: %s was not tidied: %s", self._path, error)
            return False

    def _deliver(self, batch: Batch) -> None:
        try:
            self._newest = batch.picture or self._newest
            while not self._is_written(batch):
                self._trouble.drops(self._backlog.dropped())
                self._newest = self._backlog.newer() or self._newest
        except Exception as error:  # whatever it is, the next batch may be sound
            self._trouble.met(error)
            logger.debug("state", exc_info=True)
        else:
            self._trouble.drops(self._backlog.dropped())
        finally:
            self._backlog.done()

    def _is_written(self, batch: Batch) -> bool:
        """Try once; True also when there is no more time to try again."""
        try:
            connection = self._connected()
            with connection.begin():
                self._write(connection, batch)
        except (OperationalError, OSError, StateError) as error:
            return self._wait(error)
        except DBAPIError as error:
            if not is_corrupt(error):
                raise
            self._disconnect()
            replace(self._path)
            return False
        self._written = self._newest or self._written
        self._trouble.over(self._backlog.dropped())
        return True

    def _wait(self, error: Exception) -> bool:
        if is_busy(error):  # it was waited for already
            return False
        self._trouble.met(error)
        self._disconnect()
        if self._backlog.is_closed:
            return True
        self._backlog.pause(PAUSE)
        return False

    def _write(self, connection: Connection, batch: Batch) -> None:
        if self._newest is not None and self._newest is not self._written:
            changes.write(connection, self._written, self._newest)
        if batch.samples:
            connection.execute(HISTORY.insert(), [rows.sample_row(key, reading) for key, reading in batch.samples])
        lines = list(_rows(batch.lines))
        if lines:
            connection.execute(REQUESTS.insert(), lines)
        told = list(_told(batch.stories))
        if told:
            connection.execute(STORIES.insert(), told)

    def _connected(self) -> Connection:
        """The connection, a new one when the file was taken away."""
        if self._connection is None or self._file != identity(self._path):
            self._disconnect()
            self._connection = prepare(self._path).connect()
            self._file = identity(self._path)
            self._written = read(self._connection)
        return self._connection

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(DBAPIError):
                connection.close()


def read(connection: Connection) -> Remembered:
    """Read what the tables tell."""
    with connection.begin():
        return rows.remembered_of({name: _all(connection, name) for name in rows.TABLES})


def _all(connection: Connection, name: str) -> Iterable[Any]:
    return connection.execute(select(METADATA.tables[name])).mappings().all()


def _rows(lines: Iterable[Line]) -> Iterable[ledger.Row]:
    for line in lines:
        with suppress(ValueError, TypeError, OverflowError):  # one odd request must not cost the others
            yield ledger.row_of(line)


def _told(stories: Iterable[Story]) -> Iterable[ledger.Row]:
    for story in stories:
        try:
            yield row_of(story)
        except Exception as error:  # noqa: BLE001  # what cannot be told must not cost what can be written
            logger.info("flowpool: how request %s went is not kept: %s", story.id, type(error).__name__)


def identity(path: Path) -> tuple[int, int] | None:
    """Tell one file from another of the same name."""
    try:
        found = os.stat(path)  # noqa: PTH116  # asked for each batch; a Path takes three times as long
    except OSError:
        return None
    return found.st_dev, found.st_ino
