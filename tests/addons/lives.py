"""A life as the addons share it, and the connections that it ends, of which a test sees what became."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest
from mitmproxy import ctx

from addons import clients, drain
from addons.life import Life
from addons.predecessors import Predecessors
from home.tables import Limits


@dataclass
class Lived:
    """What was asked of the rest of the proxy, in order."""

    told: list[str] = field(default_factory=list)
    fault: Exception | None = None
    before: Predecessors = field(default_factory=Predecessors)
    during: Callable[[], object] = lambda: None

    def life(self, **limits: Any) -> Life:
        """Make one; a fault is what checking the settings raises."""
        return Life(
            Limits(**limits),
            turn_away=lambda: self.told.append("turn away"),
            rest=(lambda: self.told.append("rest"),),
            flush=self._flush,
            check=self._check,
            again=lambda: self.told.append("again"),
            before=self.before,
        )

    async def _flush(self) -> None:
        self.told.append("flush")

    def _check(self) -> None:
        self.during()
        if self.fault is not None:
            raise self.fault


class Client:
    """Something that a connection is known by."""


class World:
    """A mitmproxy with one listener, and connections that are what a test says."""

    def __init__(self) -> None:
        self.told: list[str] = []
        self.closed = asyncio.Event()
        self.handlers: list[Any] = []
        self.shut = asyncio.Event()
        self.instance = SimpleNamespace(is_running=True, stop=self._stop)

    async def _stop(self) -> None:
        self.told.append("stop accepting")
        self.instance.is_running = False

    async def closed_soon(self) -> None:
        """Let the drain take several looks."""
        await asyncio.sleep(4 * drain.EVERY)

    def add(self, *, works: bool = False, sockets: int = 0, quiet: float = True, kind: str = "") -> Any:
        """One more connection. quiet: whether, or for how many seconds; kind: "tunnel" or "reading"."""
        made = SimpleNamespace(client=Client(), works=works, sockets=[object()] * sockets, quiet=quiet)
        made.is_tunnel, made.is_reading = kind == "tunnel", kind == "reading"
        self.handlers.append(made)
        return made

    def close(self, handler: Any) -> None:
        if any(one is handler for one in self.handlers):
            self.told.append("close")
            self.closed.set()
        self.forget(handler)

    def forget(self, handler: Any) -> None:
        self.handlers = [one for one in self.handlers if one is not handler]

    async def close_socket(self, handler: Any, _socket: object) -> None:
        self.told.append("close socket")
        handler.sockets = []
        self.forget(handler)

    async def cut(self, _handler: Any) -> None:
        self.told.append("cut")


def stand_in(monkeypatch: pytest.MonkeyPatch) -> World:
    """Make a world, in the place of mitmproxy's connections."""
    made = World()
    master = SimpleNamespace(
        addons=SimpleNamespace(get=lambda _: SimpleNamespace(servers=[made.instance])), shutdown=made.shut.set
    )
    monkeypatch.setattr(ctx, "master", master, raising=False)
    fakes: dict[str, Callable[..., Any]] = {
        "connected": lambda: list(made.handlers),
        "in_flight": lambda: sum(one.works for one in made.handlers),
        "is_at_work": lambda one: one.works,
        "sockets": lambda one: one.sockets,
        "is_tunnel": lambda one: one.is_tunnel,
        "is_reading": lambda one: one.is_reading,
        "is_quiet": lambda one, seconds: one.quiet if isinstance(one.quiet, bool) else one.quiet >= seconds,
        "close": made.close,
        "close_socket": made.close_socket,
        "cut": made.cut,
    }
    for name, fake in fakes.items():
        monkeypatch.setattr(clients, name, fake)
    return made
