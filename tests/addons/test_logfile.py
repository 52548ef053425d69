"""addons/logfile.py: the log in a file of bounded size, private, and never in anybody's way."""

from __future__ import annotations

import logging
import re
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from addons import logfile
from addons.logfile import CONNECTIONS, KEPT, LogFile

LOGGER = logging.getLogger("tests.logfile")


@pytest.fixture(autouse=True)
def _levels() -> Iterator[None]:
    """The root lets everything through; what the addon sets is undone."""
    root, connections = logging.getLogger(), logging.getLogger(CONNECTIONS)
    before = root.level, connections.level
    root.setLevel(logging.DEBUG)
    yield
    root.setLevel(before[0])
    connections.setLevel(before[1])


def _written(log: LogFile) -> None:
    """Return once nothing waits for the disk."""
    end = time.monotonic() + 10
    while log._lines.waiting:
        assert time.monotonic() < end
        time.sleep(logfile.EVERY / 10)


def test_each_line_has_its_time_and_level(tmp_path: Path) -> None:
    """UTC to the millisecond; the file is its owner's alone, and so is its folder."""
    path = tmp_path / "logs" / "flowpool.log"
    log = LogFile(path, "info")
    log.load(None)
    LOGGER.info("served by %s", "work")
    LOGGER.debug("too low")
    log.done()
    LOGGER.info("after the end")

    (line,) = path.read_text().splitlines()
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z INFO served by work", line)
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize(("level", "shown"), [("debug", True), ("info", False)])
def test_mitmproxys_word_on_connections_is_for_debugging(tmp_path: Path, level: str, shown: bool) -> None:
    """At info a reader sees requests, and not each connection's coming and going."""
    log = LogFile(tmp_path / "flowpool.log", level)
    log.load(None)
    logging.getLogger(CONNECTIONS).info("client connect")
    log.done()

    assert "client connect" in (tmp_path / "flowpool.log").read_text() if shown else True
    assert logging.getLogger(CONNECTIONS).isEnabledFor(logging.INFO) is shown


def test_the_files_stay_within_their_bounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full file makes room; of the old ones a few are kept."""
    monkeypatch.setattr(logfile, "MOST", 1000)
    log = LogFile(tmp_path / "flowpool.log", "info")
    log.load(None)
    for number in range(300):
        LOGGER.info("line %d %s", number, "x" * 50)
    log.done()

    files = sorted(path.name for path in tmp_path.iterdir())
    assert files == ["flowpool.log", *(f"flowpool.log.{number}" for number in range(1, KEPT + 1))]
    assert max(path.stat().st_size for path in tmp_path.iterdir()) <= 1000
    assert "line 299" in (tmp_path / "flowpool.log").read_text()


def test_a_disk_that_stands_still_delays_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines beyond what may wait are lost; who logs goes on."""
    stuck, monkeys = threading.Event(), threading.Event()
    monkeypatch.setattr(logfile, "WAITING", 5)
    log = LogFile(tmp_path / "flowpool.log", "info")
    log.load(None)
    assert log._writer is not None
    handler = log._writer.file

    def emit(_record: logging.LogRecord) -> None:
        stuck.set()
        monkeys.wait(10)

    monkeypatch.setattr(handler, "emit", emit)
    LOGGER.info("held")
    assert stuck.wait(10)
    for number in range(100):
        LOGGER.info("line %d", number)
    assert len(log._lines.waiting) <= 5
    monkeys.set()
    log.done()


def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """The proxy serves without a file."""
    (tmp_path / "logs").write_text("a file where the folder should be")
    log = LogFile(tmp_path / "logs" / "flowpool.log", "info")
    log.load(None)
    log.done()

    assert "no log file" in caplog.text


def test_a_disk_that_refuses_is_said_once_and_its_end_too(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Not a trace for each line: what cannot be written is lost, and the file goes on once there is room."""
    path = tmp_path / "logs" / "flowpool.log"
    log = LogFile(path, "info")
    log.load(None)
    path.mkdir()  # nothing can be written into a folder
    for number in range(50):
        LOGGER.info("lost %d", number)
    _written(log)
    path.rmdir()
    LOGGER.info("kept")
    _written(log)
    log.done()

    told = [line for line in caplog.messages if "written" in line]
    assert len(told) == 2
    assert "requests go on, run: df -h" in told[0]
    assert told[1] == f"flowpool: {path} is written again"
    assert "kept" in path.read_text()
    assert "lost" not in path.read_text()


def test_a_full_disk_does_not_keep_the_program_from_ending(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The last bytes may be lost; ending raises nothing."""
    log = LogFile(tmp_path / "flowpool.log", "info")
    log.load(None)
    assert log._writer is not None

    def close() -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(log._writer.file, "close", close)
    log.done()


def test_a_fault_of_ours_is_no_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is wrong with a line itself is told as Python tells it, and the next line is written."""
    shown: list[logging.LogRecord] = []
    monkeypatch.setattr(logging.Handler, "handleError", lambda _self, record: shown.append(record))
    file = logfile._PrivateFile(tmp_path / "flowpool.log", delay=True)
    file.emit(logging.LogRecord("x", logging.INFO, "", 0, "%d", ("no number",), None))
    file.emit(logging.LogRecord("x", logging.INFO, "", 0, "well", None, None))
    file.close()

    assert (len(shown), (tmp_path / "flowpool.log").read_text()) == (1, "well\n")


@pytest.mark.parametrize(("level", "is_kept"), [("debug", True), ("info", True), ("warning", False)])
def test_what_starters_wait_for_is_in_the_file_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture, level: str, is_kept: bool
) -> None:
    """Said on stderr once, also before the log began, and in the file; the log on the screen does not repeat it."""
    log = LogFile(tmp_path / "flowpool.log", level)
    log.say("flowpool: 100% early")
    log.load(None)
    log.say("flowpool: listening")
    log.done()

    assert (capsys.readouterr().err, caplog.messages) == ("flowpool: 100% early\nflowpool: listening\n", [])
    path = tmp_path / "flowpool.log"
    kept = path.read_text() if path.exists() else ""
    assert [text in kept for text in ("INFO flowpool: 100% early", "INFO flowpool: listening")] == [is_kept, is_kept]


def test_two_processes_share_the_file_and_its_bounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While one proxy follows another: who finds that the file was turned over goes on in the new one, and no line is lost."""
    monkeypatch.setattr(logfile, "MOST", 400)
    path = tmp_path / "flowpool.log"
    old, new = (logfile._PrivateFile(path, maxBytes=400, backupCount=KEPT, delay=True) for _ in range(2))
    for number in range(20):
        for name, one in (("old", old), ("new", new)):
            one.emit(LOGGER.makeRecord("x", logging.INFO, "", 0, f"{name} {number:02d} {'.' * 20}", (), None))
    files = sorted(tmp_path.iterdir())
    lines = [line[:6] for file in files for line in file.read_text().splitlines()]
    assert sorted(lines) == sorted(f"{name} {number:02d}" for number in range(20) for name in ("old", "new"))
    assert [file.name for file in files] == ["flowpool.log", *(f"flowpool.log.{number}" for number in (1, 2))]
    assert all(file.stat().st_size <= 400 + 60 for file in files)  # a line of the other's may come between
    old.close()
    new.close()
