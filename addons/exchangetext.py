"""One exchange as a text for people: the request, every attempt with its answer, and what the client got, secrets masked.

Bodies stand as they came, JSON in one line: `grep -m1 '^{' FILE | jq .messages` reads the request's.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from addons.decoding import UndecodableError, decoder
from addons.masking import masked, masked_deltas, masked_fields
from addons.record import SLACK, Message, Record, Tried
from routing.trail import Attempt

RULE = "#" * 5
_PLAIN = frozenset({"", "identity"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """An exchange that ended. line: its line of the request log. attempts: how each of its attempts ended, with the account's name.

    secrets: what must not be written of it.
    """

    line: dict[str, Any]
    record: Record
    attempts: tuple[tuple[str, Attempt], ...]
    secrets: frozenset[bytes] = field(repr=False)


def text_of(told: Told) -> bytes:
    """The text."""
    return b"".join(_parts(told))


def _parts(told: Told) -> Iterator[bytes]:
    record = told.record
    yield masked(_bytes(_summary(told.line)), told.secrets)
    yield from _section("the request", record.request, told)
    for number, (name, attempt) in enumerate(told.attempts, 1):
        tried = record.tried[number - 1] if number <= len(record.tried) else None
        heading = f"attempt {number} on {name}, sent {_clock(attempt.sent_at)}, ended {_clock(attempt.ended_at)}: {_verdict(attempt)}"
        yield from _section(heading, tried.answer if tried else None, told, note=_note(tried, record))
    if record.same is not None:
        yield from _section(f"the client got the answer of attempt {record.same}", None, told)
    else:
        yield from _section("the client got" if record.got else "the client got nothing", record.got, told)


def _summary(line: dict[str, Any]) -> str:
    keys = ("id", "at", "conversation", "model", "account", "because", "status", "ended", "answer")
    return (
        "".join(f"{key}: {line[key]}\n" for key in keys if line[key] is not None)
        + f"seconds: {line['total_ms'] / 1000:.3f}\n"
    )


def _verdict(attempt: Attempt) -> str:
    return f"row {attempt.verdict.row}, {attempt.verdict.because}"


def _note(tried: Tried | None, record: Record) -> str:
    if tried is not None:
        return tried.note
    return "its answer is what the client got" if record.got is not None and record.streamed else ""


def _section(heading: str, message: Message | None, told: Told, *, note: str = "") -> Iterator[bytes]:
    yield masked(_bytes(f"\n{RULE} {heading}\n"), told.secrets)
    if message is not None:
        lines = [_bytes(message.start), *(name + b": " + value for name, value in masked_fields(message.fields))]
        yield masked(b"\n".join(lines), told.secrets) + b"\n"
        yield from _body(message, told)
    if note:
        yield masked(_bytes(f"({note})\n"), told.secrets)


def _body(message: Message, told: Told) -> Iterator[bytes]:
    if not message.body:
        return
    bound = told.record.most - SLACK
    data, remark = _readable(message)
    is_in_part = message.size > len(message.body)
    if "event-stream" in _field(message.fields, b"content-type"):
        data = masked_deltas(data, told.secrets)
    data = masked(data, told.secrets)
    kept = data[: max(0, len(data) - SLACK)][:bound] if is_in_part else data[:bound]
    if is_in_part or len(kept) < len(data):
        remark = f"{remark}; " if remark else ""
        remark += f"the first {len(kept)} bytes; [log] body_kib keeps {bound}"
    yield b"\n" + kept + (b"" if kept.endswith(b"\n") or not kept else b"\n")
    if remark:
        yield f"({remark})\n".encode()


def _readable(message: Message) -> tuple[bytes, str]:
    """The body unpacked, as far as that is possible, and what it was; a remark where it is not."""
    assert message.body is not None
    encoding = _field(message.fields, b"content-encoding")
    if encoding in _PLAIN:
        return message.body, ""
    unpack = decoder(encoding)
    if unpack is None:
        return b"", f"{message.size} bytes of {encoding}, which cannot be read"
    try:
        return unpack(message.body), f"unpacked from {message.size} bytes of {encoding}"
    except UndecodableError as error:
        return b"", f"{message.size} bytes of {encoding}: {error}"


def _field(fields: Iterable[tuple[bytes, bytes]], name: bytes) -> str:
    return next((value.decode("latin-1").strip().lower() for key, value in fields if key.lower() == name), "")


def _bytes(text: str) -> bytes:
    """A text, also where a client sent what is none."""
    return text.encode("utf-8", "backslashreplace")


def _clock(at: Any) -> str:
    return f"{at:%H:%M:%S}.{at.microsecond // 1000:03d}"
