"""The next proxy gets the sockets; one that does not come up is told of, and leaves nothing behind."""

import asyncio
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from addons.handover import Handover, NoSuccessorError
from addons.listeners import Listeners
from addons.notify import Notify
from home import processes
from home.checks import Address

READY = """
import json, os, socket, sys
told = json.loads(os.environ["FLOWPOOL_HANDED"])
(asked, number), = told["sockets"]
print(asked, socket.socket(fileno=number).getsockname()[1], told["from"], os.environ.get("NOTIFY_SOCKET"), file=sys.stderr, flush=True)
os.write(told["ready"], b"+")
os.close(told["ready"])
sys.stdin.read()
"""
SAYS_WHY = (
    "import sys; print('flowpool: the port is taken', file=sys.stderr); print('more', file=sys.stderr); sys.exit(2)"
)
SAYS_NOTHING = "import sys; sys.exit(3)"
IS_KILLED = "import os, sys; print('all is well', file=sys.stderr, flush=True); os.kill(os.getpid(), 9)"
HANGS = "import sys, time; print('still at it', file=sys.stderr, flush=True); time.sleep(60)"


@pytest.fixture
def listeners() -> Iterator[Listeners]:
    """One open socket."""
    made = Listeners()
    made.open(Address(host="127.0.0.1", port=0))
    yield made
    made.close()


def handover(listeners: Listeners, program: str) -> Handover:
    """A handover to this program."""
    return Handover(
        listeners, Notify("/nobody"), command=(sys.executable, "-I", "-c", program), environ={"PATH": os.defpath}
    )


def test_a_successor_gets_the_sockets_and_its_word_is_awaited(
    listeners: Listeners, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may tell the service manager, too; what it said until then comes onto the screen."""
    reader, writer = os.pipe()
    monkeypatch.setattr("sys.stderr", sys.__stderr__)
    before = os.dup(0)
    os.dup2(reader, 0)
    try:
        pid = asyncio.run(handover(listeners, READY).spawn())
        assert processes.born(pid)
    finally:
        os.dup2(before, 0)
        os.close(writer)
    os.waitpid(pid, 0)
    for number in (reader, before):
        os.close(number)
    port = listeners.of("127.0.0.1", 0)[0].getsockname()[1]
    assert capfd.readouterr().err == f"127.0.0.1:0 {port} {os.getpid()} /nobody\n"


@pytest.mark.parametrize(
    ("program", "why"),
    [
        (SAYS_WHY, "the port is taken / more"),
        (SAYS_NOTHING, "the new process ended with 3"),
        (IS_KILLED, "the new process ended with -9, after it said: all is well"),
    ],
)
def test_one_that_dies_is_told_of(listeners: Listeners, program: str, why: str) -> None:
    """By what it said, in one line, and nothing of it is left."""
    before = open_files()
    with pytest.raises(NoSuccessorError) as met:
        asyncio.run(handover(listeners, program).spawn())

    assert str(met.value) == why
    assert open_files() == before


def test_one_that_never_serves_is_ended(listeners: Listeners) -> None:
    """After its time, with what it said."""
    before, begun = open_files(), time.monotonic()
    with pytest.raises(NoSuccessorError, match=r"did not serve within 0\.5 s"):
        asyncio.run(handover(listeners, HANGS).spawn(0.5))

    assert time.monotonic() - begun < 30
    assert open_files() == before


def test_a_program_that_cannot_be_started_is_told_of(listeners: Listeners) -> None:
    """The interpreter may have been replaced by another version's."""
    before = open_files()
    gone = Handover(listeners, Notify(), command=("/nowhere/python",), environ={})
    with pytest.raises(NoSuccessorError, match="no new process can be started: No such file"):
        asyncio.run(gone.spawn())

    assert open_files() == before


def test_a_full_disk_is_told_of(listeners: Listeners, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the new process says has to be kept somewhere."""

    def refuse() -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(tempfile, "TemporaryFile", refuse)
    with pytest.raises(NoSuccessorError, match="No space left on device"):
        asyncio.run(handover(listeners, SAYS_NOTHING).spawn())


def open_files() -> set[str]:
    """The descriptors of this process."""
    return {entry.name for entry in Path("/proc/self/fd").iterdir() if entry.exists()}


def test_a_process_becomes_the_next_one(listeners: Listeners, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same process, with the sockets open to it, and told so."""
    asked: list[tuple[str, tuple[str, ...], dict[str, str]]] = []
    monkeypatch.setattr(os, "execve", lambda *told: asked.append(told))
    made = Handover(listeners, Notify(), command=("/bin/python", "-m", "x"), environ={"A": "b"}, in_place=True)
    made.become()

    ((path, command, environ),) = asked
    assert (path, command, environ["A"]) == ("/bin/python", ("/bin/python", "-m", "x"), "b")
    assert f'"from": {os.getpid()}' in environ["FLOWPOOL_HANDED"]
    assert listeners.of("127.0.0.1", 0)[0].get_inheritable()


KEEPS = """
import json, os, sys
told = json.loads(os.environ["FLOWPOOL_HANDED"])
((pid, number),) = told["before"]
os.set_blocking(number, False)
try:
    os.read(number, 1)
except BlockingIOError:
    print(pid, "is at work", file=sys.stderr, flush=True)
os.write(told["ready"], b"+")
"""


def test_a_successor_knows_who_is_at_work_before_it(listeners: Listeners, capfd: pytest.CaptureFixture[str]) -> None:
    """By a pipe that this process holds open until it ends: one descriptor, however it goes on."""
    before = open_files()
    pid = asyncio.run(handover(listeners, KEEPS).spawn())
    os.waitpid(pid, 0)

    assert capfd.readouterr().err == f"{os.getpid()} is at work\n"
    (alive,) = open_files() - before
    assert not os.get_inheritable(int(alive))
    os.close(int(alive))


class Gone:
    """A screen whose terminal or pipe has gone."""

    def write(self, _text: str) -> None:
        raise BrokenPipeError


def test_a_screen_that_is_gone_does_not_undo_a_handover(listeners: Listeners, monkeypatch: pytest.MonkeyPatch) -> None:
    """The successor serves by then: who did not end would serve beside it."""
    for screen in (Gone(), None):
        monkeypatch.setattr(sys, "stderr", screen)
        pid = asyncio.run(handover(listeners, KEEPS).spawn())
        os.waitpid(pid, 0)
