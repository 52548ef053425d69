"""Redact: no credential in any line of any log, whoever writes it.

mitmproxy logs malformed requests as they came, before any hook has seen them. Every log record is made by one factory, so a record
that redacts its own text covers all handlers, those of other addons too.
"""

import logging
import traceback
from typing import Any

from credentials.redaction import redacted

_TEXT = "flowpool_text"


class RedactedRecord(logging.LogRecord):
    """A log record whose text and traceback hold no credential."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.exc_info and self.exc_info[0] is not None:
            self.exc_text = redacted("".join(traceback.format_exception(*self.exc_info)).rstrip())

    def getMessage(self) -> str:  # noqa: N802 - the parent's name
        """Format the message, redacted; every handler asks, and all get the same."""
        text: str | None = self.__dict__.get(_TEXT)
        if text is None:
            text = self.__dict__[_TEXT] = redacted(super().getMessage())
        return text


def install() -> None:
    """Make every record from now on a redacted one."""
    logging.setLogRecordFactory(RedactedRecord)
