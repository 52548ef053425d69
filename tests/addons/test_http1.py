"""addons/http1.py: interim answers and trailers, and the names of mitmproxy's that it stands on."""

from __future__ import annotations

import inspect

import h11
import pytest
from h11._readers import ChunkedReader
from h11._receivebuffer import ReceiveBuffer
from mitmproxy.proxy.layers.http import _http1

from addons.exchange import Relay, Send
from addons.http1 import TolerantClient, TolerantServer, WithoutTrailers, make_tolerant
from tests.addons.scripted import GOOD, POST, Script, talk
from tests.addons.transcript import Clock, ticking

INTERIM = [
    b"HTTP/1.1 100 Continue\r\n\r\n",
    b"HTTP/1.1 103 Early Hints\r\nLink: </x>; rel=preload\r\n\r\n",
    b"HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\n",
]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """A clock that passes when it is told to."""
    made = ticking(monkeypatch)
    monkeypatch.setattr("addons.route.time", made)
    return made


@pytest.mark.parametrize("interim", INTERIM)
@pytest.mark.parametrize("pieces", [1, 7, 1000])
def test_an_interim_answer_is_passed_over(clock: Clock, interim: bytes, pieces: int) -> None:
    """However it is cut, what only announces the answer is not taken for it."""
    said = interim + GOOD
    made = talk(Script(Send(), Relay()), clock).client(POST)

    for start in range(0, len(said), pieces):
        made.upstream(said[start : start + pieces])
    assert made.got == GOOD


def test_trailers_are_dropped() -> None:
    """The end of a chunked body with trailers is an end."""
    buffer = ReceiveBuffer()
    buffer += b"2\r\nhi\r\n0\r\nX-Check: 1\r\n\r\n"
    reader = WithoutTrailers(ChunkedReader())

    assert bytes(reader(buffer).data) == b"hi"
    end = reader(buffer)
    assert (type(end), list(end.headers)) == (h11.EndOfMessage, [])


def test_the_answer_s_trailers_are_dropped(clock: Clock) -> None:
    """A chunked answer with trailers reaches the client whole, without them."""
    said = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n"
    made = talk(Script(Send(), Relay()), clock).client(POST).upstream(said + b"x-check: 1\r\n\r\n")

    assert made.got.endswith(b"{}\r\n0\r\n\r\n")
    assert b"x-check" not in made.got


def test_what_is_used_of_mitmproxy_is_there() -> None:
    """A release that moves these names fails here and says what moved."""
    source = inspect.getsource(_http1.Http1Connection)
    assert "self.body_reader(self.buf)" in source, "how bodies are read"
    assert "self.body_reader.read_eof()" in source, "how the connection's end is read"
    assert "self.state = self.read_headers" in source, "how the next head is waited for"
    assert inspect.signature(_http1.Http1Client.read_headers).parameters.keys() == {"self", "event"}
    assert issubclass(TolerantClient, _http1.Http1Client)
    assert issubclass(TolerantServer, _http1.Http1Server)


def test_other_layers_stay_as_they_are() -> None:
    """A connection that does not speak HTTP/1 is left alone."""
    make_tolerant(None)
