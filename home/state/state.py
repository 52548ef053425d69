"""The state of a running proxy: what was remembered, and what is new, on its way to the disk."""

import threading
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy.exc import DBAPIError

from home.state.backlog import Backlog
from home.state.database import is_busy, is_corrupt, prepare, replace
from home.state.errors import StateError
from home.state.retention import MOST_REQUESTS
from home.state.sampling import Sampler
from home.state.stories import Story
from home.state.trouble import Trouble
from home.state.writer import Writer, read
from routing.remembered import Remembered

PATIENCE = 5.0  # seconds that closing waits for the last write
TRIES = 10  # to open a file that is locked, a second each


def utc_now() -> datetime:
    """Read the wall clock."""
    return datetime.now(UTC)


class State:
    """`put`, `enter` and `tell` never wait and never raise; what cannot be written now is written later.

    remembered: what the file told when it was opened.
    """

    def __init__(
        self,
        path: Path,
        *,
        clock: Callable[[], datetime] = utc_now,
        backlog: Backlog | None = None,
        most_requests: int = MOST_REQUESTS,
    ) -> None:
        """Open the file, a fresh one if it is corrupt. Raises StateError when it must be left as it is."""
        self.remembered = load(path)
        self._backlog = Backlog() if backlog is None else backlog
        self._sampler = Sampler()
        self._writer = Writer(path, self._backlog, clock, most_requests)
        self._thread = threading.Thread(target=self._writer.run, name="flowpool-state", daemon=True)
        self._thread.start()

    def put(self, remembered: Remembered) -> None:
        """Take the Router's newest picture; only the difference is written."""
        self._backlog.put(remembered, self._sampler.pick(remembered.readings))

    def enter(self, line: Mapping[str, Any]) -> None:
        """Take one request's line for the ledger."""
        self._backlog.enter(line)

    def tell(self, story: Story) -> None:
        """Take how one request came to where it went."""
        self._backlog.tell(story)

    def flush(self, timeout: float = PATIENCE) -> bool:
        """Wait until all that was taken is on the disk; False when it took longer."""
        return self._backlog.flush(timeout)

    def close(self, patience: float = PATIENCE) -> bool:
        """Write what is left and end; False when that took longer, and it is lost."""
        self._backlog.close()
        self._thread.join(patience)
        return not self._thread.is_alive()


def load(path: Path) -> Remembered:
    """Read what the file tells, a fresh one if it is corrupt; nothing, and said so, when the disk refuses.

    Raises StateError when it must be left as it is.
    """
    for _ in range(TRIES):
        try:
            with prepare(path).connect() as connection:
                return read(connection)
        except (DBAPIError, OSError) as error:
            if is_corrupt(error):
                replace(path)
            elif not is_busy(error):
                Trouble(path).met(error)
                return Remembered()
    raise StateError(f"{path} is locked by another process; run: fuser -v '{path}'")
