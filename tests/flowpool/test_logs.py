"""`flowpool logs` shows the last lines of the log file, and follows it."""

import logging
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

import pytest

from addons.logfile import LINES
from flowpool import logs
from home.paths import Home
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


def asked(number: int) -> str:
    """A request's own line, as the proxy writes it."""
    return f'2026-11-30T17:00:00.{number:03}Z INFO {{"id":"{number}","note":"for programs"}}'


SAID = [
    "2026-11-30T17:00:00.000Z INFO flowpool: it began",
    '2026-11-30T17:00:01.000Z WARNING {"odd',
    "  File {x}",
    "{",
    "",
]


def test_what_single_requests_wrote_is_left_out(shell: Shell) -> None:
    """What people read would drown in it; as many lines as were asked for are found behind it, in older files, too."""
    log = shell.home / "logs" / "flowpool.log"
    write(log.with_name("flowpool.log.2"), *SAID)
    write(log.with_name("flowpool.log.1"), *map(asked, range(60)))
    write(log, asked(61), "the last", asked(62))

    assert shell.run("logs").stdout.splitlines() == [*SAID, "the last"]
    assert shell.run("logs", "-n", "2").stdout.splitlines() == ["", "the last"]
    assert shell.run("logs", "--all", "-n", "2").stdout.splitlines() == ["the last", asked(62)]
    assert len(shell.run("logs", "--all", "-n", "99").stdout.splitlines()) == 60 + len(SAID) + 3


def test_where_there_is_nothing_else_that_is_said(shell: Shell) -> None:
    """An empty screen would look like a fault."""
    write(shell.home / "logs" / "flowpool.log", asked(1))

    assert shell.run("logs").stderr == "flowpool: it said nothing but of single requests; run: flowpool requests\n"
    assert shell.run("logs", "-n", "0").stderr == shell.run("logs", "--all").stderr == ""


@pytest.mark.parametrize(("more", "shown"), [((), ["said"]), (("--all",), [asked(2), "said"])])
def test_what_is_followed_is_what_is_shown(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    more: tuple[str, ...],
    shown: list[str],
) -> None:
    """By the same rule."""
    log = tmp_path / "logs" / "flowpool.log"
    write(log, asked(1))
    monkeypatch.setattr(logs, "new_lines", lambda _: iter([asked(2), "said"]))
    logs.logs.main(
        ["-f", "-n", "0", *more], standalone_mode=False, obj=Home(config_folder=tmp_path, state_folder=tmp_path)
    )

    assert capsys.readouterr().out.splitlines() == shown


def test_a_requests_line_is_known_by_what_writes_it() -> None:
    """The line of the log as it is."""
    record = logging.LogRecord("flowpool.requests", logging.INFO, "", 1, "%s", ('{"id":"a"}',), None)
    line = logging.Formatter(LINES, "%Y-%m-%dT%H:%M:%S").format(record)

    assert not logs.is_said(line)
    assert logs.is_said(line.replace("INFO", "ERROR"))


def test_without_a_log_it_says_how_to_get_one(shell: Shell) -> None:
    """One line, exit 1."""
    err = shell.run("logs", code=1).stderr

    assert err.count("\n") == 1
    assert "flowpool start" in err


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
