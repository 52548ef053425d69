"""Trouble with the disk is said once."""

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy.exc import OperationalError

from home.state.trouble import Trouble, reason

FULL = OperationalError(
    "INSERT INTO requests", {"path": "/secret"}, sqlite3.OperationalError("database or disk is full")
)


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        ([lambda t: t.over(0)], []),
        ([lambda t: t.met(FULL), lambda t: t.met(FULL)], ["cannot be written: database or disk is full"]),
        ([lambda t: t.met(FULL), lambda t: t.over(0), lambda t: t.over(0)], ["cannot be written", "is written again"]),
        ([lambda t: t.drops(0)], []),
        (
            [lambda t: t.drops(3), lambda t: t.drops(9), lambda t: t.over(9)],
            ["too far behind", "again; 9 rows were lost"],
        ),
        ([lambda t: t.drops(3), lambda t: t.over(3), lambda t: t.drops(3)], ["too far behind", "3 rows were lost"]),
        ([lambda t: t.met(FULL), lambda t: t.met(OSError(5, "broken"))], ["is full", "broken"]),
    ],
)
def test_it_speaks_when_something_changes(
    steps: list[Callable[[Trouble], None]], said: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    """However long it lasts, its begin and its end are one line each."""
    trouble = Trouble(Path("/state"))
    for step in steps:
        step(trouble)

    lines = [record.getMessage() for record in caplog.records]
    assert len(lines) == len(said)
    assert all(part in line for part, line in zip(said, lines, strict=True))


def test_nothing_that_was_to_be_written_is_said() -> None:
    """Neither the statement nor its values are quoted."""
    assert reason(FULL) == "database or disk is full"
    assert reason(OSError("only a text")) == "OSError"
    assert reason(ValueError("/secret")) == "a fault of flowpool's own, ValueError"
