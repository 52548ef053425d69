"""The log: what a person can follow on the screen, and the same lines in a file that never grows past its bounds.

A request never waits for the disk: a thread of its own writes the file. mitmproxy's word on every connection is left out unless
`[log] level` is debug.
"""

import contextlib
import logging
import queue
import time
from io import TextIOWrapper
from logging.handlers import QueueHandler, QueueListener, RotatingFileHandler
from pathlib import Path

LINES = "%(asctime)s.%(msecs)03dZ %(levelname)s %(message)s"
MOST = 4 * 1024 * 1024
"""Bytes of one file; with KEPT older ones beside it."""
KEPT = 4
WAITING = 10_000
"""Lines that may wait for a disk that is slow or full; more are dropped."""
CONNECTIONS = "mitmproxy.proxy.server"


class LogFile:
    """Writes every log line from the configured level on into the file."""

    name = "flowpool_logfile"

    def __init__(self, path: Path, level: str) -> None:
        self._path = path
        self._level = level.upper()
        self._lines: queue.Queue[logging.LogRecord] = queue.Queue(WAITING)
        self._handler = _Droppable(self._lines)
        self._listener: QueueListener | None = None

    def load(self, _loader: object) -> None:
        """Begin before the servers do, so that what goes wrong at the start is in the file too."""
        if self._level != "DEBUG":
            logging.getLogger(CONNECTIONS).setLevel(logging.WARNING)
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            file = _PrivateFile(self._path, maxBytes=MOST, backupCount=KEPT, delay=True)
        except OSError as e:
            logging.getLogger(__name__).warning("flowpool: no log file: %s", e)
            return
        file.setFormatter(_Utc(LINES, "%Y-%m-%dT%H:%M:%S"))
        self._handler.setLevel(self._level)
        self._listener = QueueListener(self._lines, file)
        self._listener.start()
        logging.getLogger().addHandler(self._handler)

    def done(self) -> None:
        """Write what waits, and end."""
        logging.getLogger().removeHandler(self._handler)
        if self._listener is None:
            return
        while self._lines.full():  # the word to stop needs a place in the queue
            self._lines.get_nowait()
        self._listener.stop()
        for file in self._listener.handlers:
            file.close()
        self._listener = None


class _Droppable(QueueHandler):
    """Loses lines rather than make anybody wait."""

    def enqueue(self, record: logging.LogRecord) -> None:
        """Put the record in the queue while there is room."""
        with contextlib.suppress(queue.Full):
            self.queue.put_nowait(record)


class _PrivateFile(RotatingFileHandler):
    """A file that its owner alone can read."""

    def _open(self) -> TextIOWrapper:
        Path(self.baseFilename).touch(mode=0o600)
        return super()._open()


class _Utc(logging.Formatter):
    """Says times in UTC."""

    converter = staticmethod(time.gmtime)
