"""What is said when the disk refuses: once when it begins, once when it is over."""

import logging
from pathlib import Path

from sqlalchemy.exc import DBAPIError

logger = logging.getLogger(__name__)


class Trouble:
    """Speaks only when something changes; requests go on meanwhile."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._said = ""
        self._dropped = 0

    def met(self, error: BaseException) -> None:
        """The state could not be written."""
        why = reason(error)
        if why != self._said:
            self._said = why
            logger.warning(
                "flowpool: %s cannot be written: %s; requests go on, run: df -h '%s'",
                self._path,
                why,
                self._path.parent,
            )

    def drops(self, count: int) -> None:
        """So many rows of the history and the ledger were lost to full queues so far; said once until it is over."""
        if count > self._dropped and self._said != "full":
            self._said = "full"
            logger.warning("flowpool: %s is too far behind; the oldest rows of its ledger are dropped", self._path)

    def over(self, count: int) -> None:
        """It was written."""
        if self._said:
            lost = count - self._dropped
            logger.warning("flowpool: %s is written again%s", self._path, f"; {lost} rows were lost" if lost else "")
        self._said, self._dropped = "", count


def reason(error: BaseException) -> str:
    """Say what went wrong in a few words, and nothing of what was to be written."""
    if isinstance(error, DBAPIError):
        return str(error.orig)
    if isinstance(error, OSError):
        return error.strerror or type(error).__name__
    return f"a fault of flowpool's own, {type(error).__name__}"
