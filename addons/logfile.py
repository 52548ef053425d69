"""The log: what a person can follow on the screen, and the same lines in a file that never grows past its bounds.

A request never waits for the disk: a thread of its own writes the file. It looks ten times a second for what there is, because a
thread that wakes for every line keeps taking the interpreter from the requests. mitmproxy's word on every connection is left out
unless `[log] level` is debug.
"""

import contextlib
import logging
import os
import sys
import threading
import time
from collections import deque
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path

LINES = "%(asctime)s.%(msecs)03dZ %(levelname)s %(message)s"
MOST = 4 * 1024 * 1024
"""Bytes of one file; with KEPT older ones beside it."""
KEPT = 4
WAITING = 10_000
"""Lines that may wait for a disk that is slow or full; more are dropped."""
EVERY = 0.1
"""Seconds between two looks at what waits."""
CONNECTIONS = "mitmproxy.proxy.server"

logger = logging.getLogger(__name__)


class LogFile:
    """Writes every log line from the configured level on into the file."""

    name = "flowpool_logfile"

    def __init__(self, path: Path, level: str) -> None:
        self._path = path
        self._level = level.upper()
        self._lines = _Lines()
        self._lines.setLevel(self._level)
        self._writer: _Writer | None = None

    def load(self, _loader: object) -> None:
        """Begin before the servers do, so that what goes wrong at the start is in the file too."""
        if self._level != "DEBUG":
            logging.getLogger(CONNECTIONS).setLevel(logging.WARNING)
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            file = _PrivateFile(self._path, maxBytes=MOST, backupCount=KEPT, delay=True)
        except OSError as e:
            logger.warning("flowpool: no log file: %s", e)
            return
        file.setFormatter(_Utc(LINES, "%Y-%m-%dT%H:%M:%S"))
        self._writer = _Writer(self._lines, file)
        self._writer.start()
        logging.getLogger().addHandler(self._lines)

    def say(self, text: str) -> None:
        """Put a line on stderr, which starters read, and into the file; on the screen the log would only repeat it."""
        print(text, file=sys.stderr, flush=True)  # noqa: T201
        record = logger.makeRecord(logger.name, logging.INFO, __file__, 0, text, (), None)
        if record.levelno >= self._lines.level:
            self._lines.handle(record)

    def done(self) -> None:
        """Write what waits, and end."""
        logging.getLogger().removeHandler(self._lines)
        if self._writer is not None:
            self._writer.stop()
            self._writer = None


class _Lines(logging.Handler):
    """Lines that wait for the disk; loses some rather than make anybody wait."""

    def __init__(self) -> None:
        super().__init__()
        self.waiting: deque[logging.LogRecord] = deque()

    def emit(self, record: logging.LogRecord) -> None:
        """Keep the record while there is room; its text is made now, for what it speaks of may change."""
        if len(self.waiting) < WAITING:
            record.getMessage()
            self.waiting.append(record)


class _Writer(threading.Thread):
    """Writes what waits."""

    def __init__(self, lines: _Lines, file: logging.Handler) -> None:
        super().__init__(name="flowpool log", daemon=True)
        self._lines = lines
        self.file = file
        self._over = threading.Event()

    def run(self) -> None:
        """Write until nothing more will come."""
        while not self._over.wait(EVERY):
            self._write()
        self._write()

    def _write(self) -> None:
        waiting = self._lines.waiting
        while waiting:
            self.file.handle(waiting[0])
            waiting.popleft()

    def stop(self) -> None:
        """Write the last lines, and close the file."""
        self._over.set()
        self.join()
        with contextlib.suppress(OSError):  # a full disk takes no last line either
            self.file.close()


class _PrivateFile(RotatingFileHandler):
    """A file that its owner alone can read.

    While the disk refuses lines are lost, which is said once; each new line tries the file anew.
    """

    _said = ""
    _is_lost = False

    def emit(self, record: logging.LogRecord) -> None:
        """Write the line, or lose it."""
        self._is_lost = False
        super().emit(record)
        if self._said and not self._is_lost:
            self._said = ""
            logger.warning("flowpool: %s is written again", self.baseFilename)

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - the parent's name
        """Say what the disk said; what it took of the line is left, and so is the open file."""
        error = sys.exception()
        if not isinstance(error, OSError):
            super().handleError(record)
            return
        self._is_lost = True
        stream, self.stream = self.stream, None  # the parent opens it when it is None
        with contextlib.suppress(OSError):
            if stream is not None:
                stream.close()
        why = error.strerror or type(error).__name__
        if why != self._said:
            self._said = why
            folder = Path(self.baseFilename).parent
            logger.warning(
                "flowpool: %s cannot be written: %s; requests go on, run: df -h '%s'", self.baseFilename, why, folder
            )

    def shouldRollover(self, record: logging.LogRecord) -> int:  # noqa: N802 - the parent's name
        """Whether the file is full; the one that is, if the proxy before or after this one has put another in its place."""
        if self.stream is not None and not self._is_current(self.stream):
            self.stream.close()
            self.stream = None
        return super().shouldRollover(record)

    def _is_current(self, stream: TextIOWrapper) -> bool:
        try:
            return os.path.samestat(os.fstat(stream.fileno()), os.stat(self.baseFilename))  # noqa: PTH116 - asked for each line
        except OSError:
            return False

    def _open(self) -> TextIOWrapper:
        Path(self.baseFilename).touch(mode=0o600)
        return super()._open()


class _Utc(logging.Formatter):
    """Says times in UTC."""

    converter = staticmethod(time.gmtime)
