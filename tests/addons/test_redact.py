"""addons/redact.py: no credential in any line of any log."""

from __future__ import annotations

import io
import logging
from collections.abc import Iterator

import pytest

from addons.redact import install
from credentials.redaction import MASKED

TOKEN = "sk-ant-oat01-TEST-client-0001"


@pytest.fixture
def log() -> Iterator[tuple[logging.Logger, io.StringIO]]:
    """A logger with a plain handler, as any addon may have, and what it writes."""
    before = logging.getLogRecordFactory()
    install()
    text, logger = io.StringIO(), logging.getLogger("tests.redact")
    handler = logging.StreamHandler(text)
    logger.addHandler(handler)
    yield logger, text
    logger.removeHandler(handler)
    logging.setLogRecordFactory(before)


def test_every_handler_gets_the_redacted_line(log: tuple[logging.Logger, io.StringIO]) -> None:
    """Messages, their arguments and tracebacks: nothing of the token is written by a handler that knows nothing of it."""
    logger, text = log

    logger.warning("refused %s", TOKEN)
    try:
        int(TOKEN)
    except ValueError:
        logger.exception("a fault with %s", {"authorization": TOKEN})
    assert TOKEN not in text.getvalue()
    assert text.getvalue().count(MASKED) >= 3
    assert "Traceback" in text.getvalue()
