"""Requests that wait are woken, each in its own connection's task."""

import asyncio
from types import SimpleNamespace

import pytest
from mitmproxy import ctx

from addons.events import Nudge, Woke
from addons.pauses import PAUSED, wake_paused, woke
from addons.replaylayer import ReplayLayer
from tests.addons.scripted import plain_layer


class Sleeper:
    """A paused request, as far as waking it goes."""

    def __init__(self, number: int) -> None:
        self.context = SimpleNamespace(client=SimpleNamespace(id=number))
        self.due: float | None = 1e9


def test_who_was_woken_by_another_is_not_woken_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """A request that was woken while another one woke is dialling by now: a second time would cut its connection off."""
    sleepers = [Sleeper(0), Sleeper(1)]
    nudges: list[object] = []

    class Handler:
        async def server_event(self, event: object) -> None:
            nudges.append(event)
            for sleeper in sleepers:  # each asks, and dials with a deadline of its own
                PAUSED.discard(sleeper)  # type: ignore[arg-type]
                sleeper.due = 5.0

    connections = {0: Handler(), 1: Handler()}
    proxyserver = SimpleNamespace(connections=connections)
    addons = SimpleNamespace(get=lambda _name: proxyserver)
    monkeypatch.setattr(ctx, "master", SimpleNamespace(addons=addons), raising=False)

    async def play() -> None:
        asyncio.get_running_loop().set_task_factory(asyncio.eager_task_factory)
        for sleeper in sleepers:
            PAUSED.add(sleeper)  # type: ignore[arg-type]
        wake_paused()

    asyncio.run(play())
    assert len(nudges) == 1
    assert [sleeper.due for sleeper in sleepers] == [5.0, 5.0]


def test_after_a_sleep_every_layer_of_ours_is_told_and_who_paused_looks_at_the_clock(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Connections whose layers are others' know no such event."""
    told: list[tuple[str, type]] = []

    class Handler:
        def __init__(self, name: str, layer: object) -> None:
            self.name, self.layer = name, layer

        async def server_event(self, event: object) -> None:
            told.append((self.name, type(event)))

    ours, other = plain_layer(), plain_layer()
    ours.__class__ = ReplayLayer
    proxyserver = SimpleNamespace(connections={0: Handler("ours", ours), 1: Handler("other", other)})
    monkeypatch.setattr(
        ctx, "master", SimpleNamespace(addons=SimpleNamespace(get=lambda _name: proxyserver)), raising=False
    )
    sleeper = Sleeper(0)

    async def play() -> None:
        asyncio.get_running_loop().set_task_factory(asyncio.eager_task_factory)
        PAUSED.add(sleeper)  # type: ignore[arg-type]
        woke()
        PAUSED.discard(sleeper)  # type: ignore[arg-type]

    asyncio.run(play())
    assert told == [("ours", Woke), ("ours", Nudge)]
    assert sleeper.due == 0.0
