"""A fake upstream that costs as little as Python can: `python -m bench.upstream` prints its port and serves until it is ended.

The request's x-bench header says what it gets: nothing (a small JSON answer); `sse RATE COUNT` (an event stream whose events
carry the instant at which each was written); `limit ID` or `bare ID` (a 429 with or without usage headers the first time that
this ID comes, then JSON that tells how long the second request took to arrive, and how many bytes the refusal had).
"""

import asyncio
import contextlib
import gc
import itertools
import re
import signal
import time
from dataclasses import dataclass, field
from typing import cast, override

from tests.upstream.answer import Headers
from tests.upstream.limits import Window as Told
from tests.upstream.limits import healthy, ids, unified

REFUSAL_BODY = 50_000
GOLDEN = 0.618034  # its multiples spread evenly, so that streams do not write all at once
LATE = 0.05  # seconds behind its own schedule: after that a stream's clock starts anew

_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_ORDER = re.compile(rb"\r\nx-bench: *([^\r]*)", re.IGNORECASE)
_EVENT = (
    b"event: content_block_delta\ndata: "
    b'{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"some words as they come @%d;"}}\n\n'
)
_BEGIN = (
    b'event: message_start\ndata: {"type":"message_start","message":{"id":"msg_bench","type":"message","role":"assistant",'
    b'"model":"claude-opus-5-5","content":[],"usage":{"input_tokens":12,"cache_read_input_tokens":9000,"output_tokens":1}}}\n\n'
    b'event: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}\n\n'
)
_FINISH = (
    b'event: content_block_stop\ndata: {"type":"content_block_stop","index":0}\n\n'
    b'event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":99}}\n\n'
    b'event: message_stop\ndata: {"type":"message_stop"}\n\n'
)
_MESSAGE = (
    b'{"id":"msg_bench","type":"message","role":"assistant","model":"claude-opus-5-5","content":[{"type":"text",'
    b'"text":"Hello. What shall we do?"}],"stop_reason":"end_turn","hop_ns":%d,'
    b'"usage":{"input_tokens":12,"cache_read_input_tokens":9000,"output_tokens":25}}'
)
_ERROR = b'{"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed a limit.%b"}}'


def _head(status: str, kind: str, headers: Headers, framing: bytes) -> bytes:
    lines = [f"HTTP/1.1 {status}", f"content-type: {kind}", *(f"{name}: {value}" for name, value in headers)]
    return "\r\n".join(lines).encode() + b"\r\n" + framing + b"\r\n\r\n"


def _whole(status: str, headers: Headers, body: bytes) -> bytes:
    return _head(status, "application/json", headers, b"content-length: %d" % len(body)) + body


@dataclass
class Answers:
    """What is said, made once at the start, and when each refusal was written."""

    refused: dict[bytes, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Make the answers."""
        good = (*ids(), *healthy(in_5h=90_000, in_7d=290_000))
        spent = unified(
            Told(key="5h"), Told(key="7d", used=1.0, status="rejected"), status="rejected", claim="seven_day"
        )
        padded = _ERROR % (b" " * REFUSAL_BODY)
        self._good = good
        self._small = _whole("200 OK", good, _MESSAGE % 0)
        self.stream = _head("200 OK", "text/event-stream; charset=utf-8", good, b"transfer-encoding: chunked")
        self._refusals = {
            b"limit": _whole("429 Too Many Requests", (*ids(), *spent, ("retry-after", "3600")), _ERROR % b""),
            b"bare": _whole("429 Too Many Requests", ids(), padded),
        }

    def to(self, order: list[bytes], at: int) -> bytes:
        """The whole answer to a request that began to arrive at that instant (monotonic, nanoseconds)."""
        if not order:
            return self._small
        kind, name = order
        written = self.refused.pop(name, None)
        if written is not None:
            return _whole("200 OK", self._good, _MESSAGE % (at - written))
        self.refused[name] = time.monotonic_ns()
        return self._refusals[kind]


def _chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


class Connection(asyncio.Protocol):
    """One connection: reads requests one after another and keeps nothing of their bodies."""

    count = itertools.count()

    def __init__(self, answers: Answers) -> None:
        self._answers = answers
        self._loop = asyncio.get_running_loop()
        self._buffer = b""
        self._left = 0  # bytes of the body that are still to come
        self._order: list[bytes] = []
        self._at = 0
        self._transport: asyncio.Transport | None = None

    @override
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None

    @override
    def data_received(self, data: bytes) -> None:
        if self._left:
            self._left -= len(data)
        else:
            if not self._buffer:
                self._at = time.monotonic_ns()
            self._buffer += data
            head, end, body = self._buffer.partition(b"\r\n\r\n")
            if not end:
                return
            self._buffer = b""
            length, order = _LENGTH.search(head), _ORDER.search(head)
            self._left = (int(length[1]) if length else 0) - len(body)
            self._order = order[1].split() if order else []
        if self._left <= 0:
            self._left = 0
            self._answer()

    def _answer(self) -> None:
        if self._order[:1] == [b"sse"]:
            interval = 1 / float(self._order[1])
            self._write(self._answers.stream + _chunk(_BEGIN))
            phase = next(self.count) * GOLDEN % 1
            self._next(self._loop.time() + interval * (1 + phase), interval, int(self._order[2]))
        else:
            self._write(self._answers.to(self._order, self._at))

    def _next(self, at: float, interval: float, left: int) -> None:
        at = max(at, self._loop.time() - LATE)
        self._loop.call_at(at, self._event, at, interval, left)

    def _event(self, at: float, interval: float, left: int) -> None:
        if left:
            self._write(_chunk(_EVENT % time.monotonic_ns()))
            self._next(at + interval, interval, left - 1)
        else:
            self._write(_chunk(_FINISH) + b"0\r\n\r\n")

    def _write(self, data: bytes) -> None:
        if self._transport is not None:
            self._transport.write(data)


async def _serve() -> None:
    answers, loop, over = Answers(), asyncio.get_running_loop(), asyncio.Event()
    server = await loop.create_server(lambda: Connection(answers), "127.0.0.1", 0, backlog=512)
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, over.set)
    print(f"upstream: listening on http://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)  # noqa: T201
    gc.collect()
    gc.freeze()
    async with server:
        await over.wait()
        server.close_clients()


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_serve())
