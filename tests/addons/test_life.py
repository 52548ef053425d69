"""One drain, whatever began it; and another process in this one's place."""

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path as File
from types import SimpleNamespace
from typing import Any

import pytest

from addons import life
from addons.handover import NoSuccessorError
from addons.life import CannotRestartError, Life
from addons.predecessors import Predecessors
from home.errors import Fault, SettingsError
from tests.addons.lives import Lived, World, stand_in


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    """A mitmproxy with one listener."""
    return stand_in(monkeypatch)


class Followed:
    """A handover: who comes after, or why nobody does."""

    def __init__(self, *, pid: int = 4711, fault: str = "", in_place: bool = False) -> None:
        self.pid, self.fault, self.in_place = pid, fault, in_place
        self.told: list[str] = []
        self.notify = SimpleNamespace(
            handed_over=lambda pid: self.told.append(f"main {pid}"), stopping=lambda _: self.told.append("stopping")
        )
        self.listeners = SimpleNamespace(close=lambda: self.told.append("close sockets"))
        self.waits: asyncio.Event | None = None
        self.begun = asyncio.Event()

    async def spawn(self) -> int:
        self.begun.set()
        if self.waits is not None:
            await self.waits.wait()
        if self.fault:
            raise NoSuccessorError(self.fault)
        return self.pid


def run(play: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Play a story; it ends in time or fails."""
    asyncio.run(asyncio.wait_for(play(), 20))


def made(lived: Lived, handover: Any = None, **limits: Any) -> Life:
    """A life with or without somebody who may follow."""
    found = lived.life(**limits)
    found.handover = handover
    return found


def test_a_stop_waits_for_what_is_at_work_and_closes_what_is_idle(world: World) -> None:
    """Nobody is accepted first, and background work ends; then each connection as it falls idle; then the program."""
    lived, handover = Lived(), Followed()

    async def play() -> None:
        one = made(lived, handover)
        busy, _idle = world.add(works=True), world.add()
        assert one.health() == (200, {"status": "ok", "pid": os.getpid()})
        assert one.stop() == {"stopping": True, "pid": os.getpid(), "in_flight": 1, "within": 60.0}
        await world.closed.wait()
        assert one.health() == (503, {"status": "draining", "pid": os.getpid(), "in_flight": 1})
        assert not world.shut.is_set()
        busy.works = False
        await world.shut.wait()

    run(play)
    assert world.told == ["stop accepting", "close", "close"]
    assert lived.told == ["rest", "turn away"]
    assert handover.told == ["stopping", "close sockets"]


def test_a_second_signal_ends_at_once(world: World) -> None:
    """Who still waits is told."""

    async def play() -> None:
        one = made(Lived())
        world.add(works=True)
        one.signalled()
        await asyncio.sleep(0)
        one.signalled()
        await world.shut.wait()
        one.signalled()

    run(play)
    assert world.told == ["stop accepting", "cut"]


def test_a_websocket_is_closed_as_it_should_be_when_the_time_is_over(world: World) -> None:
    """Also after a restart, which else waits as long as an answer may take."""

    async def play() -> None:
        world.add(sockets=1)
        one = made(Lived(), Followed(), drain_s=0.05, stream_total_s=100)
        await one.restart()
        await world.shut.wait()

    run(play)
    assert world.told == ["stop accepting", "close socket"]


# Restarts


def test_another_process_takes_over(world: World) -> None:
    """What was learned is on the disk before it begins; this one gives its sockets up, and is the service no longer."""
    lived, handover = Lived(), Followed()

    async def play() -> None:
        one = made(lived, handover)
        assert await one.restart() == {"pid": 4711, "in_place": False}
        await world.shut.wait()
        assert (one.successor, one.becomes) == (4711, False)

    run(play)
    assert lived.told == ["flush", "rest"]
    assert handover.told == ["main 4711", "close sockets"]


@pytest.mark.usefixtures("world")
def test_one_that_does_not_come_up_changes_nothing(caplog: pytest.LogCaptureFixture) -> None:
    """The reason is told and logged; the next try may go well."""
    handover = Followed(fault="the port is taken")

    async def play() -> None:
        one = made(Lived(), handover)
        with pytest.raises(CannotRestartError, match=r"^the port is taken$"):
            await one.restart()
        assert one.health()[0] == 200
        handover.fault = ""
        assert (await one.restart())["pid"] == 4711
        with pytest.raises(CannotRestartError, match="about to end"):
            await one.restart()

    run(play)
    assert "no restart: the port is taken" in caplog.text


def test_two_who_ask_at_once_get_the_same_successor(world: World) -> None:
    """One process is enough."""
    lived, handover = Lived(), Followed()

    async def play() -> None:
        handover.waits = asyncio.Event()
        one = made(lived, handover)
        asked = [asyncio.create_task(one.restart()) for _ in range(2)]
        await asyncio.sleep(0.05)
        handover.waits.set()
        assert [(await each)["pid"] for each in asked] == [4711, 4711]

    run(play)
    assert lived.told.count("flush") == 1
    assert world.told[0] == "stop accepting"


def test_a_stop_goes_before_a_restart(world: World) -> None:
    """Whoever asked for one is told; nobody is started any more."""
    handover = Followed()

    async def play() -> None:
        handover.waits = asyncio.Event()
        one = made(Lived(), handover)
        asked = asyncio.create_task(one.restart())
        await handover.begun.wait()
        one.stop()
        with pytest.raises(CannotRestartError, match="about to end"):
            await asked
        await world.shut.wait()

    run(play)
    assert handover.told == ["stopping", "close sockets"]


def test_a_signal_after_a_restart_shortens_it(world: World) -> None:
    """Nobody waits inside any longer, and what is in flight has as long as at a stop; the service does not stop."""
    lived, handover = Lived(), Followed()

    async def play() -> None:
        world.add(works=True)
        one = made(lived, handover, drain_s=0.05, stream_total_s=100)
        await one.restart()
        one.signalled()
        await world.shut.wait()

    run(play)
    assert lived.told == ["flush", "rest", "turn away"]
    assert "stopping" not in handover.told


def test_broken_settings_start_nobody(world: World) -> None:
    """All faults in one line."""
    faults = tuple(Fault(key=key, line=None, message="is wrong") for key in ("a", "b"))
    lived = Lived(fault=SettingsError(File("config.toml"), faults))

    async def play() -> None:
        with pytest.raises(CannotRestartError, match=r"a.* / .*b"):
            await made(lived, Followed()).restart()

    run(play)
    assert (lived.told, world.told) == ([], [])


def test_where_one_process_alone_is_known_it_starts_anew(world: World) -> None:
    """Its sockets stay open, for whoever comes meanwhile; nobody waits inside."""
    lived, handover = Lived(), Followed(in_place=True)

    async def play() -> None:
        one = made(lived, handover)
        assert await one.restart() == {"pid": os.getpid(), "in_place": True, "within": 60.0}
        await world.shut.wait()
        assert one.becomes

    run(play)
    assert (lived.told, handover.told) == (["rest", "turn away"], [])


def test_a_signal_while_it_is_to_start_anew_ends_it_for_good(world: World) -> None:
    """As at any stop: what is in flight is answered first."""

    async def play() -> None:
        busy = world.add(works=True)
        one = made(Lived(), Followed(in_place=True))
        await one.restart()
        one.signalled()
        await asyncio.sleep(0)
        assert not world.shut.is_set()
        busy.works = False
        await world.shut.wait()
        assert not one.becomes

    run(play)
    assert "cut" not in world.told


@pytest.mark.parametrize(
    ("platform", "why"), [("linux", "it runs in mitmweb; stop it there"), ("win32", "this system cannot hand")]
)
def test_who_cannot_be_followed_says_why(monkeypatch: pytest.MonkeyPatch, platform: str, why: str) -> None:
    """And goes on."""
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setattr(sys, "argv", ["/venv/bin/mitmweb", "-s"])

    async def play() -> None:
        with pytest.raises(CannotRestartError, match=why):
            await made(Lived()).restart()

    run(play)


@pytest.mark.usefixtures("world")
@pytest.mark.parametrize(("at_terminal", "pid"), [(False, 4711), (True, None)])
def test_a_hang_up_restarts_unless_the_terminal_has_gone(
    world: World, monkeypatch: pytest.MonkeyPatch, at_terminal: bool, pid: int | None
) -> None:
    """SIGHUP means either."""
    monkeypatch.setattr(life, "is_at_terminal", lambda: at_terminal)

    async def play() -> None:
        one = made(Lived(), Followed())
        one.running()
        os.kill(os.getpid(), signal.SIGHUP)
        await world.shut.wait()
        assert one.successor == pid

    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)]
    run(play)
    for number, handler in zip((signal.SIGINT, signal.SIGTERM, signal.SIGHUP), before, strict=True):
        signal.signal(number, handler)


# What happens at the same time


def test_a_stop_while_the_settings_are_looked_at_is_a_stop(world: World) -> None:
    """Nobody is started after it, nor does this process start anew."""
    for in_place in (False, True):
        lived, handover = Lived(), Followed(in_place=in_place)

        async def play(lived: Lived = lived, handover: Followed = handover) -> None:
            one = made(lived, handover)
            loop = asyncio.get_running_loop()
            lived.during = lambda: asyncio.run_coroutine_threadsafe(_stop(one), loop).result(20)
            with pytest.raises(CannotRestartError, match="about to end"):
                await one.restart()
            await world.shut.wait()
            assert (one.successor, one.becomes) == (None, False)

        run(play)
        assert handover.told == ["stopping", "close sockets"]
        assert not handover.begun.is_set()
        world.shut.clear()
        world.instance.is_running = True


async def _stop(one: Life) -> None:
    one.stop()


@pytest.mark.usefixtures("world")
def test_after_one_that_failed_this_process_is_found_again() -> None:
    """The other one may have said already that it serves."""
    lived = Lived()

    async def play() -> None:
        with pytest.raises(CannotRestartError):
            await made(lived, Followed(fault="it fell over")).restart()

    run(play)
    assert lived.told == ["flush", "again"]


class Before(Predecessors):
    """Processes that end when a test says so."""

    def __init__(self) -> None:
        self.told: list[bool] = []
        self.left: list[tuple[int, int]] = [(4700, 9)]

    def at_work(self) -> list[tuple[int, int]]:
        return self.left

    def end(self, *, now: bool = False) -> None:
        self.told.append(now)


def test_who_is_stopped_has_those_before_it_end_and_waits_for_them(world: World) -> None:
    """Nobody else would stop them. Each word is said once, and who it waits for is told."""
    before = Before()

    async def play() -> None:
        one = made(Lived(before=before), Followed())
        assert one.stop()["earlier"] == [4700]
        one.stop()
        await world.closed_soon()
        assert one.health()[1]["earlier"] == [4700]
        assert not world.shut.is_set()
        before.left = []
        await world.shut.wait()
        assert "earlier" not in one.health()[1]

    run(play)
    assert before.told == [False]


def test_who_ends_at_once_has_them_do_so_too(world: World) -> None:
    """And lets them say their last words."""
    before = Before()

    async def play() -> None:
        one = made(Lived(before=before), Followed())
        one.stop()
        one.stop(now=True)
        await world.closed_soon()
        assert not world.shut.is_set()
        before.left = []
        await world.shut.wait()

    run(play)
    assert before.told == [False, True]


def test_who_is_followed_leaves_those_before_it_to_the_next(world: World) -> None:
    """Else each would be told twice."""
    before = Before()

    async def play() -> None:
        one = made(Lived(before=before), Followed())
        await one.restart()
        one.stop()
        await world.shut.wait()

    run(play)
    assert before.told == []
