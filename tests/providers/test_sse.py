"""The grammar of event streams."""

from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from providers.sse import Frame, Frames
from tests.providers.samples import sample

PIECES = st.sampled_from(
    [b"\n", b"\r", b"\r\n", b"data: a", b"data:b", b"data", b"event: x", b"event:", b": c", b" ", b"\xef\xbb\xbf", b"\xc3",
     b"\xa9", b"id: 1", b"event: message_stop\ndata: {}\n\n"]
)  # fmt: skip
STREAMS = st.lists(PIECES, max_size=30).map(b"".join)


def cut(stream: bytes, sizes: list[int]) -> list[bytes]:
    chunks = []
    for size in sizes:
        chunks.append(stream[:size])
        stream = stream[size:]
    return [*chunks, stream]


def said(frames: list[Frame]) -> list[tuple[str, bytes]]:
    return [(frame.event, frame.data) for frame in frames]


@given(stream=STREAMS, sizes=st.lists(st.integers(0, 7), max_size=60))
def test_no_byte_is_lost_or_changed(stream: bytes, sizes: list[int]) -> None:
    """Raws and what is pending are the input, after every chunk, however it was cut."""
    frames, raws, fed = Frames(), b"", b""
    for chunk in cut(stream, sizes):
        raws += b"".join(frame.raw for frame in frames.feed(chunk))
        fed += chunk
        assert raws + frames.pending == fed


@given(stream=STREAMS, sizes=st.lists(st.integers(0, 7), max_size=60))
def test_events_do_not_depend_on_the_chunking(stream: bytes, sizes: list[int]) -> None:
    """The same events come out, however the stream was cut: a CR and its LF may part (X64)."""
    pieces = Frames()
    assert said([f for chunk in cut(stream, sizes) for f in pieces.feed(chunk)]) == said(Frames().feed(stream))


@given(stream=STREAMS)
def test_every_line_end_means_the_same(stream: bytes) -> None:
    """A stream written with LF, CR or CRLF tells the same events."""
    plain = stream.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    told = said(Frames().feed(plain))
    assert said(Frames().feed(plain.replace(b"\n", b"\r\n"))) == told
    assert said(Frames().feed(plain.replace(b"\n", b"\r"))) == told


class Case(NamedTuple):
    name: str
    stream: bytes
    events: list[tuple[str, bytes]]


CASES = [
    Case("the common form", b"event: a\ndata: 1\n\n", [("a", b"1")]),
    Case("no space after the colon", b"event:a\ndata:1\n\n", [("a", b"1")]),
    Case("one space only is taken away", b"data:  1\n\n", [("", b" 1")]),
    Case("data of several lines", b"data: 1\ndata: 2\ndata\n\n", [("", b"1\n2\n")]),
    Case("data before event", b"data: 1\nevent: a\n\n", [("a", b"1")]),
    Case("the last event name counts", b"event: a\nevent: b\ndata: 1\n\n", [("b", b"1")]),
    Case("a comment", b": keep-alive\n\n", [("", b"")]),
    Case("a blank line alone", b"\n", [("", b"")]),
    Case("other fields say nothing", b"id: 1\nretry: 2\nDATA: 3\n\n", [("", b"")]),
    Case("mixed line ends", b"event: a\r\ndata: 1\rdata: 2\n\r\n", [("a", b"1\n2")]),
    Case("a byte order mark", b"\xef\xbb\xbfevent: a\ndata: 1\n\n", [("a", b"1")]),
    Case("a byte order mark before a blank line", b"\xef\xbb\xbf\n\n", [("", b""), ("", b"")]),
    Case("a byte order mark later is text", b"\n\xef\xbb\xbfdata: 1\n\n", [("", b""), ("", b"")]),
    Case("text that is no UTF-8", b"event: \xff\ndata: \xff\n\n", [("\ufffd", b"\xff")]),
    Case("unfinished", b"event: a\ndata: 1\n", []),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_grammar(case: Case) -> None:
    """Each form of a frame is understood, at once and byte by byte."""
    assert said(Frames().feed(case.stream)) == case.events
    frames = Frames()
    single = [f for i in range(len(case.stream)) for f in frames.feed(case.stream[i : i + 1])]
    assert said(single) == case.events


def test_a_frame_that_ends_in_a_cr_is_not_held_back() -> None:
    """An event is handed on with its last CR; the LF that may follow goes with the next one."""
    frames = Frames()
    assert said(frames.feed(b"data: 1\r\n\r")) == [("", b"1")]
    assert frames.feed(b"\n") == []
    assert frames.pending == b"\n"
    assert frames.feed(b"data: 2\n\n") == [Frame(b"\ndata: 2\n\n", "", b"2")]


def test_an_endless_frame_is_given_up() -> None:
    """A frame beyond the bound goes on unread, and so does all that follows, byte for byte."""
    frames = Frames(limit=10)
    assert said(frames.feed(b"data: 1\n\nx")) == [("", b"1")]
    assert not frames.gave_up
    assert frames.feed(b"y" * 10) == [Frame(b"x" + b"y" * 10, "", b"")]
    assert frames.gave_up
    assert frames.pending == b""
    assert frames.feed(b"event: a\n\n") == [Frame(b"event: a\n\n", "", b"")]
    assert frames.feed(b"") == []


def test_a_recorded_stream() -> None:
    """A stream as the service sends it falls into its events."""
    frames = Frames().feed(sample("200-stream.sse")[0].body + b"\n\n")
    assert [frame.event for frame in frames] == [
        "message_start", "ping", "content_block_start", "content_block_delta", "content_block_stop", "message_delta",
        "message_stop",
    ]  # fmt: skip
