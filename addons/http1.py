"""mitmproxy's HTTP/1 layers, taught two things that peers may do: interim answers before the real one, and trailers.

mitmproxy takes an informational head (100, 102, 103) for the answer and raises at trailers. Both classes take the place of
mitmproxy's by `__class__`, as addons/replacing.py does for the layers around them; tests/addons/test_http1.py pins what they use.
"""

import re
from collections.abc import Callable
from typing import Any

import h11
from mitmproxy.proxy import events, layer
from mitmproxy.proxy.layers.http._http1 import Http1Client, Http1Server

type Reader = Callable[[Any], Any]

_INTERIM = re.compile(rb"HTTP/1\.[01] 1(?!01)[0-9]{2}[ \r\n]")
"""An informational answer; 101 is one that ends the exchange of HTTP messages."""


class WithoutTrailers:
    """A body reader whose end carries no trailers: there is nobody here to pass them on to."""

    def __init__(self, reader: Any) -> None:
        self._reader = reader

    def __call__(self, buffer: Any) -> Any:
        """Read on from the buffer."""
        return self._bare(self._reader(buffer))

    def read_eof(self) -> Any:
        """Read the connection's end."""
        return self._bare(self._reader.read_eof())

    def _bare(self, event: Any) -> Any:
        return h11.EndOfMessage() if isinstance(event, h11.EndOfMessage) and event.headers else event


class _Tolerant:
    """Puts the reader without trailers wherever mitmproxy sets one."""

    @property
    def body_reader(self) -> Any:
        """How the body in progress is read."""
        return self.__dict__["body_reader"]

    @body_reader.setter
    def body_reader(self, reader: Any) -> None:
        self.__dict__["body_reader"] = WithoutTrailers(reader)


class TolerantServer(_Tolerant, Http1Server):
    """Speaks with the client."""


class TolerantClient(_Tolerant, Http1Client):
    """Speaks with the upstream."""

    def read_headers(self, event: events.ConnectionEvent) -> layer.CommandGenerator[None]:
        """Read the answer's head, passing over what only announces that it will come."""
        if isinstance(event, events.DataReceived) and self.request:
            while _INTERIM.match(bytes(self.buf)):
                if self.buf.maybe_extract_lines() is None:
                    return
        yield from super().read_headers(event)


def make_tolerant(found: layer.Layer | None) -> None:
    """Turn the HTTP/1 layer at the end of a connection's stack into ours, before it has read anything."""
    while found is not None and type(found) not in (Http1Client, Http1Server):
        found = getattr(found, "child_layer", None)
    if found is None:
        return
    found.__class__ = TolerantClient if isinstance(found, Http1Client) else TolerantServer
    if found.state.__func__ is Http1Client.read_headers:  # type: ignore[attr-defined]
        found.state = found.read_headers  # type: ignore[attr-defined]
