"""What is read off an event stream as it passes: the deciding event, what was charged, whether it ended well."""

import logging
from collections.abc import Callable, Iterator

from mitmproxy import http

from addons.decoding import UndecodableError, decoder
from providers.contract import ErrorEvent, Provider, StreamReader, Usage
from providers.sse import Frame, Frames

logger = logging.getLogger(__name__)

_PLAIN = frozenset({"", "identity"})


def _lost(_: bytes) -> bytes:
    """Of bytes that nobody can read."""
    return b""


class Passage:
    """One event stream on its way to the client; its bytes are never changed.

    Uncompressed streams go out in whole events, so that an error event can follow a cut. Compressed ones go out as they come,
    and are decoded alongside for reading.
    """

    def __init__(self, provider: Provider, encoding: str, *, is_message: bool, unpacked: bool = False) -> None:
        """unpacked: whether the client can take the events only as they were before they were compressed."""
        self._unpack = decoder(encoding) or _lost if unpacked and encoding not in _PLAIN else None
        encoding = "" if unpacked else encoding
        self._provider = provider
        self._reader: StreamReader = provider.stream_reader()
        self._frames = Frames()
        self._decode = decoder(encoding)
        self._is_plain = encoding in _PLAIN
        self._is_message = is_message
        self._is_read = self._decode is not None
        self._ready: list[bytes] = []
        self._met_error = False
        self._ended_cleanly = False
        self.held = 0

    @classmethod
    def of(
        cls, response: http.Response, provider: Provider, *, is_message: bool, unpacked: bool = False
    ) -> "Passage | None":
        """The passage of a response; None when it is no event stream.

        is_message: whether the provider's terminal event must end it; else any clean end is a good one.
        """
        if "event-stream" not in response.headers.get("content-type", "").lower():
            return None
        encoding = response.headers.get("content-encoding", "").strip().lower()
        return cls(provider, encoding, is_message=is_message, unpacked=unpacked)

    @property
    def can_decide(self) -> bool:
        """Whether its events can be read at all."""
        return self._is_read

    @property
    def usage(self) -> Usage | None:
        """What was charged, as far as the stream has told."""
        return self._reader.usage if self._reader.usage != Usage() else None

    @property
    def is_complete(self) -> bool:
        """Whether the client got all that the answer was going to be; of what cannot be read, a clean end must do."""
        return self._reader.is_complete or self._reader.may_end or (not self._is_read and self._ended_cleanly)

    def take(self, data: bytes) -> bool | ErrorEvent:
        """Take the next bytes; tells whether they decide that the answer is good, or that it is an error."""
        if self._unpack is not None:
            data = self._unpacked(data, self._unpack)
        self.held += len(data)
        if not self._is_plain:
            self._ready.append(data)
        if not self._is_read:
            if self._is_plain:
                self._ready.append(data)
            return True
        try:
            return self._read(self._decode(data) if self._decode else data)
        except UndecodableError as e:
            logger.warning("flowpool: a stream is not what its content-encoding says (%s); its bytes pass on unread", e)
        except Exception:  # reading is for us; the client's bytes must go on whatever they are
            logger.exception("flowpool: a stream can no longer be read; its bytes pass on")
        if self._is_plain:
            self._ready.append(self._frames.pending)
        self._is_read = False
        return True

    def _unpacked(self, data: bytes, unpack: Callable[[bytes], bytes]) -> bytes:
        """The bytes as they were before they were compressed; none from where they cannot be had any more."""
        try:
            return unpack(data)
        except UndecodableError as e:
            logger.warning("flowpool: a stream is not what its content-encoding says (%s); it ends there", e)
            self._unpack = _lost
            return b""

    def _read(self, data: bytes) -> bool | ErrorEvent:
        decided: bool | ErrorEvent = False
        frames = self._frames.feed(data)
        self._is_read = not self._frames.gave_up
        if self._is_plain:
            self._ready += (frame.raw for frame in frames)
        for frame in frames:
            seen = self._see(frame)
            decided = decided or seen
        return decided

    def _see(self, frame: Frame) -> bool | ErrorEvent:
        if not frame.data:
            return False
        seen = self._reader.see(frame.event, frame.data)
        self._met_error = self._met_error or isinstance(seen, ErrorEvent)
        return seen

    def whole_frames(self) -> Iterator[bytes]:
        """What may go to the client now, each byte once."""
        ready, self._ready = self._ready, []
        self.held = 0
        if ready:
            yield b"".join(ready)

    def last_words(self, why: str, *, broken: bool, may_append: bool = True) -> Iterator[bytes]:
        """What ends the stream for the client: what is left of a good one, an error event after one that was cut.

        may_append: whether more may follow than the upstream announced.
        """
        yield from self.whole_frames()
        self._ended_cleanly = not broken
        ends_well = self.is_complete or self._met_error or (not self._is_message and not broken)
        if (ends_well or not may_append) and self._is_plain and self._is_read:
            yield self._frames.pending
        if not ends_well and may_append and self._is_plain:
            yield self._provider.error_event(why)
