"""What the proxy before learns while it ends is known to the next one."""

import asyncio
import os
from datetime import timedelta

import pytest

from addons.catchup import CatchUp
from addons.predecessors import Predecessors
from home.state.state import utc_now
from routing.observations import AccountsChanged, Observation, Restored
from routing.remembered import Remembered
from routing.router import Router
from routing.rules import Rules
from tests.addons.made import accounts


class Remembers:
    """Writes down that it was asked to write what it knows first."""

    def __init__(self) -> None:
        self.flushes, self.twice = 0, asyncio.Event()

    async def flush(self) -> bool:
        self.flushes += 1
        if self.flushes > 1:
            self.twice.set()
        return True


class Observed(Router):
    """A router of which a test sees what it was told."""

    def __init__(self) -> None:
        super().__init__(Rules())
        self.told: list[Observation] = []
        self.observe(AccountsChanged(accounts=tuple(accounts("work").values())))

    def observe(self, observation: Observation) -> None:
        if hasattr(self, "told"):
            self.told.append(observation)
        super().observe(observation)


def test_it_looks_until_the_last_of_those_before_has_ended_and_once_more() -> None:
    """Each time after this process has written its own, so that nothing comes back that it has let go."""
    router, remembers = Observed(), Remembers()
    pipes = [os.pipe() for _ in range(2)]
    before = Predecessors([(4711 + at, reader) for at, (reader, _) in enumerate(pipes)])

    async def play() -> None:
        found = CatchUp(router, remembers, before, Remembered, every=0.01)  # type: ignore[arg-type]
        found.running()
        os.close(pipes[1][1])  # the one right before: the other one still answers
        await remembers.twice.wait()
        os.close(pipes[0][1])
        assert found._rounds._task is not None
        with pytest.raises(asyncio.CancelledError):
            await found._rounds._task
        found.done()

    asyncio.run(asyncio.wait_for(play(), 20))
    restored = [one for one in router.told if isinstance(one, Restored)]
    assert len(restored) == remembers.flushes >= 3


def test_holds_are_left_to_the_next_answer() -> None:
    """One that was lifted here would come back from there."""
    router = Observed()
    told = Remembered(holds={}, sticks={}, pins={})

    async def play() -> None:
        await CatchUp(router, Remembers(), Predecessors(), lambda: told).look()  # type: ignore[arg-type]

    asyncio.run(play())
    (restored,) = (one for one in router.told if isinstance(one, Restored))
    assert (restored.remembered.holds, restored.remembered.pins) == ({}, {})
    assert utc_now() - restored.at < timedelta(minutes=1)


def test_without_a_predecessor_nobody_looks() -> None:
    """At a start there is nothing to wait for."""

    async def play() -> None:
        found = CatchUp(Observed(), Remembers(), Predecessors(), Remembered)  # type: ignore[arg-type]
        found.running()
        assert found._rounds._task is None
        found.done()

    asyncio.run(play())
