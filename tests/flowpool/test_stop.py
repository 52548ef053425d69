"""`flowpool stop`: whatever state the proxy is in, it has ended afterwards, and nobody else has."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from datetime import UTC, datetime

import pytest

from flowpool import ending, health, stop
from flowpool.errors import Failure
from home import controlkey, processes, running
from home.checks import Address
from home.paths import Home
from home.running import Running
from tests.flowpool.cli import Shell
from tests.flowpool.living import place, quiet, serving
from tests.flowpool.proxy import announce, listening, reply

NOBODY = Address(host="127.0.0.1", port=9)


def test_without_a_proxy_there_is_nothing_to_stop(shell: Shell) -> None:
    """And no fault."""
    assert shell.run("stop").stdout == "no proxy runs\n"


STALE = [
    ("a process that is gone", None, ""),
    ("another process of the same id", os.getpid(), "1"),
]


@pytest.mark.parametrize(("pid", "born"), [(pid, born) for _, pid, born in STALE], ids=[name for name, *_ in STALE])
def test_a_stale_file_is_removed_and_nobody_signalled(shell: Shell, pid: int | None, born: str) -> None:
    """X109: the process with that id is another program's by now; this test itself."""
    home = place(shell.home)
    if pid is None:
        gone = subprocess.Popen([sys.executable, "-I", "-c", ""])
        gone.wait()
        pid = gone.pid
    write(home, pid, born)

    said = shell.run("stop").stdout
    assert said == f"no proxy runs; the one with pid {pid} is gone, and ended without a word\n"
    assert not home.running.exists()


def write(home: Home, pid: int, born: str, address: Address = NOBODY) -> Running:
    """Let a process be the proxy of a home."""
    found = Running(pid=pid, listen={"claude": address}, started=datetime.now(UTC), born=born)
    running.write(home.running, found)
    return found


def test_one_that_hangs_is_ended_when_it_is_sure_that_it_is_the_proxy(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is stopped, so that it answers neither us nor a signal: that is said, and it is killed."""
    monkeypatch.setattr(stop, "PATIENCE", 0.3)
    monkeypatch.setattr(ending, "TERMINATING", 0.3)
    with quiet(shell) as home:
        shell.run("start")
        found = serving(home)
        os.kill(found.pid, signal.SIGSTOP)
        said: list[str] = []
        assert stop.end(home, say=said.append) == f"the proxy (pid {found.pid}) has ended"
        assert said == [
            f"the proxy (pid {found.pid}) does not answer; it is told to end",
            "it does not end by itself, and is killed",
        ]
        assert not running.is_there(found)
        assert not home.running.exists()


def test_nobody_is_killed_on_suspicion(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where it is not known when the process was born, a person must look."""
    monkeypatch.setattr(stop, "PATIENCE", 0.2)
    with listening(None, []) as address:
        announce(shell.home, address)
        home = place(shell.home)
        with pytest.raises(Failure, match=f"end it yourself: kill {os.getpid()}"):
            stop.end(home)


def test_another_proxy_at_the_address_is_left_alone(shell: Shell) -> None:
    """The health that it tells names another process."""
    with listening(reply(b'{"status": "ok", "pid": 1}'), []) as address:
        announce(shell.home, address)
        with pytest.raises(Failure, match=r"is answered by another proxy \(pid 1\)"):
            stop.end(place(shell.home))


def test_what_is_in_flight_is_told_and_ctrl_c_leaves_it_ending(
    shell: Shell, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A line for each number that it goes through; who interrupts the command is told how the proxy ends at once."""
    body = json.dumps({"status": "ok", "pid": os.getpid(), "stopping": True, "in_flight": 2, "within": 60.0}).encode()
    looks = 0

    def interrupt(_seconds: float) -> None:
        nonlocal looks
        looks += 1
        if looks > 1:
            raise KeyboardInterrupt

    monkeypatch.setattr(time, "sleep", interrupt)
    with listening(reply(body), []) as address:
        announce(shell.home, address)
        with pytest.raises(SystemExit) as ended:
            stop.stop.main(["--now"], obj=place(shell.home), standalone_mode=False)
    assert ended.value.code == 130
    assert capsys.readouterr().out.splitlines() == [
        "2 requests are in flight; the proxy ends when they are answered, at most 60.0 s from the stop",
        "it goes on ending by itself; to end it at once, run: flowpool stop --now",
    ]


def test_one_that_ends_already_is_waited_for(shell: Shell) -> None:
    """It listens no more, and its process is still there."""
    home = place(shell.home)
    controlkey.ensure(home.control_key)
    with subprocess.Popen([sys.executable, "-I", "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE) as child:
        write(home, child.pid, processes.born(child.pid))
        said: list[str] = []
        threading.Timer(0.2, child.communicate).start()
        assert stop.end(home, say=said.append) == f"the proxy (pid {child.pid}) has ended"
    assert said == [f"the proxy (pid {child.pid}) does not listen any more; it answers what it has in flight"]


def test_one_that_is_just_taken_over_is_found(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the word of the next one and the end of the old one's listening, either answers: it is looked at again."""
    home = place(shell.home)
    with quiet(shell):
        shell.run("start")
        found = serving(home)
        told = [health.Health(pid=found.pid + 1)]
        real = health.of
        monkeypatch.setattr(health, "of", lambda *asked: told.pop() if told else real(*asked))
        assert stop.end(home, say=lambda _: None) == f"the proxy (pid {found.pid}) has ended"
        assert told == []


def test_those_that_end_with_it_are_told(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    """They answer what they had begun before a restart, and are waited for."""
    body = json.dumps({"status": "ok", "pid": os.getpid(), "in_flight": 0, "within": 1.0, "earlier": [7, 8]}).encode()
    monkeypatch.setattr(ending, "is_over", lambda *_: True)
    said: list[str] = []
    with listening(reply(body), []) as address:
        announce(shell.home, address)
        stop.end(place(shell.home), say=said.append)
    assert said == ["with it end those before it, which still answer what they had begun: pid 7, 8"]


@pytest.mark.parametrize("now", [False, True])
def test_one_whose_key_is_lost_is_told_by_a_signal(shell: Shell, now: bool) -> None:
    """It cannot be asked, but it is known whose process it is."""
    with quiet(shell) as home:
        shell.run("start")
        found = serving(home)
        home.control_key.unlink()
        assert stop.end(home, now=now, say=lambda _: None) == f"the proxy (pid {found.pid}) has ended"
        assert not running.is_there(found)


def test_one_whose_key_is_lost_is_not_signalled_on_suspicion(shell: Shell) -> None:
    """It might be any process of this number."""
    home = place(shell.home)
    write(home, os.getpid(), "")
    with pytest.raises(Failure, match=f"end it yourself: kill {os.getpid()}"):
        stop.end(home)
