"""Answers and their builders, without a socket."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Callable
from typing import Any

import brotli
import pytest
from backports import zstd
from hypothesis import given
from hypothesis import strategies as st

from tests import upstream
from tests.upstream import (
    Answer,
    End,
    Gate,
    Pause,
    Reset,
    Silence,
    Text,
    Thinking,
    ToolUse,
    Window,
    error_event,
    limit,
    ok,
    ok_json,
    overage,
    padded,
    stream_error,
    throttle,
    unified,
)
from tests.upstream.steps import Send

REFUSALS: list[tuple[Callable[[], Answer], int, str]] = [
    (upstream.long_context, 429, "required for long context"),
    (upstream.fast_mode, 429, "fast mode"),
    (upstream.credits_required, 429, "credits_required"),
    (upstream.spend_limit, 429, "enforced_spend_limit_reached"),
    (upstream.throttle, 429, "rate_limit_error"),
    (upstream.bare, 429, "rate_limit_error"),
    (upstream.claim_only, 429, "exceed your account's rate limit"),
    (upstream.expired, 401, "token_expired"),
    (upstream.bad_token, 401, "authentication_error"),
    (upstream.revoked, 403, "token has been revoked"),
    (upstream.org_not_allowed, 403, "currently not allowed for this organization"),
    (upstream.on_hold, 403, "account is on hold"),
    (upstream.forbidden, 403, "forbidden"),
    (upstream.org_disabled, 400, "organization has been disabled"),
    (upstream.payment_required, 402, "billing_error"),
    (upstream.credit_balance, 400, "credit balance is too low"),
    (upstream.extra_usage, 400, "out of extra usage"),
    (upstream.usage_limits, 400, "reached your specified"),
    (upstream.overloaded, 529, "overloaded_error"),
    (lambda: upstream.overloaded(503), 503, "overloaded_error"),
    (upstream.server_error, 500, "api_error"),
    (upstream.bad_request, 400, "invalid_request_error"),
]


@pytest.mark.parametrize(("build", "status", "words"), REFUSALS)
def test_every_refusal_is_in_the_vendors_shape(build: Callable[[], Answer], status: int, words: str) -> None:
    """A refusal has its status, and a JSON body with type, message and the id of its header."""
    answer = build()
    body = json.loads(answer.body)
    assert (answer.status, body["type"]) == (status, "error")
    assert words in answer.body.decode()
    assert body["request_id"] == answer.header("request-id")
    assert set(body["error"]) >= {"type", "message"}


@given(st.lists(st.text(min_size=1), min_size=1, max_size=3))
def test_a_stream_says_its_texts_in_the_grammar(texts: list[str]) -> None:
    """A good stream opens, closes every block it opens, and its deltas add up to the texts."""
    frames = [_read(part) for part in ok(*texts).parts if isinstance(part, bytes)]
    names = [name for name, _ in frames]
    assert names[0] == "message_start"
    assert names[-2:] == ["message_delta", "message_stop"]
    assert names.count("content_block_start") == names.count("content_block_stop") == len(texts)
    deltas = [data for name, data in frames if name == "content_block_delta"]
    said = ["".join(d["delta"]["text"] for d in deltas if d["index"] == index) for index in range(len(texts))]
    assert said == texts


def test_blocks_of_every_kind_are_told_by_deltas() -> None:
    """Thinking ends with its signature, a tool's input comes as JSON pieces, and the stop reason follows."""
    answer = ok(Thinking("let me see", "sig"), Text("I look."), ToolUse("Bash", {"command": "ls -la /tmp/some/where"}))
    frames = [_read(part) for part in answer.parts if isinstance(part, bytes)]
    deltas = [data["delta"] for name, data in frames if name == "content_block_delta"]
    pieces = "".join(delta.get("partial_json", "") for delta in deltas)
    assert json.loads(pieces) == {"command": "ls -la /tmp/some/where"}
    assert [delta["signature"] for delta in deltas if delta["type"] == "signature_delta"] == ["sig"]
    assert frames[-2][1]["delta"]["stop_reason"] == "tool_use"


def test_usage_tells_the_two_lives_of_a_cache_apart() -> None:
    """The usage of a stream's start and end has 5-minute and 1-hour writes, and their sum."""
    frames = [_read(part) for part in ok("x").parts if isinstance(part, bytes)]
    for usage in (frames[0][1]["message"]["usage"], frames[-2][1]["usage"]):
        split = usage["cache_creation"]
        assert sum(split.values()) == usage["cache_creation_input_tokens"]


def test_a_json_answer_is_the_same_message() -> None:
    """The plain form of a turn has the same content as the stream."""
    body = json.loads(ok_json("one", ToolUse("Read")).body)
    assert [block["type"] for block in body["content"]] == ["text", "tool_use"]
    assert body["stop_reason"] == "tool_use"


@pytest.mark.parametrize("key", ["5h", "7d", "7d_oi", "7d_opus", "7d_sonnet"])
def test_a_limit_names_its_window_and_leaves_the_shared_ones(key: str) -> None:
    """A limit rejects its own window, says so as a whole and in the claim, and the other shared window is allowed."""
    answer = limit(key, resets_in=100)
    head = dict(answer.headers)
    prefix = "anthropic-ratelimit-unified-"
    assert head[f"{prefix}status"] == head[f"{prefix}{key}-status"] == "rejected"
    assert head[f"{prefix}reset"] == head[f"{prefix}{key}-reset"]
    assert head["retry-after"] == "100"
    others = {"5h", "7d"} - {key}
    assert all(head[f"{prefix}{other}-status"] != "rejected" for other in others)


def test_resets_of_less_than_a_second_are_said_in_milliseconds() -> None:
    """With unit ms a reset is a number beyond 1e11, so that tests need not wait for whole seconds."""
    reset = limit("5h", resets_in=0.2, unit="ms").header("anthropic-ratelimit-unified-5h-reset")
    assert reset is not None
    assert float(reset) > 1e11


def test_headers_can_be_left_out() -> None:
    """None leaves out any of the unified headers."""
    assert unified(Window(key="5h", used=None, status=None, resets_in=None), status=None, claim=None) == unified(
        status=None, claim=None
    )
    assert limit("7d", retry_after=None, claim=None).without("anthropic-ratelimit-").header("retry-after") is None


def test_overage_is_served_and_rejected_at_once() -> None:
    """A paid answer stays a 200 and says rejected, in use, and the spent window."""
    answer = overage(ok("x"), "7d")
    assert answer.status == 200
    assert answer.header("anthropic-ratelimit-unified-status") == "rejected"
    assert answer.header("anthropic-ratelimit-unified-overage-in-use") == "true"
    assert answer.header("anthropic-ratelimit-unified-7d-status") == "rejected"


def test_a_throttle_says_what_it_is_told() -> None:
    """retry-after passes through as a number, a date or junk."""
    for value in (3, "Wed, 21 Oct 2026 07:28:00 GMT", "soon"):
        assert throttle(value).header("retry-after") == str(value)


def test_an_error_can_come_first_or_after_an_event() -> None:
    """stream_error is one lone frame, or stands right behind the event that is named and ends the stream."""
    assert stream_error("api_error").parts == (error_event("api_error"),)
    parts = stream_error(after="content_block_delta", nth=2).parts
    assert isinstance(parts[-2], bytes)
    assert parts[-2].startswith(b"event: content_block_delta")
    assert parts[-1] == error_event()


@pytest.mark.parametrize(("how", "act"), [("reset", Reset()), ("fin", End()), ("silence", Silence())])
def test_a_cut_keeps_what_came_before(how: str, act: object) -> None:
    """A cut ends right after the event that is named."""
    parts = ok("a b").cut(how, after="content_block_stop").parts  # type: ignore[arg-type]
    assert parts[-1] == act
    assert isinstance(parts[-2], bytes)
    assert parts[-2].startswith(b"event: content_block_stop")


def test_a_torn_cut_ends_inside_the_next_frame() -> None:
    """A torn cut sends half of the next frame before the end."""
    whole = ok("a b")
    torn = whole.cut(after="message_start", torn=True)
    assert whole.body.startswith(torn.body)
    assert not torn.body.endswith(b"\n\n")


@given(st.text(min_size=1), st.sampled_from(["gzip", "deflate", "br", "zstd"]))
def test_a_coding_can_be_undone_and_flows(text: str, coding: str) -> None:
    """A coded stream decodes to the plain one, and its first part alone decodes to the first frame."""
    plain = ok(text)
    coded = plain.encoded(coding)  # type: ignore[arg-type]
    assert _decode(coding, coded.body) == plain.body
    assert _decode(coding, coded.parts[0], whole=False) == plain.parts[0]  # type: ignore[arg-type]


def test_changes_of_bytes_leave_the_message() -> None:
    """CRLF, single bytes and one single write carry the same frames."""
    plain = ok("a b")
    assert plain.crlf().body.replace(b"\r\n", b"\n") == plain.body
    assert plain.bytewise().body == plain.joined().body == plain.body
    assert len(plain.bytewise().parts) == len(plain.body)


def test_pauses_and_gates_stand_where_they_are_put() -> None:
    """A number is a pause, a name is a gate; before the head, between the parts, or behind an event."""
    assert ok("a").late("gate").before == (Gate("gate"),)
    assert ok("a").slow_start(2.5).parts[0] == Pause(2.5)
    spread = ok("a").gap(0.5).parts
    assert spread[1::2] == (Pause(0.5),) * (len(spread) // 2)
    at = ok("a b").wait("here", after="content_block_delta", nth=2).parts
    assert at[at.index(Gate("here")) + 1] == ok("a b").parts[5]


def test_an_event_that_is_not_there_is_a_mistake_of_the_test() -> None:
    """A cut after an event that the answer does not have is refused."""
    with pytest.raises(LookupError):
        ok("a").cut(after="no_such_event")


def test_a_head_says_the_length_or_lies_about_it() -> None:
    """content-length is that of the body unless the answer claims another."""
    true = next(step for step in ok_json("x").steps() if isinstance(step, Send))
    assert f"content-length: {len(ok_json('x').body)}".encode() in true.data
    lie = next(step for step in ok_json("x").claiming(9_999).steps() if isinstance(step, Send))
    assert b"content-length: 9999\r\n" in lie.data


def test_padding_leaves_valid_json_of_the_size() -> None:
    """A padded refusal is as large as asked and still parses."""
    big = padded(limit("7d"), 1_100_000)
    assert len(big.body) == 1_100_000
    assert json.loads(big.body)["type"] == "error"


def _read(frame: bytes) -> tuple[str, Any]:
    first, second = frame.decode().removesuffix("\n\n").split("\n", 1)
    return first.removeprefix("event: "), json.loads(second.removeprefix("data: "))


def _decode(coding: str, data: bytes, *, whole: bool = True) -> bytes:
    if coding == "br":
        return bytes(brotli.Decompressor().process(data))
    if coding == "zstd":
        return bytes(zstd.ZstdDecompressor().decompress(data))
    if whole:
        return gzip.decompress(data) if coding == "gzip" else zlib.decompress(data)
    return zlib.decompressobj(wbits=31 if coding == "gzip" else 15).decompress(data)
