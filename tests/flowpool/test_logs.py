"""`flowpool logs` shows the last lines of the log file, and follows it."""

from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

import pytest

from flowpool import logs
from tests.flowpool.cli import Shell


def write(path: Path, *lines: str) -> None:
    """Add lines to a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.write("".join(f"{line}\n" for line in lines))


def add_anew(path: Path) -> None:
    """Begin the file anew, as rotating does."""
    path.write_text("a\n", encoding="utf-8")


def add(path: Path, text: str) -> None:
    """Add text that is not a whole line."""
    with path.open("a", encoding="utf-8") as file:
        file.write(text)


def test_the_last_lines_are_shown(shell: Shell) -> None:
    """As many as were asked for, from the file before as well when the newest has just begun."""
    log = shell.home / "logs" / "flowpool.log"
    write(log.with_name("flowpool.log.1"), "one", "two", "three")
    write(log, "four", "fünf")

    assert shell.run("logs", "-n", "4").stdout.splitlines() == ["two", "three", "four", "fünf"]
    assert shell.run("logs", "-n", "1").stdout == "fünf\n"
    assert shell.run("logs", "-n", "0").stdout == ""


def test_without_a_log_it_says_how_to_get_one(shell: Shell) -> None:
    """One line, exit 1."""
    err = shell.run("logs", code=1).stderr

    assert err.count("\n") == 1
    assert "flowpool serve" in err


def test_new_lines_are_followed_also_into_a_new_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each line once and whole, however it is written; a file that was begun anew is read from its start."""
    log = tmp_path / "flowpool.log"
    write(log, "old")
    steps: Iterator[Callable[[], None]] = iter(
        [
            lambda: write(log, "first"),
            lambda: add(log, "sec"),
            lambda: write(log, "ond"),
            lambda: add_anew(log),
            lambda: None,
        ]
    )
    monkeypatch.setattr("flowpool.logs.time.sleep", lambda _: next(steps)())

    assert list(islice(logs.new_lines(log), 3)) == ["first", "second", "a"]
