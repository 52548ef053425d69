"""One connection's bytes: HTTP/1.1 requests read off it, steps written to it.

Written by hand on asyncio.Protocol, for half of what the fake must do is what a web framework exists to prevent: resets
in mid-frame, two lengths, chunks that lie, headers in their own case and order. aiohttp cannot say these things, h11
refuses to; one plain reader and one interpreter of steps (about 150 lines) say all answers the same way.
"""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from tests.upstream.answer import Headers
from tests.upstream.steps import End, Gate, Pause, Reset, Send, Silence, Step

type Serve = Callable[["Wire"], Awaitable[None]]
type WaitAt = Callable[[str], Awaitable[None]]


class PeerLeftError(Exception):
    """The peer closed or reset the connection."""


class ScriptEndedError(Exception):
    """The script closed or reset the connection."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """A request's head; length None means chunked."""

    method: str
    path: str
    headers: Headers
    length: int | None
    keep: bool


class Wire(asyncio.Protocol):
    """A connection that awaits bytes, writes steps and knows when its peer has left."""

    def __init__(self, number: int, serve: Serve, wait_at: WaitAt) -> None:
        self.number = number
        self.task: asyncio.Task[None] | None = None
        self._serve, self._wait_at = serve, wait_at
        self._buffer = bytearray()
        self._news, self._writable, self._gone = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self._transport: asyncio.Transport

    # -- asyncio's side ----------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        if transport.get_extra_info("sslcontext") is None:  # with TLS asyncio would pause for good
            transport.set_write_buffer_limits(high=0)  # "written" means: the kernel has it
        self._writable.set()
        self.task = asyncio.ensure_future(self._run())

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        self._news.set()

    def eof_received(self) -> bool:
        self._leave()
        return True  # an answer that is on its way may still be written

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002  asyncio names it
        self._leave()
        self._writable.set()

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()

    def _leave(self) -> None:
        self._gone.set()
        self._news.set()

    async def _run(self) -> None:
        try:
            await self._serve(self)
        except (PeerLeftError, ScriptEndedError, ConnectionError):
            pass
        finally:
            self._transport.close()

    # -- reading -----------------------------------------------------------------------------------------------

    async def read_head(self) -> Head:
        """The next request's head."""
        end = await self._find(b"\r\n\r\n")
        text = bytes(self._buffer[:end]).decode("latin-1")
        del self._buffer[: end + 4]
        first, *lines = text.split("\r\n")
        method, path, _ = first.split(" ")
        pairs = tuple((name, value.strip()) for name, _, value in (line.partition(":") for line in lines))
        low = {name.lower(): value.lower() for name, value in pairs}
        chunked = "chunked" in low.get("transfer-encoding", "")
        length = None if chunked else int(low.get("content-length", "0"))
        if low.get("expect") == "100-continue":
            self._transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        return Head(method=method, path=path, headers=pairs, length=length, keep=low.get("connection") != "close")

    async def read_body(self, head: Head) -> bytes:
        """The rest of that request."""
        if head.length is not None:
            return await self._take(head.length)
        body = bytearray()
        while size := int((await self._line()).partition(b";")[0], 16):
            body += await self._take(size)
            await self._line()
        while await self._line():
            pass  # trailers
        return bytes(body)

    def rest(self) -> bytes:
        """What has come and was not read."""
        return bytes(self._buffer)

    async def _line(self) -> bytes:
        end = await self._find(b"\r\n")
        line = await self._take(end + 2)
        return line[:-2]

    async def _find(self, mark: bytes) -> int:
        while (at := self._buffer.find(mark)) < 0:
            await self._more()
        return at

    async def _take(self, count: int) -> bytes:
        while len(self._buffer) < count:
            await self._more()
        taken = bytes(self._buffer[:count])
        del self._buffer[:count]
        return taken

    async def _more(self) -> None:
        if self._gone.is_set():
            raise PeerLeftError
        self._news.clear()
        await self._news.wait()

    # -- writing -----------------------------------------------------------------------------------------------

    async def perform(self, step: Step) -> None:
        """Do one step; raises when the connection has ended."""
        match step:
            case Send(data):
                self._transport.write(data)
                await self._writable.wait()
                if self._gone.is_set():
                    raise PeerLeftError
            case Pause(seconds):
                await self._while_here(asyncio.sleep(seconds))
            case Gate(name):
                await self._while_here(self._wait_at(name))
            case Silence():
                await self._gone.wait()
                raise PeerLeftError
            case End():
                self._transport.close()
                raise ScriptEndedError
            case Reset():
                self.reset()
                raise ScriptEndedError

    def reset(self) -> None:
        """Cut the connection with a TCP reset."""
        sock: socket.socket = self._transport.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._transport.abort()

    def abort(self) -> None:
        """End the connection at once, whatever is still under way."""
        self._transport.abort()

    def close(self) -> None:
        """End the connection cleanly."""
        self._transport.close()

    async def _while_here(self, what: Awaitable[None]) -> None:
        doing, gone = asyncio.ensure_future(what), asyncio.ensure_future(self._gone.wait())
        try:
            await asyncio.wait((doing, gone), return_when=asyncio.FIRST_COMPLETED)
            if not doing.done():
                raise PeerLeftError
        finally:
            doing.cancel()
            gone.cancel()
