"""Writes texts of whole exchanges into their folder, in a thread of its own: no request waits for the disk, nor for the masking."""

import logging
import threading
import time
from collections import deque
from datetime import UTC, datetime
from pathlib import Path

from addons.exchangetext import Told, text_of
from home.bodies import Shelf, name_of

WAITING = 64 * 1024 * 1024
"""Bytes that may wait for a disk that is slow or full; exchanges beyond are not kept."""
EVERY = 0.2
"""Seconds that an exchange may wait for others: a thread that wakes for each keeps taking the interpreter from the requests."""
HOUR = 3600.0
"""Seconds after which files are looked through for their age."""
PARTING = 5.0
"""Seconds that the last ones get when the proxy ends."""

logger = logging.getLogger(__name__)


class BodyWriter(threading.Thread):
    """The thread. What goes wrong is said once, and its end too; what is lost is counted."""

    def __init__(self, folder: Path, shelf: Shelf) -> None:
        super().__init__(name="flowpool bodies", daemon=True)
        self._folder = folder
        self._shelf = shelf
        self._waiting: deque[tuple[Told, int]] = deque()
        self._weight = 0
        self._lock = threading.Lock()
        self._news = threading.Event()
        self._over = threading.Event()
        self._trouble = ""
        self._lost = 0
        self._tidied = float("-inf")

    def put(self, told: Told) -> None:
        """Have it written; or lost, rather than make anybody wait."""
        weight = told.record.weight
        with self._lock:
            is_kept = self._weight + weight <= WAITING
            self._weight += weight if is_kept else 0
        if not is_kept:
            self._lose("its disk is too slow")
            return
        self._waiting.append((told, weight))
        self._news.set()

    def run(self) -> None:
        """Write until nothing more will come."""
        while not self._over.is_set():
            self._tidy()
            self._news.wait(HOUR)
            self._news.clear()
            self._over.wait(EVERY)
            self._write()
        self._write()

    def stop(self) -> None:
        """Write the last ones, as far as they can be written soon."""
        self._over.set()
        self._news.set()
        self.join(PARTING)

    def _tidy(self) -> None:
        """Look through the files once an hour, however much is written meanwhile."""
        if time.monotonic() - self._tidied < HOUR:
            return
        self._tidied = time.monotonic()
        try:
            self._shelf.tidy(datetime.now(UTC))
        except OSError as error:
            self._say(error.strerror or type(error).__name__)
        except Exception:  # those that come are written all the same
            logger.exception("flowpool: %s cannot be tidied", self._folder)

    def _write(self) -> None:
        while self._waiting:
            told, weight = self._waiting.popleft()
            try:
                self._one(told)
            except OSError as error:
                self._lose(error.strerror or type(error).__name__)
            except Exception:  # one exchange is lost; those after it are not
                logger.exception("flowpool: an exchange cannot be written down")
            finally:
                with self._lock:
                    self._weight -= weight
            del told

    def _one(self, told: Told) -> None:
        name = name_of(datetime.fromisoformat(told.line["at"]), told.line["id"])
        self._shelf.put(name, text_of(told), datetime.now(UTC))
        if self._trouble:
            logger.warning("flowpool: %s is written again; %d exchanges were not kept", self._folder, self._lost)
            self._trouble, self._lost = "", 0

    def _lose(self, why: str) -> None:
        self._lost += 1
        self._say(why)

    def _say(self, why: str) -> None:
        if why != self._trouble:
            self._trouble = why
            logger.warning(
                "flowpool: [log] bodies: %s cannot be written: %s; requests go on, run: df -h '%s'",
                self._folder,
                why,
                self._folder,
            )
