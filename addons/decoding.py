"""Decoding: compressed bytes read piece by piece, and never into more than was asked for."""

import sys
import zlib
from collections.abc import Callable
from typing import Any

import brotli

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

type Decode = Callable[[bytes], bytes]

PIECE = 16 * 1024 * 1024
"""What one piece of a stream may decode to; pieces come in tens of kilobytes."""


class UndecodableError(Exception):
    """The bytes are not what their encoding says."""


class TooMuchError(UndecodableError):
    """The bytes swell beyond what was asked for."""


def decoder(encoding: str, most: int = PIECE) -> Decode | None:
    """An incremental decoder whose pieces decode to at most so many bytes; None for an encoding that it cannot read.

    The decoder raises UndecodableError.
    """
    match encoding:
        case "" | "identity":
            return lambda data: data
        case "gzip" | "x-gzip":
            return _Members(lambda: zlib.decompressobj(zlib.MAX_WBITS | 16), most).decode
        case "deflate":
            return _Members(zlib.decompressobj, most).decode
        case "zstd":
            return _Members(zstd.ZstdDecompressor, most).decode
        case "br":
            return _Brotli(most).decode
        case _:
            return None


class _Members:
    """Decodes a stream of several members, one behind the other: each event may be one."""

    def __init__(self, make: Callable[[], Any], most: int) -> None:
        self._make, self._most = make, most
        self._member = make()

    def decode(self, data: bytes) -> bytes:
        """Decode the next bytes."""
        decoded, room = [], self._most + 1
        try:
            while data:
                if self._member.eof:
                    self._member = self._make()
                decoded.append(self._member.decompress(data, room))
                room -= len(decoded[-1])
                if room <= 0:
                    raise TooMuchError("it decodes to too much")
                data = self._member.unused_data if self._member.eof else b""
        except (zlib.error, zstd.ZstdError, EOFError, ValueError) as e:
            raise UndecodableError(str(e)) from e
        return b"".join(decoded)


class _Brotli:
    """Decodes brotli."""

    def __init__(self, most: int) -> None:
        self._decompressor, self._most = brotli.Decompressor(), most

    def decode(self, data: bytes) -> bytes:
        """Decode the next bytes."""
        try:
            decoded = bytes(self._decompressor.process(data, output_buffer_limit=self._most + 1))
        except brotli.error as e:
            raise UndecodableError(str(e)) from e
        if len(decoded) > self._most or not self._decompressor.can_accept_more_data():
            raise TooMuchError("it decodes to too much")
        return decoded
