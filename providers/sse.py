"""The grammar of event streams, read in pieces of any size without changing a byte."""

import re
from dataclasses import dataclass

_BOM = b"\xef\xbb\xbf"
_LINE_ENDS = b"\r\n"
_CR = ord("\r")
# Atomic, so that a CRLF is never taken for a CR line and an empty LF line.
_BLANK_LINE = re.compile(rb"(?>\r\n|\n|\r)(?>\r\n|\n|\r)")
_LINE_END = re.compile(rb"\r\n|\n|\r")
# What nearly every frame looks like: read in one step, as a stream of small events is mostly that step.
_COMMON = re.compile(rb"event: ?([^\r\n]*)\ndata: ?([^\r\n]*)\n\n")
LIMIT = 16 * 1024 * 1024  # a frame that long is no event; what claims to be one must not fill the memory


@dataclass(frozen=True, slots=True)
class Frame:
    """One event with the bytes that it came in, its blank line included.

    event: empty when the frame names none. data: its data lines joined; empty for comments and blank lines.
    """

    raw: bytes
    event: str
    data: bytes


class Frames:
    """Cuts a stream into frames: all raws and what is pending are always the whole input, in order."""

    def __init__(self, limit: int = LIMIT) -> None:
        self._limit = limit
        self._buffer = bytearray()
        self._seen = 0  # up to here no frame ends
        self._is_first = True
        self._owes_lf = False  # the last frame ended in a CR whose LF may still come
        self.gave_up = False
        """Whether an endless frame made it stop cutting: from then on every chunk is a frame that says nothing."""

    @property
    def pending(self) -> bytes:
        """The bytes of the frame that has not ended yet."""
        return bytes(self._buffer)

    def feed(self, chunk: bytes) -> list[Frame]:
        """Take the next bytes, and give the frames that they complete."""
        if self.gave_up:
            return [Frame(chunk, "", b"")] if chunk else []
        self._buffer += chunk
        frames = self._cut()
        if len(self._buffer) > self._limit:
            self.gave_up = True
            frames.append(Frame(self.pending, "", b""))
            self._buffer.clear()
        return frames

    def _cut(self) -> list[Frame]:
        buffer, frames, start = self._buffer, list[Frame](), 0
        while start < len(buffer):
            found = self._common(start) or self._any(start)
            if found is None:
                break
            frame, end = found
            frames.append(frame)
            self._is_first = False
            self._owes_lf = end == len(buffer) and buffer[end - 1] == _CR
            start = self._seen = end
        del buffer[:start]
        # A line end may be half of a blank line, so the last byte is looked at again.
        self._seen = max(0, len(buffer) - 1)
        return frames

    def _common(self, start: int) -> tuple[Frame, int] | None:
        """The frame at start if it looks as nearly all do; an unfinished one is not scanned again and again."""
        if self._is_first or self._seen > start:
            return None
        match = _COMMON.match(self._buffer, start)
        if match is None:
            return None
        raw, event, data = match.group(0, 1, 2)
        return Frame(raw, event.decode("utf-8", "replace"), data), match.end()

    def _any(self, start: int) -> tuple[Frame, int] | None:
        """The frame at start, however it is written; None when it has not ended yet."""
        begin = self._begin(start)
        end = None if begin is None else self._end(begin)
        if begin is None or end is None:
            return None
        return _parsed(bytes(self._buffer[start:end]), begin - start), end

    def _begin(self, start: int) -> int | None:
        """Where the text of the frame begins, after a byte order mark or an owed LF; None when that is not known yet."""
        if self._is_first:
            mark = bytes(self._buffer[: len(_BOM)])
            if mark == _BOM:
                return len(_BOM) if len(self._buffer) > len(_BOM) else None
            return None if _BOM.startswith(mark) else 0
        if self._owes_lf and start == 0 and self._buffer.startswith(b"\n"):
            return 1 if len(self._buffer) > 1 else None
        return start

    def _end(self, begin: int) -> int | None:
        if self._buffer[begin] in _LINE_ENDS:
            match = _LINE_END.match(self._buffer, begin)
        else:
            match = _BLANK_LINE.search(self._buffer, max(begin, self._seen))
        return None if match is None else match.end()


def _parsed(raw: bytes, skipped: int) -> Frame:
    event, data = b"", list[bytes]()
    for line in raw[skipped:].splitlines():
        name, _, value = line.partition(b":")
        if name == b"data":
            data.append(value.removeprefix(b" "))
        elif name == b"event":
            event = value.removeprefix(b" ")
    return Frame(raw, event.decode("utf-8", "replace"), b"\n".join(data))
