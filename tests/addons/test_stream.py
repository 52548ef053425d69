"""What is read off a stream: its bytes pass unchanged however they are cut, and a cut is told to the client.

Longer than 250 lines: one module's tests stand in its one test file, as tests/test_tree.py wants it.
"""

import logging
from collections.abc import Iterable

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from mitmproxy import http

from addons.stream import Passage
from providers.anthropic import ANTHROPIC
from providers.anthropic.replies import error_event
from providers.anthropic.stream import MessagesReader
from providers.contract import ErrorEvent, StreamReader, Usage
from providers.sse import Frames
from tests.upstream import PING, ok, stream_error
from tests.upstream import error_event as vendor_error
from tests.upstream.answer import Coding

WHY = "the upstream broke off"
GOOD = ok("One two three", comments=True)
CHARGED = Usage(input=12, output=25, cache_read=9_000, cache_write_5m=100, cache_write_1h=700)
BEGUN = Usage(input=12, output=1, cache_read=9_000, cache_write_5m=100, cache_write_1h=700)
PARTS = [part for part in GOOD.parts if isinstance(part, bytes)]
TELLS_END = b"event: message_delta"

frames: st.SearchStrategy[bytes] = st.sampled_from(
    [*PARTS, b"data: x\n\n", b": note\r\n\r\n", b"\n", b"event: vendor_new\ndata: {}\n\n"]
)
streams = st.lists(st.one_of(frames, st.binary(max_size=12)), max_size=12).map(b"".join)
good_streams = st.sampled_from([GOOD, GOOD.crlf(), ok("x"), ok("")]).map(lambda answer: answer.body)
codings: list[Coding] = ["gzip", "deflate", "br", "zstd"]


@st.composite
def cut(draw: st.DrawFn, whole: st.SearchStrategy[bytes]) -> list[bytes]:
    """A stream in pieces of any size."""
    data = draw(whole)
    at = sorted(draw(st.lists(st.integers(0, len(data)), max_size=8)))
    return [data[a:b] for a, b in zip([0, *at], [*at, len(data)], strict=True)]


def passage(encoding: str = "", *, is_message: bool = True, unpacked: bool = False) -> Passage:
    """The passage of a stream in that encoding."""
    response = http.Response.make(200, b"", {"content-type": "text/event-stream; charset=utf-8"})
    if encoding:
        response.headers["content-encoding"] = encoding
    made = Passage.of(response, ANTHROPIC, is_message=is_message, unpacked=unpacked)
    assert made is not None
    return made


def whole(pieces: Iterable[bytes]) -> bytes:
    """The frames that are whole once these pieces have come; a CR ends one, though its LF may still follow."""
    frames = Frames()
    return b"".join(frame.raw for piece in pieces for frame in frames.feed(piece))


def passed(stream: Passage, pieces: Iterable[bytes], *, broken: bool = False) -> tuple[bytes, list[bytes]]:
    """What the client got while the stream came, and the last words it got."""
    got = b""
    for piece in pieces:
        stream.take(piece)
        got += b"".join(stream.whole_frames())
    return got, [chunk for chunk in stream.last_words(WHY, broken=broken) if chunk]


@given(cut(good_streams))
def test_a_stream_that_ends_well_passes_byte_for_byte(pieces: list[bytes]) -> None:
    """However it is cut, the client gets exactly the upstream's bytes, and the charge is read."""
    made = passage()

    got, last = passed(made, pieces)
    assert got + b"".join(last) == b"".join(pieces)
    assert made.is_complete
    assert made.usage is not None
    assert made.usage.output == CHARGED.output


@given(cut(streams), st.booleans())
def test_a_cut_stream_ends_in_whole_frames_and_one_error_event(pieces: list[bytes], broken: bool) -> None:
    """Of a message without its end, the client gets the frames that were whole, then one error event."""
    data = b"".join(pieces)
    assume(TELLS_END not in data and b"event: message_stop" not in data and b"error" not in data)

    got, last = passed(passage(), pieces, broken=broken)
    assert last == [error_event(WHY)]
    assert got == whole(pieces)


@given(cut(good_streams), st.data())
def test_a_frame_is_never_torn(pieces: list[bytes], data: st.DataObject) -> None:
    """At any moment the client has whole frames only, so that an error event may follow."""
    made, taken, got = passage(), list[bytes](), b""
    for piece in pieces[: data.draw(st.integers(0, len(pieces)))]:
        made.take(piece)
        taken.append(piece)
        got += b"".join(made.whole_frames())

    assert got == whole(taken)


@given(cut(streams))
def test_a_stream_that_is_no_message_passes_byte_for_byte(pieces: list[bytes]) -> None:
    """An event stream of another kind ends well wherever the upstream ends it cleanly."""
    got, last = passed(passage(is_message=False), pieces)

    assert got + b"".join(last) == b"".join(pieces)


@given(cut(streams))
def test_a_broken_stream_that_is_no_message_is_told_to_the_client(pieces: list[bytes]) -> None:
    """When its connection breaks, an event stream of another kind gets the error event too."""
    data = b"".join(pieces)
    assume(TELLS_END not in data and b"message_stop" not in data and b"error" not in data)

    assert passed(passage(is_message=False), pieces, broken=True)[1] == [error_event(WHY)]


@given(st.sampled_from(codings), st.booleans(), st.data())
def test_a_compressed_stream_passes_and_is_read(coding: Coding, bytewise: bool, data: st.DataObject) -> None:
    """Compressed bytes go out as they came, and the charge is read from what they decode to."""
    answer = GOOD.encoded(coding)
    pieces = list(answer.bytewise().parts if bytewise else data.draw(cut(st.just(answer.body))))
    made = passage(coding)

    got, last = passed(made, [piece for piece in pieces if isinstance(piece, bytes) and piece])
    assert (got, last) == (answer.body, [])
    assert (made.usage, made.is_complete, made.can_decide) == (CHARGED, True, True)


@given(st.sampled_from(codings), st.data())
def test_a_compressed_stream_is_unpacked_for_a_client_that_has_its_head(coding: Coding, data: st.DataObject) -> None:
    """The events are those that were compressed, to the byte; a cut one ends in whole frames and an error event."""
    body = GOOD.encoded(coding).body
    made = passage(coding, unpacked=True)
    assert passed(made, data.draw(cut(st.just(body)))) == (GOOD.body, [])
    assert (made.usage, made.is_complete, made.can_decide) == (CHARGED, True, True)
    got, last = passed(passage(coding, unpacked=True), [body[: len(body) // 3]], broken=True)

    assert GOOD.body.startswith(got)
    assert (got + b"".join(last)).endswith(b"\n\n")


@pytest.mark.parametrize("coding", ["gzip", "br", "zstd", "unheard-of"])
@pytest.mark.usefixtures("quiet")
def test_what_cannot_be_unpacked_is_lost_and_told(coding: str) -> None:
    """A client that has its head could read none of it: an error event says that nothing came."""
    got, last = passed(passage(coding, unpacked=True), [b"no such thing", GOOD.body])

    assert (got, last) == (b"", [error_event(WHY)])


def test_a_plain_stream_has_nothing_to_unpack() -> None:
    """It passes as it came."""
    for encoding in ("", "identity"):
        assert passed(passage(encoding, unpacked=True), [GOOD.body]) == (GOOD.body, [])


@given(st.sampled_from(codings), st.data())
def test_a_compressed_stream_that_is_cut_gets_no_event(coding: Coding, data: st.DataObject) -> None:
    """Nothing can be put behind half a compressed stream, so nothing is."""
    body = GOOD.encoded(coding).body
    pieces = data.draw(cut(st.just(body[: data.draw(st.integers(0, len(body)))])))

    assert passed(passage(coding), pieces, broken=True) == (b"".join(pieces), [])


@pytest.fixture
def quiet(caplog: pytest.LogCaptureFixture) -> None:
    """The traces that unreadable streams leave are wanted here."""
    caplog.set_level(logging.CRITICAL, "addons.stream")


@pytest.mark.usefixtures("quiet")
@given(st.sampled_from([*codings, "compress", "gzip, br", "nonsense"]), cut(st.just(GOOD.body)), st.booleans())
def test_a_lying_encoding_passes_on(coding: str, pieces: list[bytes], broken: bool) -> None:
    """A stream that is not encoded as it claims, or in no readable way, passes unchanged, and at once.

    Whether it was complete can only be told from how it ended.
    """
    made = passage(coding)
    decided = [made.take(piece) for piece in pieces]

    assert b"".join([*made.whole_frames(), *made.last_words(WHY, broken=broken)]) == b"".join(pieces)
    assert decided[-1] is True
    assert (made.usage, made.is_complete) == (None, not broken)


class Stumbling(MessagesReader):
    """A reader with a fault of its own."""

    def see(self, event: str, data: bytes) -> bool | ErrorEvent:
        """Fail at the first block."""
        if event == "content_block_start":
            raise RuntimeError("a fault of ours")
        return super().see(event, data)


@pytest.mark.usefixtures("quiet")
@given(cut(st.just(GOOD.body)))
def test_a_fault_of_the_reader_costs_the_client_no_byte(pieces: list[bytes]) -> None:
    """Reading is for us: when it fails in the middle of a stream, the client still gets every byte."""

    class Vendor(type(ANTHROPIC)):  # type: ignore[misc]
        def stream_reader(self) -> StreamReader:
            return Stumbling()

    made = Passage(Vendor(), "", is_message=True)
    got, last = passed(made, pieces)

    assert (got + b"".join(last)).startswith(GOOD.body)


@pytest.mark.parametrize(
    ("pieces", "decided"),
    [
        ([PING, b": note\n\n", b"event: ping\n\n"], False),
        ([PARTS[0]], False),
        ([b"event: content_block_start\ndata: {}\n"], False),
        ([b"event: content_block_start\ndata: {}\n", b"\n"], True),
        ([b'data: {"type": "message_stop"}\r\n\r\n'], True),
        ([vendor_error() + GOOD.body], ErrorEvent(data=vendor_error().split(b"data: ")[1].strip())),
        ([PING, GOOD.body + vendor_error()], True),
    ],
)
def test_the_first_deciding_event_decides(pieces: list[bytes], decided: bool | ErrorEvent) -> None:
    """Pings, comments, a message's start and unfinished frames decide nothing; a block, an end or an error does."""
    made = passage()

    assert [made.take(piece) for piece in pieces][-1] == decided


def test_what_is_held_is_counted_until_it_goes() -> None:
    """The gate knows how many bytes wait behind it."""
    made = passage()
    made.take(b"event: ping\n")
    made.take(b"data: 1")

    assert made.held == 19
    assert (list(made.whole_frames()), made.held) == ([], 0)


def test_an_end_that_loses_nothing_counts_as_complete() -> None:
    """Once the reason to stop is told, a stream that breaks is ended as the upstream ended it."""
    answer = GOOD.cut("whole", after="message_delta")
    made = passage()

    assert passed(made, [answer.body, b"event: message_st"], broken=True) == (answer.body, [b"event: message_st"])
    assert made.is_complete


def test_an_error_event_of_the_vendors_is_not_doubled() -> None:
    """A stream that the vendor itself ended with an error gets no second one, and is not complete."""
    answer = stream_error(after="content_block_delta")
    made = passage()

    assert passed(made, [answer.body]) == (answer.body, [])
    assert not made.is_complete


def test_usage_is_what_the_stream_told_so_far() -> None:
    """Before the first count there is none; after a cut it is the count of the beginning."""
    made = passage()
    assert made.usage is None

    made.take(PARTS[0])
    assert made.usage == BEGUN


@pytest.mark.parametrize(
    ("kind", "is_stream"),
    [
        ("text/event-stream", True),
        ("Text/Event-Stream;charset=utf-8", True),
        ("application/json", False),
        (None, False),
    ],
)
def test_only_event_streams_have_a_passage(kind: str | None, is_stream: bool) -> None:
    """The content type alone makes an event stream."""
    response = http.Response.make(200, b"", {} if kind is None else {"content-type": kind})

    assert (Passage.of(response, ANTHROPIC, is_message=True) is not None) is is_stream


@pytest.mark.parametrize(("coding", "is_read"), [("", True), (" Identity ", True), ("GZIP", True), ("compress", False)])
def test_an_encoding_is_read_whatever_its_case(coding: str, is_read: bool) -> None:
    """The name of the encoding decides whether events can be read at all."""
    assert passage(coding).can_decide is is_read
