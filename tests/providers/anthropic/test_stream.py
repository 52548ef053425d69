"""What is read off a stream as it passes."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from providers.anthropic import ANTHROPIC
from providers.anthropic.stream import MessagesReader, read_usage, whole_usage
from providers.contract import ErrorEvent, StreamReader, Usage
from providers.sse import Frames
from routing.spent import Spent
from tests.providers.samples import error, sample

FULL = Usage(input=3, output=12, cache_read=35000, cache_write_5m=0, cache_write_1h=120)


def dumped(tree: object) -> bytes:
    return json.dumps(tree).encode()


def test_a_recorded_stream() -> None:
    """The answer is good from its first block on, may end after its stop reason, and is complete at its last event."""
    reader: StreamReader = MessagesReader()
    frames = Frames().feed(sample("200-stream.sse")[0].body + b"\n\n")
    seen = [(f.event, reader.see(f.event, f.data), reader.may_end, reader.is_complete) for f in frames]
    assert seen == [
        ("message_start", False, False, False),
        ("ping", False, False, False),
        ("content_block_start", True, False, False),
        ("content_block_delta", False, False, False),
        ("content_block_stop", False, False, False),
        ("message_delta", True, True, False),
        ("message_stop", True, True, True),
    ]
    assert reader.usage == FULL


def test_a_whole_answer_is_charged_like_its_stream() -> None:
    """Usage of a JSON answer is read by the same rule."""
    assert ANTHROPIC.usage(sample("200-ok.http")[0].body) == FULL


@pytest.mark.parametrize("body", [b"", b"[]", b"{}", b'{"usage":null}', b"<html>", b"[" * 100_000])
def test_a_body_without_usage(body: bytes) -> None:
    """An answer that does not say what it cost says nothing, rather than zero."""
    assert whole_usage(body) is None


@pytest.mark.parametrize(
    ("event", "data", "decides"),
    [
        ("message_delta", {"delta": {"stop_reason": None}}, False),
        ("message_delta", {"delta": {}}, False),
        ("message_delta", {"delta": {"stop_reason": "tool_use"}}, True),
        ("message_delta", [], False),
        ("unheard_of", {}, False),
        ("", {"type": "content_block_start"}, True),
        ("", {"type": "message_stop"}, True),
        ("", {"type": ""}, False),
        ("", 5, False),
    ],
)
def test_deciding_events(event: str, data: object, decides: bool) -> None:
    """A block's start, a stop reason or the end decides; a stream without event names is followed by its data."""
    assert MessagesReader().see(event, dumped(data)) is decides


@pytest.mark.parametrize("event", ["error", ""])
def test_an_error(event: str) -> None:
    """An error event is handed on with its data, whether it is named or only says so (X59)."""
    data = error("overloaded_error", "Overloaded")
    assert MessagesReader().see("error", data) == ErrorEvent(data=data)
    told = MessagesReader().see(event, data)
    assert told == ErrorEvent(data=data)


@given(event=st.sampled_from(["message_start", "message_delta", "message_stop", "error", "", "x"]), data=st.binary())
def test_no_event_makes_reading_fail(event: str, data: bytes) -> None:
    """Whatever an event holds, it decides or it does not."""
    assert isinstance(MessagesReader().see(event, data), bool | ErrorEvent)


@given(st.lists(st.dictionaries(
    st.sampled_from(["input_tokens", "output_tokens", "cache_read_input_tokens"]),
    st.integers(-5, 10**9) | st.none() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False), max_size=3)))  # fmt: skip
def test_counts_are_cumulative(told: list[dict[str, object]]) -> None:
    """The last count that is one stands; null, negative and broken counts replace nothing."""
    reader = MessagesReader()
    for usage in told:
        reader.see("message_delta", dumped({"usage": usage}))
    names = {"input_tokens": "input", "output_tokens": "output", "cache_read_input_tokens": "cache_read"}
    for name, field in names.items():
        counts = [u[name] for u in told if type(u.get(name)) is int and int(str(u[name])) >= 0]
        assert getattr(reader.usage, field) == (counts[-1] if counts else None)


def test_writes_without_a_split() -> None:
    """A total of cache writes alone counts as the short kind."""
    assert read_usage({"cache_creation_input_tokens": 7}) == Usage(cache_write_5m=7)
    assert read_usage({"cache_creation_input_tokens": 7, "cache_creation": None}) == Usage(cache_write_5m=7)
    split = {"ephemeral_5m_input_tokens": 2, "ephemeral_1h_input_tokens": 5}
    assert read_usage({"cache_creation_input_tokens": 7, "cache_creation": split}) == Usage(
        cache_write_5m=2, cache_write_1h=5
    )
    assert read_usage("junk") == Usage()


def test_a_later_total_does_not_count_a_split_twice() -> None:
    """Once the split is known, a total without it changes no count of writes, and a new split does."""
    reader = MessagesReader()
    reader.see("message_start", dumped({"message": {"usage": {"cache_creation": {"ephemeral_1h_input_tokens": 5}}}}))
    reader.see("message_delta", dumped({"usage": {"cache_creation_input_tokens": 5}}))
    assert reader.usage == Usage(cache_write_1h=5)
    split = {"ephemeral_5m_input_tokens": 1, "ephemeral_1h_input_tokens": 6}
    reader.see("message_delta", dumped({"usage": {"cache_creation": split}}))
    assert reader.usage == Usage(cache_write_5m=1, cache_write_1h=6)


def test_what_was_not_said_was_not_spent() -> None:
    """Writes of both lifetimes are one kind."""
    assert FULL.spent == Spent(read=35000, fresh=3, written=120, output=12)
    assert replace(FULL, cache_write_5m=5).spent.written == 125
    assert Usage().spent == Spent()
