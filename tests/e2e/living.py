"""A proxy that is followed by others: found by its folder, ended by the real `flowpool stop`; and a load that counts who is refused."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

from flowpool import stop
from flowpool.proxy import Proxy as Asked
from flowpool.proxy import find
from home import running
from home.paths import Home
from home.running import Running
from tests.e2e.client import PATIENCE
from tests.e2e.harness import Member, Proxy, Settings
from tests.e2e.pool import Pool, token
from tests.upstream import Upstream, plant
from tests.upstream.asks import Request

MOST = 40  # requests at once: a machine that is busy with other tests keeps up with fewer
FIRST = 60.0  # seconds for one answer under load on a busy machine


class Living(Proxy):
    """`flowpool serve`, whose first process is forked; those that follow it are started as it starts them."""

    def __init__(
        self,
        folder: Path,
        upstream: Upstream | str,
        members: Sequence[Member],
        settings: Settings | None = None,
        env: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(
            folder, upstream, members, settings=settings, program="flowpool serve", env=env, told_mode=True
        )

    @property
    def place(self) -> Home:
        """Its folders."""
        return Home.find(self.env())

    def now(self) -> Running:
        """Who serves."""
        found = running.read(self.place.running)
        assert found is not None, self.log_text()
        return found

    def asked(self) -> Asked:
        """Who serves, as the command line asks it."""
        found = find(self.place)
        assert found is not None, self.log_text()
        return found

    def end(self, *, now: bool = False) -> str:
        """Stop whoever serves."""
        return stop.end(self.place, now=now, say=lambda _: None)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.end(now=error is not None)
        super().__exit__(kind, error, tb)


PATIENT = {"stream_idle_s": 60, "stream_total_s": 120, "headers_s": 60, "drain_s": 60}
"""Limits for streams that last while processes start."""


@contextmanager
def living(
    folder: Path, *names: str, settings: Settings | None = None, env: Mapping[str, str] | None = None
) -> Iterator[tuple[Pool, Living]]:
    """A pool of accounts, asked in this order, whose proxy may be followed by others; it and they are gone afterwards."""
    limits = {"limits": {**PATIENT, **(settings or {}).get("limits", {})}}
    settings = {**(settings or {}), **limits}
    members = [Member(name=name, secret=plant(name), rank=at) for at, name in enumerate(names, 1)]
    client = plant("client")
    with Upstream({member.name: token(member) for member in members} | {"client": client}) as upstream:
        with Living(folder, upstream, members, settings, env) as proxy:
            yield Pool(upstream, proxy, client), proxy
        assert upstream.faults == []


def until(claim: Callable[[], bool], what: str, patience: float = PATIENCE) -> None:
    """Return as soon as the claim is true; fails when that does not come about."""
    end = time.monotonic() + patience
    while not claim():
        assert time.monotonic() < end, f"not within {patience} s: {what}"
        time.sleep(0.02)  # between two looks at another process


def gone(found: Running, what: str = "the old process is gone") -> None:
    """Return when a process has ended."""
    until(lambda: not running.is_there(found), what)


@dataclass
class Load:
    """New connections, so many a second as long as MOST are not waiting, each with one request. failed: what went wrong, and how often."""

    url: str
    request: Request
    rate: float = 200.0
    answered: int = 0
    failed: Counter[str] = field(default_factory=Counter)
    slowest: float = 0.0
    _over: threading.Event = field(default_factory=threading.Event)

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run()), daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join(2 * FIRST)
        assert not self._thread.is_alive()

    async def _run(self) -> None:
        tasks, begun, count = set[asyncio.Task[None]](), time.monotonic(), 0
        while not self._over.is_set():
            while count < (time.monotonic() - begun) * self.rate and len(tasks) < MOST:
                count += 1
                task = asyncio.create_task(self._ask())
                tasks.add(task)
                task.add_done_callback(tasks.discard)
            await asyncio.sleep(0.005)  # the pace
        await asyncio.gather(*tasks)

    async def _ask(self) -> None:
        begun = time.monotonic()
        try:
            async with asyncio.timeout(FIRST):
                why = await self._answer()
        except (OSError, ValueError, EOFError) as error:
            why = f"{type(error).__name__}: {error}"
        self.slowest = max(self.slowest, time.monotonic() - begun)
        if why:
            self.failed[why] += 1
        else:
            self.answered += 1

    async def _answer(self) -> str:
        """Ask once; what was wrong with the answer."""
        parts = urlsplit(self.url)
        reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
        try:
            writer.write(self.request.head(parts.netloc) + b"".join(self.request.pieces()))
            head = await reader.readuntil(b"\r\n\r\n")
            lines: list[Any] = [line.partition(b":") for line in head.lower().split(b"\r\n")]
            length = next((int(value) for name, _, value in lines if name == b"content-length"), None)
            status = head.split(b" ", 2)[1].decode()
            if length is None:
                return f"{status} without a length"
            await reader.readexactly(length)
            return "" if status == "200" else status
        finally:
            writer.close()
