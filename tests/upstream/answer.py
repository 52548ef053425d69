"""One scripted answer: a head, the parts of a body, and what happens between them.

Every builder returns an Answer and every method returns a changed copy, so that a test says
`ok("hello").crlf().gap(0.01).cut(after="content_block_stop")`. Methods act on the parts as they stand: cut by an
event's name before `encoded` or `bytewise` makes the names unreadable.
"""

from __future__ import annotations

import json
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import Literal, Self

import brotli

from tests.upstream.steps import Act, End, Gate, Pause, Reset, Send, Silence, Step

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

type Framing = Literal["length", "chunked", "close", "raw"]
type How = Literal["reset", "fin", "whole", "silence"]
type Coding = Literal["gzip", "deflate", "br", "zstd"]
type Headers = tuple[tuple[str, str], ...]
type Part = bytes | Act


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What the fake sends back to one request.

    framing: "raw" writes the parts alone, without status line, headers or framing.
    before: acts ahead of the head. early: answer as soon as the request's head is read, its body unread.
    declared: the content-length to claim when it is not the true one.
    """

    label: str
    status: int = 200
    headers: Headers = ()
    parts: tuple[Part, ...] = ()
    framing: Framing = "length"
    before: tuple[Act, ...] = ()
    early: bool = False
    declared: int | None = None

    # -- what is sent ------------------------------------------------------------------------------------------

    @property
    def body(self) -> bytes:
        """The body's bytes, were it sent whole."""
        return b"".join(part for part in self.parts if isinstance(part, bytes))

    def header(self, name: str) -> str | None:
        """The first header of that name, None without one."""
        return next((value for key, value in self.headers if key.lower() == name.lower()), None)

    def steps(self, *, head_only: bool = False) -> Iterator[Step]:
        """The acts that send this answer; head_only leaves the body out, as for HEAD."""
        yield from self.before
        if self.framing != "raw":
            yield Send(self._head())
        for part in () if head_only and self.framing != "raw" else self.parts:
            if not isinstance(part, bytes):
                yield part
            elif part:
                yield Send(b"%x\r\n%b\r\n" % (len(part), part) if self.framing == "chunked" else part)
        if self.framing == "chunked" and not head_only:
            yield Send(b"0\r\n\r\n")
        if self.framing == "close":
            yield End()

    def _head(self) -> bytes:
        reason = HTTPStatus(self.status).phrase if self.status in set(HTTPStatus) else "Overloaded"
        lines = [f"HTTP/1.1 {self.status} {reason}", *(f"{name}: {value}" for name, value in self.headers)]
        if self.framing == "chunked":
            lines.append("transfer-encoding: chunked")
        elif self.framing == "length":
            lines.append(f"content-length: {len(self.body) if self.declared is None else self.declared}")
        else:
            lines.append("connection: close")
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")

    # -- heads -------------------------------------------------------------------------------------------------

    def named(self, label: str) -> Self:
        """The same answer under another label."""
        return replace(self, label=label)

    def having(self, *headers: tuple[str, str]) -> Self:
        """With these headers, each in place of those of its name."""
        names = {name.lower() for name, _ in headers}
        return replace(self, headers=(*(pair for pair in self.headers if pair[0].lower() not in names), *headers))

    def without(self, *prefixes: str) -> Self:
        """Without the headers whose names start so."""
        low = tuple(prefix.lower() for prefix in prefixes)
        return replace(self, headers=tuple(pair for pair in self.headers if not pair[0].lower().startswith(low)))

    def framed(self, framing: Framing) -> Self:
        """With another framing of the body."""
        return replace(self, framing=framing)

    def claiming(self, length: int) -> Self:
        """With a content-length that need not be true; the connection ends with the body when it is too long."""
        acts: tuple[Part, ...] = (End(),) if length > len(self.body) else ()
        return replace(self, framing="length", declared=length, parts=(*self.parts, *acts))

    # -- time --------------------------------------------------------------------------------------------------

    def late(self, wait: float | str) -> Self:
        """With headers that come after so many seconds, or after a gate."""
        return replace(self, before=(*self.before, _wait(wait)))

    def at_once(self) -> Self:
        """Sent as soon as the request's head is read, its body unread."""
        return replace(self, early=True)

    def slow_start(self, wait: float | str) -> Self:
        """With a pause or a gate between the head and the body."""
        return replace(self, parts=(_wait(wait), *self.parts))

    def gap(self, wait: float | str) -> Self:
        """With a pause (or one gate) between all parts of the body."""
        spread: list[Part] = []
        for part in self.parts:
            spread += [_wait(wait), part] if isinstance(part, bytes) and spread else [part]
        return replace(self, parts=tuple(spread))

    def wait(self, wait: float | str, *, after: str | int, nth: int = 1) -> Self:
        """With a pause or a gate after that event (a name, or an index of bytes parts)."""
        at = self._find(after, nth)
        return replace(self, parts=(*self.parts[: at + 1], _wait(wait), *self.parts[at + 1 :]))

    # -- cuts --------------------------------------------------------------------------------------------------

    def cut(self, how: How = "reset", *, after: str | int, nth: int = 1, torn: bool = False) -> Self:
        """Ended after that event, or (torn) in the middle of the next one.

        reset, fin: the connection ends inside the framing. whole: the framing ends well, the stream does not.
        silence: nothing more comes.
        """
        at = self._find(after, nth) + 1 if after != -1 else 0
        kept = list(self.parts[:at])
        rest = [part for part in self.parts[at:] if isinstance(part, bytes)]
        if torn and rest:
            kept.append(rest[0][: len(rest[0]) // 2])
        acts: dict[How, tuple[Part, ...]] = {"reset": (Reset(),), "fin": (End(),), "whole": (), "silence": (Silence(),)}
        declared = len(self.body) if self.framing == "length" and how != "whole" else None
        return replace(self, parts=(*kept, *acts[how]), declared=declared)

    def cut_at(self, offset: int, how: How = "reset") -> Self:
        """Ended after so many bytes of the body."""
        body = self.body
        both = replace(self, parts=(body[:offset], body[offset:]))
        return both.cut(how, after=0) if offset else both.cut(how, after=-1)

    # -- bytes -------------------------------------------------------------------------------------------------

    def crlf(self) -> Self:
        """With CRLF line ends."""
        return self._mapped(lambda data: data.replace(b"\n", b"\r\n"))

    def bytewise(self) -> Self:
        """With every byte of the body a write, and a chunk, of its own."""
        parts: list[Part] = []
        for part in self.parts:
            parts += [bytes([byte]) for byte in part] if isinstance(part, bytes) else [part]
        return replace(self, parts=tuple(parts))

    def joined(self) -> Self:
        """With the whole body in one write."""
        return replace(self, parts=(self.body, *(part for part in self.parts if not isinstance(part, bytes))))

    def inserted(self, data: bytes, *, after: str | int = -1, nth: int = 1) -> Self:
        """With more bytes after that event; -1 puts them first."""
        at = self._find(after, nth) + 1 if after != -1 else 0
        return replace(self, parts=(*self.parts[:at], data, *self.parts[at:]))

    def encoded(self, coding: Coding = "gzip") -> Self:
        """Compressed, flushed after every part so that a stream still flows."""
        press = _Press(coding)
        whole = not any(isinstance(part, Reset | End | Silence) for part in self.parts)
        parts: list[Part] = [press.take(part) if isinstance(part, bytes) else part for part in self.parts]
        if whole:
            parts.append(press.end())
        return replace(self, parts=tuple(parts)).having(("content-encoding", coding))

    def _mapped(self, change: Callable[[bytes], bytes]) -> Self:
        return replace(self, parts=tuple(change(p) if isinstance(p, bytes) else p for p in self.parts))

    def _find(self, after: str | int, nth: int) -> int:
        """The index in parts of the nth event of that name, or of the bytes part of that index."""
        found = [at for at, part in enumerate(self.parts) if isinstance(part, bytes) and _is(part, after)]
        place = after if isinstance(after, int) else nth - 1
        if place >= len(found):
            raise LookupError(f"{self.label} has no event {after!r} number {nth}")
        return found[place]


class _Press:
    """A compressor that can be flushed in mid-stream, one interface for four codings."""

    def __init__(self, coding: Coding) -> None:
        self._coding = coding
        self._zlib = zlib.compressobj(wbits=31 if coding == "gzip" else 15)
        self._br = brotli.Compressor()
        self._zstd = zstd.ZstdCompressor()

    def take(self, data: bytes) -> bytes:
        if self._coding == "br":
            return bytes(self._br.process(data) + self._br.flush())
        if self._coding == "zstd":
            return bytes(self._zstd.compress(data, zstd.ZstdCompressor.FLUSH_BLOCK))
        return self._zlib.compress(data) + self._zlib.flush(zlib.Z_SYNC_FLUSH)

    def end(self) -> bytes:
        if self._coding == "br":
            return bytes(self._br.finish())
        return bytes(self._zstd.flush()) if self._coding == "zstd" else self._zlib.flush()


def _wait(wait: float | str) -> Pause | Gate:
    return Gate(wait) if isinstance(wait, str) else Pause(wait)


def _is(part: bytes, after: str | int) -> bool:
    return isinstance(after, int) or part.startswith((f"event: {after}\n".encode(), f"event: {after}\r".encode()))


def as_json(label: str, body: object, *, status: int = 200, headers: Iterable[tuple[str, str]] = ()) -> Answer:
    """An answer whose body is that value as JSON."""
    text = json.dumps(body, separators=(",", ":"), ensure_ascii=False).encode()
    return Answer(label=label, status=status, headers=(("content-type", "application/json"), *headers), parts=(text,))


def raw(label: str, *parts: Part) -> Answer:
    """Exactly these bytes and acts on the wire."""
    return Answer(label=label, framing="raw", parts=parts)
