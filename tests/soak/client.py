"""An asyncio client of the soak: asks turn after turn, and now and then leaves, or reads slowly."""

from __future__ import annotations

import asyncio
import contextlib
import random
import socket
import struct
import time
import uuid
from collections import Counter
from dataclasses import dataclass, field

from tests.upstream.asks import turn

MODELS = ("claude-opus-5-5",) * 6 + ("claude-sonnet-5",) * 3 + ("claude-haiku-5",)
PATIENCE = 40.0  # seconds for one answer: longer than the proxy itself may take
CLAIM = b"anthropic-ratelimit-unified-representative-claim:"
OVERAGE = b"anthropic-ratelimit-unified-overage-in-use: true"


@dataclass(slots=True)
class Outcomes:
    """What the clients saw. wrong: refusals that no client should see while an account had room."""

    counts: Counter[str] = field(default_factory=Counter)
    statuses: Counter[int] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Client:
    """One client with sessions of its own and one connection at a time."""

    host: str
    port: int
    token: str
    draw: random.Random
    outcomes: Outcomes
    sessions: list[str] = field(init=False)
    _reader: asyncio.StreamReader | None = None
    _writer: asyncio.StreamWriter | None = None

    def __post_init__(self) -> None:
        self.sessions = [str(uuid.UUID(int=self.draw.getrandbits(128))) for _ in range(6)]

    async def run(self, until: float) -> None:
        """Ask until that moment; then leave."""
        while time.monotonic() < until:
            await asyncio.sleep(self.draw.uniform(0, 0.8))  # the client's own pace
            try:
                async with asyncio.timeout(PATIENCE):
                    await self._turn()
            except TimeoutError:
                self.outcomes.faults.append("no end of an answer within its time")
                self._leave(reset=True)
            except (OSError, asyncio.IncompleteReadError, ValueError) as error:
                self.outcomes.faults.append(f"{type(error).__name__}: {error}")
                self._leave(reset=True)
        self._leave(reset=False)

    async def _turn(self) -> None:
        draw = self.draw
        if draw.random() < 0.2:  # a new conversation
            self.sessions[draw.randrange(len(self.sessions))] = str(uuid.UUID(int=draw.getrandbits(128)))
        is_slow, stream = draw.random() < 0.03, draw.random() < 0.85
        model = draw.choice(MODELS)
        prompt = "big" if is_slow or draw.random() < 0.02 else "say hi"
        asked = turn(self.token, model=model, stream=stream, session=draw.choice(self.sessions), prompt=prompt)
        if self._writer is None or draw.random() < 0.05:
            self._leave(reset=False)
            await self._connect(is_slow=is_slow)
        assert self._writer is not None
        self._writer.write(asked.head(f"{self.host}:{self.port}") + b"".join(asked.pieces()))
        await self._writer.drain()
        self.outcomes.counts["asked"] += 1
        lot = draw.random()
        if lot < 0.06:
            await self._abort(lot)
            return
        head, body = await self._answer(is_slow=is_slow)
        self._note(head, body, model, stream=stream)

    async def _abort(self, lot: float) -> None:
        """Leave at once, a little later, or in the middle of the answer."""
        assert self._reader is not None
        self.outcomes.counts["aborted"] += 1
        if lot > 0.02:
            await asyncio.sleep(self.draw.uniform(0, 0.1))
        if lot > 0.04:
            with contextlib.suppress(asyncio.IncompleteReadError):
                await self._reader.readuntil(b"\r\n\r\n")
        self._leave(reset=self.draw.random() < 0.5)

    async def _answer(self, *, is_slow: bool) -> tuple[bytes, bytes]:
        assert self._reader is not None
        head = (await self._reader.readuntil(b"\r\n\r\n")).lower()
        body = bytearray()
        if b"transfer-encoding: chunked" in head:
            while size := int((await self._reader.readuntil(b"\r\n")).partition(b";")[0], 16):
                body += await self._read(size, is_slow=is_slow)
                await self._reader.readexactly(2)
            await self._reader.readexactly(2)
        else:
            length = next(line for line in head.split(b"\r\n") if line.startswith(b"content-length:"))
            body += await self._read(int(length.partition(b":")[2]), is_slow=is_slow)
        if b"connection: close" in head:
            self._leave(reset=False)
        return head, bytes(body)

    async def _read(self, size: int, *, is_slow: bool) -> bytes:
        assert self._reader is not None
        if not is_slow:
            return await self._reader.readexactly(size)
        data = b""
        while len(data) < size:
            await asyncio.sleep(0.02)  # the slowness itself
            data += await self._reader.readexactly(min(4_096, size - len(data)))
        return data

    def _note(self, head: bytes, body: bytes, model: str, *, stream: bool) -> None:
        status = int(head.split(b" ", 2)[1])
        self.outcomes.statuses[status] += 1
        is_whole = b"message_stop" in body if stream else b'"stop_reason"' in body
        end = ("complete" if is_whole else "cut") if status == 200 else "refused"
        self.outcomes.counts[end] += 1
        is_paid = status == 200 and OVERAGE in head
        if "haiku" not in model and (is_paid or status in (401, 402, 403) or (status != 200 and CLAIM in head)):
            self.outcomes.wrong.append(f"{model} {status} {body[:200]!r}")

    async def _connect(self, *, is_slow: bool) -> None:
        sock = socket.socket()
        sock.setblocking(False)
        if is_slow:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        await asyncio.get_running_loop().sock_connect(sock, (self.host, self.port))
        self._reader, self._writer = await asyncio.open_connection(sock=sock, limit=2**16)

    def _leave(self, *, reset: bool) -> None:
        if self._writer is not None:
            if reset:
                sock = self._writer.get_extra_info("socket")
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                self._writer.transport.abort()
            self._writer.close()
        self._reader = self._writer = None
