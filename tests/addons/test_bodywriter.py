"""addons/bodywriter.py: a thread that writes whole exchanges, and is in nobody's way."""

import threading
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from addons import bodywriter
from addons.bodywriter import BodyWriter
from addons.exchangetext import Told
from addons.record import SLACK, Message, Record
from home.bodies import Shelf
from tests.addons.test_exchangetext import LINE, NOON
from tests.addons.transcript import Clock


def told(number: int = 1, size: int = 10) -> Told:
    """An exchange that ended, with a body of this size."""
    request = Message(start="POST /", body=b"x" * size, size=size)
    line = LINE | {"id": f"{number:012x}"}
    return Told(line=line, record=Record(most=size + SLACK, request=request), attempts=(), secrets=frozenset())


def writer(folder: Path, most: int = 10_000_000) -> BodyWriter:
    """One that has not begun."""
    return BodyWriter(folder, Shelf(folder, most, timedelta(days=3650)))


def test_the_last_ones_are_written_at_the_end(tmp_path: Path) -> None:
    """All that was put is there once it stopped."""
    made = writer(tmp_path)
    made.start()
    for number in range(20):
        made.put(told(number))
    made.stop()

    assert len(list(tmp_path.iterdir())) == 20


def test_a_disk_that_stands_still_delays_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """What is over the bound is not kept; it is said once, and how much was lost when it is over."""
    stuck, on = threading.Event(), threading.Event()
    monkeypatch.setattr(bodywriter, "WAITING", 100)
    monkeypatch.setattr(bodywriter, "EVERY", 0.0)
    made = writer(tmp_path)
    put = made._shelf.put

    def slow(*arguments: object) -> None:
        stuck.set()
        assert on.wait(10)
        put(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(made._shelf, "put", slow)
    made.start()
    made.put(told(0))
    assert stuck.wait(10)
    for number in range(1, 50):
        made.put(told(number))
    on.set()
    made.stop()

    assert len(list(tmp_path.iterdir())) == 10
    said = [line for line in caplog.messages if "written" in line]
    assert [line.partition(str(tmp_path))[2] for line in said] == [
        f" cannot be written: its disk is too slow; requests go on, run: df -h '{tmp_path}'",
        " is written again; 40 exchanges were not kept",
    ]


def test_a_folder_that_refuses_is_said_once_and_its_end_too(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Not for each exchange; those after it are kept."""
    folder = tmp_path / "bodies"
    folder.write_text("a file")
    made = writer(folder)
    for number in range(5):
        made.put(told(number))
    made._write()
    folder.unlink()
    made.put(told(6))
    made._write()

    assert [line.partition(str(folder))[2] for line in caplog.messages] == [
        f" cannot be written: File exists; requests go on, run: df -h '{folder}'",
        " is written again; 5 exchanges were not kept",
    ]
    assert len(list(folder.iterdir())) == 1


def test_a_fault_of_ours_loses_one_exchange(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The thread goes on, and its account of what waits stays right."""
    made = writer(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(bodywriter, "text_of", lambda _told: 1 / 0)
        made.put(told(1))
        made._write()
    made.put(told(2))
    made._write()

    assert "cannot be written down" in caplog.text
    assert (made._weight, len(list(tmp_path.iterdir()))) == (0, 1)


def test_what_is_too_old_goes_on_a_busy_proxy_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Age is looked at every hour, however many exchanges come meanwhile; not for each of them."""
    monkeypatch.setattr(bodywriter, "EVERY", 0.0)
    monkeypatch.setattr(bodywriter, "time", clock := Clock())
    looked, written = threading.Semaphore(0), threading.Semaphore(0)
    made = writer(tmp_path)
    tidy, put = made._shelf.tidy, made._shelf.put

    def tidied(*arguments: Any) -> None:
        tidy(*arguments)
        looked.release()

    def wrote(*arguments: Any) -> None:
        put(*arguments)
        written.release()

    monkeypatch.setattr(made._shelf, "tidy", tidied)
    monkeypatch.setattr(made._shelf, "put", wrote)
    made.start()
    assert looked.acquire(timeout=10)
    for number in range(3):
        made.put(told(number))
        assert written.acquire(timeout=10)
    assert not looked.acquire(blocking=False)
    clock.now += bodywriter.HOUR
    made.put(told(4))
    assert looked.acquire(timeout=10)
    made.stop()


def test_a_folder_that_cannot_be_tidied_is_written_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A fault of ours there does not end the thread."""
    made = writer(tmp_path)
    made._shelf.tidy(NOON)
    monkeypatch.setattr(made._shelf, "tidy", lambda _now: 1 / 0)
    made.start()
    made.put(told(1))
    made.stop()

    assert len(list(tmp_path.iterdir())) == 1
    assert "cannot be tidied" in caplog.text


def test_one_that_is_larger_than_all_may_be_is_said(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """By the setting that would let it in."""
    made = writer(tmp_path, most=100)
    made.put(told(1, size=1000))
    made._write()

    assert "one exchange is larger than [log] bodies_mib" in caplog.text
    assert list(tmp_path.iterdir()) == []
