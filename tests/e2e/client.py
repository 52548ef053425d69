"""A raw HTTP/1.1 client that records what it receives to the byte, when it came, and how it ended.

with Client(url) as client:
    reply = client.ask(turn(credential))           # send, read to the end
    client.send(turn(credential)); reply = client.begin()   # read the head only
    reply.until(b"content_block_stop"); client.abort()
"""

from __future__ import annotations

import contextlib
import json
import socket
import struct
import time
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Literal, Self
from urllib.parse import urlsplit

from tests.upstream.answer import Headers
from tests.upstream.asks import Request, count_tokens, startup_check, turn

__all__ = ["Client", "Event", "Reply", "Request", "count_tokens", "startup_check", "turn"]

type End = Literal["whole", "closed", "reset", "cut"]

PATIENCE = 15.0  # seconds without a byte before a test gives up
_READ = 65_536


@dataclass(frozen=True, slots=True)
class Event:
    """One frame of an event stream and when its last byte came (monotonic seconds)."""

    name: str
    data: str
    at: float

    @property
    def json(self) -> Any:
        """The data as JSON."""
        return json.loads(self.data)


@dataclass(slots=True)
class Reply:
    """What came back. end: whole (its framing ended), closed (EOF where that ends the body), cut (EOF inside), reset."""

    client: Client = field(repr=False)
    status: int = 0
    head: bytes = b""
    headers: Headers = ()
    body: bytes = b""
    chunks: list[tuple[float, bytes]] = field(default_factory=list, repr=False)
    begun_at: float = 0.0
    ended_at: float = 0.0
    end: End | None = None

    def header(self, name: str) -> str | None:
        """The first header of that name, None without one."""
        return next((value for key, value in self.headers if key.lower() == name.lower()), None)

    def until(self, mark: bytes, timeout: float = PATIENCE) -> Self:
        """Read until the body contains these bytes."""
        with self.client.patience(timeout):
            while mark not in self.body:
                if self.end is not None:
                    raise AssertionError(f"the answer ended ({self.end}) without {mark!r}: {self.body[-400:]!r}")
                self.client.read_body(self)
        return self

    def rest(self, timeout: float = PATIENCE) -> Self:
        """Read to the end, whatever it is."""
        with self.client.patience(timeout):
            while self.end is None:
                self.client.read_body(self)
        return self

    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.plain)

    @property
    def plain(self) -> bytes:
        """The body, decoded where it is gzip."""
        if self.header("content-encoding") == "gzip":
            return zlib.decompressobj(wbits=31).decompress(self.body)
        return self.body

    @property
    def error(self) -> tuple[str, str]:
        """Type and message of an error in the vendor's shape."""
        error = self.json()["error"]
        return error["type"], error["message"]

    @property
    def events(self) -> list[Event]:
        """The whole frames of an event stream; comments are left out, an unfinished frame too."""
        found, text, seen = [], b"", list(self.chunks)
        for at, chunk in seen:
            text += chunk
            *frames, text = text.replace(b"\r\n", b"\n").split(b"\n\n")
            found += [event for frame in frames if (event := _event(frame.decode(), at))]
        return found

    @property
    def text(self) -> str:
        """The text that the events, or the JSON message, say."""
        if "event-stream" not in (self.header("content-type") or ""):
            return "".join(block.get("text", "") for block in self.json()["content"])
        deltas = [event.json["delta"] for event in self.events if event.name == "content_block_delta"]
        return "".join(delta.get("text", "") for delta in deltas)

    @property
    def names(self) -> list[str]:
        """The events' names in order."""
        return [event.name for event in self.events]


class Client:
    """One connection to a proxy, driven by hand. Blocking: a test that needs two opens two."""

    def __init__(self, url: str, *, timeout: float = PATIENCE) -> None:
        parts = urlsplit(url)
        self.host, self.port = parts.hostname or "127.0.0.1", parts.port or 80
        self._timeout = timeout
        self._socket: socket.socket | None = None
        self._buffer = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()

    @property
    def socket(self) -> socket.socket:
        """The connection, opened when first needed."""
        if self._socket is None:
            self._socket = socket.create_connection((self.host, self.port), self._timeout)
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._buffer = b""
        return self._socket

    @contextlib.contextmanager
    def patience(self, timeout: float) -> Iterator[None]:
        """Give up on a byte after so many seconds."""
        before, self._timeout = self._timeout, timeout
        self.socket.settimeout(timeout)
        try:
            yield
        finally:
            self._timeout = before

    # -- sending -----------------------------------------------------------------------------------------------

    def write(self, data: bytes) -> None:
        """Put these bytes on the wire."""
        self.socket.sendall(data)

    def send(self, *requests: Request) -> None:
        """Send requests whole, one after another (several: pipelined)."""
        self.write(b"".join(request.head(self._name) + b"".join(request.pieces()) for request in requests))

    def send_head(self, request: Request) -> None:
        """Send the head alone; the body follows by `write`, piece by piece."""
        self.write(request.head(self._name))

    def trickle(self, request: Request, pieces: Iterable[bytes], gap: float) -> None:
        """Send the head, then these pieces with a gap of seconds between them, as a slow line would."""
        self.send_head(request)
        for piece in pieces:
            time.sleep(gap)  # the slowness is what is sent, not a way to wait for somebody
            self.write(piece)

    @property
    def _name(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    # -- receiving ---------------------------------------------------------------------------------------------

    def ask(self, request: Request, timeout: float = PATIENCE) -> Reply:
        """Send one request and read its answer to the end."""
        self.send(request)
        return self.begin(timeout, request.method).rest(timeout)

    def begin(self, timeout: float = PATIENCE, method: str = "POST") -> Reply:
        """Read the next answer's head, and what came with it. status 0: the connection ended before a head."""
        reply = Reply(client=self)
        with self.patience(timeout):
            while b"\r\n\r\n" not in self._buffer:
                if not self._read(reply):
                    reply.end = "reset" if reply.end == "reset" else "cut"
                    reply.head = self._buffer
                    return reply
        head, _, self._buffer = self._buffer.partition(b"\r\n\r\n")
        if head.startswith(b"HTTP/1.1 100"):
            return self.begin(timeout, method)
        self._parse(reply, head, method)
        return reply

    def _parse(self, reply: Reply, head: bytes, method: str) -> None:
        first, *lines = head.decode("latin-1").split("\r\n")
        reply.head, reply.begun_at = head, time.monotonic()
        reply.status = int(first.split(" ", 2)[1])
        pairs = (line.partition(":") for line in lines)
        reply.headers = tuple((name, value.strip()) for name, _, value in pairs)
        if method == "HEAD" or reply.status in (204, 304):
            self._finish(reply, "whole")
        elif self._buffer or reply.header("content-length") == "0":
            self.read_body(reply)

    def read_body(self, reply: Reply) -> None:
        """Take what the buffer has of the body, else one read from the socket."""
        if not self._take(reply) and reply.end is None and not self._read(reply):
            unframed = not reply.header("content-length") and not self._chunked(reply)
            self._finish(reply, "reset" if reply.end == "reset" else "closed" if unframed else "cut")
        elif reply.end is None:
            self._take(reply)

    def _take(self, reply: Reply) -> bool:
        """Move body bytes from the buffer into the reply; False when there were none."""
        before = len(reply.body)
        if self._chunked(reply):
            self._take_chunks(reply)
        elif (length := reply.header("content-length")) is not None:
            need = int(length) - len(reply.body)
            self._add(reply, self._buffer[:need])
            self._buffer = self._buffer[need:]
            if len(reply.body) == int(length):
                self._finish(reply, "whole")
        else:
            self._add(reply, self._buffer)
            self._buffer = b""
        return reply.end is not None or len(reply.body) > before

    def _take_chunks(self, reply: Reply) -> None:
        while reply.end is None:
            line, found, rest = self._buffer.partition(b"\r\n")
            size = int(line.partition(b";")[0], 16) if found else None
            if size is None or len(rest) < size + 2:
                return
            if size == 0:
                self._finish(reply, "whole")
            self._add(reply, rest[:size])
            self._buffer = rest[size + 2 :]

    def _chunked(self, reply: Reply) -> bool:
        return "chunked" in (reply.header("transfer-encoding") or "").lower()

    def _add(self, reply: Reply, data: bytes) -> None:
        if data:
            reply.body += data
            reply.chunks.append((time.monotonic(), data))

    def _finish(self, reply: Reply, end: End) -> None:
        reply.end, reply.ended_at = end, time.monotonic()

    def _read(self, reply: Reply) -> bool:
        """Read once into the buffer; False at the connection's end."""
        try:
            data = self.socket.recv(_READ)
        except ConnectionError:
            reply.end = "reset"
            return False
        self._buffer += data
        return bool(data)

    def take(self, most: int, timeout: float = PATIENCE) -> bytes:
        """Whatever bytes come, at least so many if they come: until then, the end, or so many seconds without one."""
        reply = Reply(client=self)
        with self.patience(timeout), contextlib.suppress(TimeoutError):
            while len(self._buffer) < most and self._read(reply):
                pass
        return self._buffer

    # -- leaving -----------------------------------------------------------------------------------------------

    def abort(self) -> None:
        """Leave with a TCP reset."""
        if self._socket is not None:
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close()

    def close(self) -> None:
        """Leave with a clean end; the next request opens a new connection."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def closed_by_peer(self, timeout: float = PATIENCE) -> bool:
        """Whether the other side ends this connection within that time, without a further byte."""
        try:
            self.socket.settimeout(timeout)  # connects first; a reset may come before that returns
            return self.socket.recv(1) == b""
        except TimeoutError:
            return False
        except ConnectionError:
            return True


def _event(frame: str, at: float) -> Event | None:
    fields = [line.partition(":") for line in frame.split("\n") if line and not line.startswith(":")]
    names = [value.strip() for name, _, value in fields if name == "event"]
    data = "\n".join(value.removeprefix(" ") for name, _, value in fields if name == "data")
    return Event(names[-1] if names else "message", data, at) if fields else None
