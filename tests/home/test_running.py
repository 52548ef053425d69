"""running.json is believed only while its process lives."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from home import processes, running
from home.checks import Address
from home.running import Running

NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)
OURS = Running(pid=os.getpid(), listen={"claude": Address(host="::1", port=3456)}, started=NOON)


def test_what_is_written_is_read(tmp_path: Path) -> None:
    """A proxy that lives is read back; the file has the shape that other tools rely on."""
    running.write(tmp_path / "running.json", OURS)

    assert running.read(tmp_path / "running.json") == OURS
    assert json.loads((tmp_path / "running.json").read_bytes()) == {
        "pid": os.getpid(),
        "listen": {"claude": "[::1]:3456"},
        "started": "2026-01-05T12:00:00+00:00",
        "config": "",
        "born": "",
        "ca": "",
    }


def test_both_listeners_and_the_certificate_are_read(tmp_path: Path) -> None:
    """Where clients come by HTTPS_PROXY, and whom they are to trust there."""
    listen = {"claude": Address(host="127.0.0.1", port=3456), "forward": Address(host="127.0.0.1", port=3458)}
    both = replace(OURS, listen=listen, ca="/x/mitmproxy-ca-cert.pem")
    running.write(tmp_path / "x", both)
    assert running.read(tmp_path / "x") == both


def test_a_changed_config_is_noticed(tmp_path: Path) -> None:
    """By what it holds; one that is gone is changed, one that was not known when the proxy started is not."""
    path, config = tmp_path / "x", tmp_path / "config.toml"
    config.write_text("a = 1")
    started = replace(OURS, config=running.digest(config))
    running.write(path, started)
    assert running.read(path) == started
    assert not running.is_changed(started, config)
    config.write_text("a = 2")
    assert running.is_changed(started, config)
    assert not running.is_changed(OURS, config)
    config.write_text("a = 1")
    assert not running.is_changed(started, config)
    config.unlink()
    assert running.digest(config) == ""
    assert running.is_changed(started, config)
    config.mkdir()
    assert running.digest(config) == ""


def test_a_dead_process_does_not_run(tmp_path: Path) -> None:
    """The file of a process that is gone reads as None."""
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    running.write(tmp_path / "x", Running(pid=gone.pid, listen=OURS.listen, started=NOON))

    assert running.read(tmp_path / "x") is None


def test_only_the_owner_removes_it(tmp_path: Path) -> None:
    """A proxy that ends late leaves the file of its successor."""
    path = tmp_path / "x"
    running.write(path, OURS)
    running.remove(path, OURS.pid + 1)
    assert running.read(path) == OURS

    running.remove(path, OURS.pid)
    running.remove(path, OURS.pid)
    assert not path.exists()


def test_a_file_that_cannot_be_removed_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ending raises nothing; who reads the file finds that its process is gone."""
    running.write(tmp_path / "x", OURS)

    def unlink(_path: Path) -> None:
        raise PermissionError

    monkeypatch.setattr(Path, "unlink", unlink)
    running.remove(tmp_path / "x", OURS.pid)
    assert (tmp_path / "x").exists()


GOOD: dict[str, object] = {"pid": os.getpid(), "listen": {"claude": "127.0.0.1:1"}, "started": NOON.isoformat()}
WRONG: list[dict[str, object]] = [
    {"pid": 0},
    {"pid": -1},
    {"pid": 10**30},
    {"pid": "1"},
    {"pid": True},
    {"listen": {}},
    {"listen": "127.0.0.1:1"},
    {"listen": {"claude": 1}},
    {"started": "noon"},
    {"started": "2026-01-05T12:00:00"},
]
JUNK = [b"", b"{", b"[]", b"\xff", b"[" * 99_999, *(json.dumps(GOOD | change).encode() for change in WRONG)]


@pytest.mark.parametrize("junk", JUNK, ids=range(len(JUNK)))
def test_junk_is_no_proxy(tmp_path: Path, junk: bytes) -> None:
    """What makes no sense reads as None, and no process is signalled for it."""
    (tmp_path / "x").write_bytes(junk)

    assert running.read(tmp_path / "x") is None


def test_nothing_and_a_folder_are_no_proxy(tmp_path: Path) -> None:
    """A missing file and what is no file read as None."""
    assert running.read(tmp_path / "x") is None
    assert running.read(tmp_path) is None


@given(pid=st.integers())
def test_any_number_may_be_asked_about(pid: int) -> None:
    """Asking whether a process lives never raises."""
    assert running.is_alive(pid) in {True, False}


def test_somebody_elses_process_lives(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that we may not signal is alive."""

    def refuse(pid: int, signal: int) -> None:
        raise PermissionError(pid, signal)

    monkeypatch.setattr(os, "kill", refuse)

    assert running.is_alive(1)


def test_another_process_of_the_same_id_is_no_proxy(tmp_path: Path) -> None:
    """X109: the file of a process that was born at another time is what is left of one that has ended."""
    path = tmp_path / "x"
    born = replace(OURS, born=processes.born(os.getpid()))
    running.write(path, born)
    assert running.read(path) == born
    stale = replace(OURS, born="1")
    running.write(path, stale)
    assert running.read(path) is None
    assert running.left(path) == stale
    assert (running.is_there(born), running.is_there(stale), running.is_there(OURS)) == (True, False, True)
