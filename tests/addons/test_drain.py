"""A drain waits for what is at work, closes what is idle, and cuts what is left when its time is over."""

import asyncio
from typing import Any

import pytest
from mitmproxy import http

from addons.drain import Drain
from addons.exchange import EXCHANGES, Path
from home.tables import Limits
from tests.addons.lives import World, stand_in
from tests.addons.made import exchange, flow


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    """A mitmproxy with one listener."""
    return stand_in(monkeypatch)


def run(play: Any) -> None:
    """Play a story; it ends in time or fails."""
    asyncio.run(asyncio.wait_for(play(), 20))


@pytest.mark.parametrize(("limits", "now"), [({"drain_s": 0.05}, False), ({}, True)], ids=["in time", "now"])
def test_nothing_is_waited_for_longer_than_was_said(world: World, limits: dict[str, float], now: bool) -> None:
    """Nor where it is to end now."""

    async def play() -> None:
        world.add(works=True)
        drain = Drain(Limits(**limits))
        if now:
            drain.at_once()
        drain.begin(limits.get("drain_s", 60.0), lambda: world.told.append("release"))
        await world.shut.wait()

    run(play)
    assert world.told == ["stop accepting", "release", "cut"]


def test_who_asks_how_far_it_is_goes_on_asking(world: World) -> None:
    """Its connection is neither closed nor waited for; any other answer closes its own."""

    async def play() -> None:
        drain = Drain(Limits())
        local, other, upgraded = (answered(path, status) for path, status in WAYS)
        watcher, busy = world.add(), world.add(works=True)
        watcher.client = local.client_conn
        drain.begin(60.0, lambda: None)
        for each in (local, other, upgraded):
            drain.close_after(each)
        assert [each.response.headers.get("connection") for each in (local, other, upgraded)] == [None, "close", None]
        await asyncio.sleep(0.1)
        assert watcher in world.handlers
        busy.works = False
        await world.shut.wait()
        assert world.handlers == [watcher]

    run(play)


WAYS = ((Path.LOCAL, 200), (Path.POOLED, 200), (Path.PASSED, 101))


def answered(path: Path, status: int) -> Any:
    """A flow that has its answer."""
    found: Any = flow()
    EXCHANGES[found] = exchange(path)
    found.response = http.Response.make(status)
    return found


def test_one_that_has_begun_is_only_shortened(world: World) -> None:
    """The sockets are given up once, and a later, longer time changes nothing."""

    async def play() -> None:
        world.add(works=True)
        drain = Drain(Limits())
        drain.begin(100.0, lambda: world.told.append("release"))
        drain.begin(0.05, lambda: world.told.append("again"))
        drain.begin(100.0, lambda: world.told.append("again"))
        await world.shut.wait()

    run(play)
    assert world.told == ["stop accepting", "release", "cut"]


PATIENCE = [  # what it is, whether another process serves beside it, silent for so many seconds, whether it is closed
    ("", False, 0.2, True),
    ("", True, 0.2, False),
    ("", True, 1.5, True),
    ("reading", False, 1.5, False),
    ("reading", False, 2.5, True),
    ("reading", True, 2.5, True),
    ("tunnel", False, 2.5, True),
    ("tunnel", True, 2.5, False),
    ("tunnel", True, 61.0, True),
]


@pytest.mark.parametrize(("kind", "beside", "silent", "closed"), PATIENCE)
def test_how_long_a_connection_must_be_silent(
    world: World, kind: str, beside: bool, silent: float, closed: bool
) -> None:
    """A head that was begun holds nothing up; a tunnel may be silent for long where nobody waits for us."""

    async def play() -> None:
        drain = Drain(Limits(drain_s=60.0))
        drain.is_last = not beside
        world.add(kind=kind, quiet=silent)
        drain.begin(200.0, lambda: None)
        await world.closed_soon()
        assert ("close" in world.told, world.shut.is_set()) == (closed, closed)
        drain.at_once()
        await world.shut.wait()

    run(play)


def test_a_fault_does_not_keep_the_program_from_ending(world: World, caplog: pytest.LogCaptureFixture) -> None:
    """Nobody else would end it."""

    async def fail() -> None:
        raise RuntimeError("odd")

    async def play() -> None:
        world.instance.stop = fail
        Drain(Limits()).begin(60.0, lambda: None)
        await world.shut.wait()

    run(play)
    assert "a fault of flowpool's own (drain)" in caplog.text
