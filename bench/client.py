"""The load client: as little as Python can do between two requests, so that what is measured is the proxy."""

import asyncio
import itertools
import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import cast, override

PATIENCE = 120.0  # seconds for one bounded piece of work
OK = b"200"

_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_STAMP = re.compile(rb"@(\d+);")
_LAST = b"0\r\n\r\n"
_KEPT = 64  # bytes in which a stamp that was cut in two still fits

type Address = tuple[str, int]
type Told = Callable[[float, bytes], None]


class UnexpectedError(Exception):
    """An answer that makes the measurement worthless."""


class _Talk(asyncio.Protocol):
    """What both kinds of connection share: a failure ends the measurement."""

    def __init__(self) -> None:
        self.over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.transport: asyncio.Transport | None = None

    @override
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        self.fail(f"the connection was closed: {exc}")

    def fail(self, why: str) -> None:
        """End with an error, unless it ended already."""
        if not self.over.done():
            self.over.set_exception(UnexpectedError(why))

    def end(self) -> None:
        """End well."""
        if not self.over.done():
            self.over.set_result(None)
        if self.transport is not None:
            self.transport.close()


class _Asker(_Talk):
    """Sends one request after the other's answer; wires: what is left to send, shared with other connections."""

    def __init__(self, wires: Iterator[bytes], told: Told, allowed: frozenset[bytes]) -> None:
        super().__init__()
        self._wires, self._told, self._allowed = wires, told, allowed
        self._buffer = b""
        self._whole = 0
        self._sent = 0.0

    @override
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._send()

    def _send(self) -> None:
        wire = next(self._wires, None)
        if wire is None:
            self.end()
            return
        assert self.transport is not None  # noqa: S101 - it is connected
        self._sent = time.perf_counter()
        self.transport.write(wire)

    @override
    def data_received(self, data: bytes) -> None:
        self._buffer += data
        if not self._whole:
            end = self._buffer.find(b"\r\n\r\n")
            if end < 0:
                return
            length = _LENGTH.search(self._buffer, 0, end + 2)
            if length is None or self._buffer[9:12] not in self._allowed:
                self.fail(f"an answer that nobody expects: {self._buffer[:300]!r}")
                self.end()
                return
            self._whole = end + 4 + int(length[1])
        if len(self._buffer) >= self._whole:
            self._told(time.perf_counter() - self._sent, self._buffer)
            self._buffer, self._whole = b"", 0
            self._send()


class _Listener(_Talk):
    """Follows one event stream and tells how long each stamped event was on its way, in seconds."""

    def __init__(self, wire: bytes, told: Callable[[float], None]) -> None:
        super().__init__()
        self._wire, self._told = wire, told
        self._buffer = b""

    @override
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        cast(asyncio.Transport, transport).write(self._wire)

    @override
    def data_received(self, data: bytes) -> None:
        now = time.monotonic_ns()
        buffer, at = self._buffer + data, 0
        for stamp in _STAMP.finditer(buffer):
            self._told((now - int(stamp[1])) / 1e9)
            at = stamp.end()
        if buffer.endswith(_LAST):
            self.end()
        elif b"429 Too Many" in buffer or b"event: error" in buffer or b"HTTP/1.1 5" in buffer:
            self.fail(f"a stream that nobody expects: {buffer[:300]!r}")
            self.end()
        self._buffer = buffer[max(at, len(buffer) - _KEPT) :]


def ask(address: Address, wires: Sequence[bytes], count: int) -> list[float]:
    """Send so many requests over one connection for each wire, each on its turn; returns the seconds that each took."""
    taken: list[float] = []
    each = count // len(wires)

    def tell(seconds: float, _answer: bytes) -> None:
        taken.append(seconds)

    async def run() -> None:
        await _together(address, [partial(_Asker, itertools.repeat(w, each), tell, frozenset([OK])) for w in wires], 0)

    asyncio.run(run())
    return taken


def ask_each(address: Address, wires: Iterable[bytes], connections: int) -> list[bytes]:
    """Send every one of these requests once, over so many connections; returns the answers as they came."""
    answers: list[bytes] = []
    ask_all(address, wires, connections, told=lambda _, answer: answers.append(answer))
    return answers


def ask_all(
    address: Address,
    wires: Iterable[bytes],
    connections: int,
    *,
    told: Told = lambda _seconds, _answer: None,
    allowed: Iterable[bytes] = (OK,),
) -> None:
    """Send every one of these requests once, over so many connections."""
    left, given = iter(wires), frozenset(allowed)

    async def run() -> None:
        await _together(address, [lambda: _Asker(left, told, given)] * connections, 0)

    asyncio.run(run())


def listen(address: Address, wires: Sequence[bytes], *, ramp_s: float, during: Callable[[], object]) -> list[float]:
    """Follow one stream for each wire, begun one after another; during: called every half second. Returns all delays."""
    delays: list[float] = []

    async def watch() -> None:
        while True:
            during()
            await asyncio.sleep(0.5)

    async def run() -> None:
        watching = asyncio.create_task(watch())
        await _together(address, [partial(_Listener, w, delays.append) for w in wires], ramp_s / len(wires))
        watching.cancel()

    asyncio.run(run())
    return delays


async def _together(address: Address, makers: Sequence[Callable[[], _Talk]], pause: float) -> None:
    loop = asyncio.get_running_loop()
    talks: list[_Talk] = []
    async with asyncio.timeout(PATIENCE):
        for make in makers:
            _, talk = await loop.create_connection(make, *address)
            talks.append(talk)
            if pause:
                await asyncio.sleep(pause)
        await asyncio.gather(*(talk.over for talk in talks))
