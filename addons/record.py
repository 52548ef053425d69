"""What is kept of one exchange while it lasts, for the folder of whole exchanges: references to bytes that pass anyway."""

from dataclasses import dataclass, field, replace
from datetime import datetime

from credentials.secret import Secret

SLACK = 16 * 1024
"""Bytes kept beyond the bound of a body, and dropped once secrets are masked: one that the bound cuts must not stay in part."""

type Fields = tuple[tuple[bytes, bytes], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A head, and as much of its body as is kept. start: its first line; body: None when none was read; size: of all of it."""

    start: str
    fields: Fields = ()
    body: bytes | None = None
    size: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """One attempt that ended before the client got a byte. answer: None when none came; note: what else is to be said of it.

    source: the answer as mitmproxy holds it, by which it is known again. secret: what it went out with.
    """

    at: datetime | None
    answer: Message | None
    note: str = ""
    source: object = field(default=None, repr=False)
    secret: Secret | None = field(default=None, repr=False)


@dataclass(slots=True, kw_only=True)
class Record:
    """One exchange. most: bytes that are kept of one body, SLACK included.

    seen: how the last attempt ended that was noted. got: what the client got; source: as for Tried. same: which attempt's answer that is,
    counted from 1, once it is settled; None where it went on as a stream after it was judged by its beginning, or is our own.
    """

    most: int
    request: Message
    tried: list[Tried] = field(default_factory=list)
    seen: object = field(default=None, repr=False)
    got: Message | None = None
    source: object = field(default=None, repr=False)
    chunks: list[bytes] = field(default_factory=list)
    streamed: int = 0
    same: int | None = None

    def settle(self) -> None:
        """Note whose answer the client got, and let go of what mitmproxy holds: the exchange is over, and may wait for a slow disk."""
        if self.source is not None and not self.streamed:
            self.same = next((at for at, tried in enumerate(self.tried, 1) if tried.source is self.source), None)
        self.source = self.seen = None
        self.tried = [replace(tried, source=None) for tried in self.tried]

    def take(self, chunk: bytes) -> None:
        """Keep a piece of a stream as the client gets it, while there is room."""
        if self.streamed < self.most:
            self.chunks.append(chunk)
        self.streamed += len(chunk)

    def body(self, data: bytes | None) -> bytes | None:
        """What is kept of a body; no copy is made of one that is small enough."""
        return None if data is None else data[: self.most]

    @property
    def weight(self) -> int:
        """About how many bytes it keeps alive."""
        messages = [self.request, self.got, *(tried.answer for tried in self.tried)]
        return min(self.streamed, self.most) + sum(len(one.body or b"") for one in messages if one is not None)
