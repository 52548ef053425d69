"""Good answers of the Messages API: event streams in the full grammar, and whole JSON messages."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Literal

from tests.upstream.answer import Answer, Headers, as_json
from tests.upstream.limits import healthy, ids

MODEL = "claude-opus-5-5"
PING = b'event: ping\ndata: {"type": "ping"}\n\n'
type ErrorKind = Literal[
    "overloaded_error", "api_error", "timeout_error", "rate_limit_error", "authentication_error", "permission_error",
    "invalid_request_error",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Text:
    """A text block."""

    text: str


@dataclass(frozen=True, slots=True)
class Thinking:
    """A thinking block with its signature."""

    text: str
    signature: str = "c2lnbmF0dXJl"


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A call of a tool."""

    name: str
    input: dict[str, object] = field(default_factory=dict)
    id: str = "toolu_test01"


type Block = Text | Thinking | ToolUse


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens as the vendor counts them."""

    fresh: int = 12
    read: int = 9_000
    wrote_5m: int = 100
    wrote_1h: int = 700
    output: int = 25

    def fields(self, output: int) -> dict[str, object]:
        """The usage object with that output so far."""
        return {
            "input_tokens": self.fresh,
            "cache_creation_input_tokens": self.wrote_5m + self.wrote_1h,
            "cache_read_input_tokens": self.read,
            "cache_creation": {
                "ephemeral_5m_input_tokens": self.wrote_5m,
                "ephemeral_1h_input_tokens": self.wrote_1h,
            },
            "output_tokens": output,
            "service_tier": "standard",
        }


def event(name: str, **data: object) -> bytes:
    """One frame of an event stream."""
    return f"event: {name}\ndata: {json.dumps({'type': name, **data}, ensure_ascii=False)}\n\n".encode()


def error_event(kind: ErrorKind = "overloaded_error", message: str = "Overloaded") -> bytes:
    """An error inside a stream."""
    return event("error", error={"type": kind, "message": message})


def ok(
    *content: str | Block,
    model: str = MODEL,
    usage: Usage | None = None,
    headers: Headers | None = None,
    stop: str | None = None,
    comments: bool = False,
) -> Answer:
    """A good turn as a stream: message_start, ping, blocks, message_delta, message_stop.

    headers: None stands for those of an account with room. stop: the stop_reason when it is not what the blocks say.
    """
    blocks, counts = _blocks(content), usage or Usage()
    start = {"id": "msg_test01", "type": "message", "role": "assistant", "model": model, "content": []}
    first = {**start, "stop_reason": None, "stop_sequence": None, "usage": counts.fields(1)}
    parts = [event("message_start", message=first), PING]
    for index, block in enumerate(blocks):
        parts += [b": still here\n\n"] if comments else []
        parts += _block_events(index, block)
    told = {"stop_reason": _stop(blocks, stop), "stop_sequence": None}
    parts += [event("message_delta", delta=told, usage=counts.fields(counts.output)), event("message_stop")]
    return stream(*parts, headers=headers, label="200 stream")


def stream(*parts: bytes, headers: Headers | None = None, label: str = "200 frames") -> Answer:
    """A 200 event stream of just these frames."""
    kind = (("content-type", "text/event-stream; charset=utf-8"), ("cache-control", "no-cache"))
    usage = healthy() if headers is None else headers
    return Answer(label=label, headers=(*kind, *ids(), *usage), parts=tuple(parts), framing="chunked")


def ok_json(
    *content: str | Block,
    model: str = MODEL,
    usage: Usage | None = None,
    headers: Headers | None = None,
    stop: str | None = None,
) -> Answer:
    """A good turn as one JSON message."""
    blocks, counts = _blocks(content), usage or Usage()
    body = {
        "id": "msg_test01",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [_block_whole(block) for block in blocks],
        "stop_reason": _stop(blocks, stop),
        "stop_sequence": None,
        "usage": counts.fields(counts.output),
    }
    return as_json("200 json", body, headers=(*ids(), *(healthy() if headers is None else headers)))


def stream_error(
    kind: ErrorKind = "overloaded_error", message: str = "Overloaded", *, after: str | int = -1, nth: int = 1
) -> Answer:
    """A 200 stream with an error: as its first event, or after that event of a good turn (rows 24, 25)."""
    if after == -1:
        return stream(error_event(kind, message), label=f"200 {kind} first")
    begun = ok("One two three").cut("whole", after=after, nth=nth)
    return begun.inserted(error_event(kind, message), after=len(begun.parts) - 1).named(f"200 {kind} after {after}")


def pings(count: int = 3) -> Answer:
    """A stream of pings and comments that then just ends."""
    return stream(*(PING, b": keep-alive\n\n") * count, label="200 pings")


def _blocks(content: tuple[str | Block, ...]) -> tuple[Block, ...]:
    return tuple(Text(item) if isinstance(item, str) else item for item in content or ("Hello there, friend.",))


def _stop(blocks: tuple[Block, ...], stop: str | None) -> str:
    return stop or ("tool_use" if any(isinstance(block, ToolUse) for block in blocks) else "end_turn")


def _block_whole(block: Block) -> dict[str, object]:
    match block:
        case Text(text):
            return {"type": "text", "text": text}
        case Thinking(text, signature):
            return {"type": "thinking", "thinking": text, "signature": signature}
        case ToolUse(name, given, call):
            return {"type": "tool_use", "id": call, "name": name, "input": given}


def _block_events(index: int, block: Block) -> list[bytes]:
    empty, deltas = _told(block)
    return [
        event("content_block_start", index=index, content_block=_block_whole(empty)),
        *(event("content_block_delta", index=index, delta=delta) for delta in deltas),
        event("content_block_stop", index=index),
    ]


def _told(block: Block) -> tuple[Block, list[dict[str, str]]]:
    """The block as it starts, empty, and the deltas that fill it."""
    match block:
        case Text(text):
            return Text(""), [{"type": "text_delta", "text": word} for word in _words(text)]
        case Thinking(text, signature):
            deltas = [{"type": "thinking_delta", "thinking": word} for word in _words(text)]
            return Thinking("", ""), [*deltas, {"type": "signature_delta", "signature": signature}]
        case ToolUse(name, given, call):
            whole = json.dumps(given)
            pieces = [whole[at : at + 16] for at in range(0, len(whole), 16)]
            return ToolUse(name, {}, call), [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]


def _words(text: str) -> list[str]:
    return re.findall(r"\S+\s*|\s+", text)
