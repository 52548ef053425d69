"""addons/exchangetext.py: one exchange as a text for people."""

import gzip
from datetime import UTC, datetime
from typing import Any

import brotli
import pytest
from hypothesis import given
from hypothesis import strategies as st

from addons.exchangetext import Told, text_of
from addons.record import SLACK, Message, Record, Tried
from routing.trail import Attempt
from routing.verdicts import Verdict, VerdictKind
from routing.words import AccountId

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
LINE: dict[str, Any] = {
    "at": NOON.isoformat(), "id": "1a2b3c4d5e6f", "conversation": None, "model": "claude-opus-5-5", "account": "home",
    "because": "new", "status": 200, "ended": "complete", "answer": None, "total_ms": 1234.5,
}  # fmt: skip
SECRET = b"sk-secret-of-nobody"


def attempt(because: str = "7d limit", row: int = 13) -> Attempt:
    """One that ended a moment later."""
    verdict = Verdict(row=row, kind=VerdictKind.LIMIT, because=because)
    return Attempt(
        account=AccountId("work"), verdict=verdict, sent_at=NOON, ended_at=NOON.replace(second=1, microsecond=5000)
    )


def told(record: Record, *attempts: tuple[str, Attempt], secrets: frozenset[bytes] = frozenset()) -> str:
    """The text."""
    record.settle()
    return text_of(Told(line=LINE, record=record, attempts=attempts, secrets=secrets)).decode()


def record(kept: int = 1000, **more: Any) -> Record:
    """A record that keeps so much of a body."""
    asked = Message(start="POST /v1/messages", fields=((b"x-api-key", b"k"), (b"accept", b"*/*")), body=b"{}", size=2)
    return Record(most=kept + SLACK, **{"request": asked} | more)


def test_the_whole_text() -> None:
    """What was asked, each attempt, what the client got, in this order."""
    made = record(
        tried=[
            Tried(at=NOON, answer=Message(start="429 Too Many", fields=((b"retry-after", b"9"),), body=b"no\n", size=3))
        ],
        got=Message(start="200 OK", body=b"event: x\n\n", size=10),
        streamed=10,
    )
    assert told(made, ("work", attempt()), ("home", attempt("answered", 8))) == (
        "id: 1a2b3c4d5e6f\nat: 2026-11-30T12:00:00+00:00\nmodel: claude-opus-5-5\naccount: home\nbecause: new\n"
        "status: 200\nended: complete\nseconds: 1.234\n"
        "\n##### the request\nPOST /v1/messages\nx-api-key: [masked]\naccept: */*\n\n{}\n"
        "\n##### attempt 1 on work, sent 12:00:00.000, ended 12:00:01.005: row 13, 7d limit\n429 Too Many\nretry-after: 9\n\nno\n"
        "\n##### attempt 2 on home, sent 12:00:00.000, ended 12:00:01.005: row 8, answered\n(its answer is what the client got)\n"
        "\n##### the client got\n200 OK\n\nevent: x\n\n"
    )


def test_an_answer_that_the_client_got_stands_once() -> None:
    """It is named where it would stand again."""
    answer = object()
    made = record(
        tried=[Tried(at=NOON, answer=Message(start="400", body=b"odd", size=3), source=answer)],
        got=Message(start="400", body=b"odd", size=3),
        source=answer,
    )
    text = told(made, ("work", attempt()))
    assert text.count("odd") == 1
    assert text.endswith("\n##### the client got the answer of attempt 1\n")


def test_an_answer_that_was_judged_by_its_beginning_and_went_on_is_shown() -> None:
    """What was noted of it was its beginning alone."""
    answer, stream = object(), b"event: error\n\nall of it"
    made = record(
        tried=[Tried(at=NOON, answer=Message(start="200"), note="its stream began with this error", source=answer)],
        got=Message(start="200", body=stream, size=len(stream)),
        source=answer,
        streamed=len(stream),
    )
    assert "##### the client got\n200\n\nevent: error\n\nall of it\n" in told(made, ("work", attempt()))


def test_a_client_that_left_got_nothing() -> None:
    """And what ended an attempt without an answer is said."""
    made = record(tried=[Tried(at=NOON, answer=None, note="connection refused")])
    text = told(made, ("work", attempt("unreachable", 1)))
    assert "row 1, unreachable\n(connection refused)\n" in text
    assert text.endswith("\n##### the client got nothing\n")


@given(before=st.integers(0, 40), kept=st.integers(1, 60), copies=st.integers(1, 3))
def test_no_part_of_a_secret_is_left_where_a_body_is_cut(before: int, kept: int, copies: int) -> None:
    """Wherever the bound falls."""
    body = b"." * before + SECRET * copies + b"." * SLACK * 2
    asked = Message(start="POST /", body=body[: kept + SLACK], size=len(body))
    text = told(record(kept, request=asked), secrets=frozenset({SECRET}))

    assert "sk-secret" not in text
    assert "sk-s" not in text
    assert f"[log] body_kib keeps {kept})" in text


def test_no_part_of_a_secret_is_left_where_keeping_ended() -> None:
    """Many masked ones before it make the text shorter than its bound."""
    body = SECRET * 1000 + b"x"
    kept = len(body) - SLACK - 5
    asked = Message(start="POST /", body=body[: kept + SLACK], size=len(body))
    text = told(record(kept, request=asked), secrets=frozenset({SECRET}))

    assert "secret" not in text


@pytest.mark.parametrize(
    ("encoding", "body", "shown"),
    [
        (b"gzip", gzip.compress(b"hello " + SECRET, mtime=0), "hello [masked]\n(unpacked from"),
        (b"br", brotli.compress(b"hello " + SECRET), "hello [masked]\n(unpacked from"),
        (b"identity", b"hello", "hello\n"),
        (b"gzip", b"no gzip", "(7 bytes of gzip: "),
        (b"snappy", b"x" * 9, "(9 bytes of snappy, which cannot be read)"),
    ],
)
def test_compressed_bodies_are_unpacked(encoding: bytes, body: bytes, shown: str) -> None:
    """A person and the masking read them; where that cannot be, the bytes are not kept."""
    asked = Message(start="200", fields=((b"Content-Encoding", encoding),), body=body, size=len(body))
    assert shown in told(record(got=asked), secrets=frozenset({SECRET}))


def test_secrets_stand_in_no_line() -> None:
    """Neither in a heading nor in a note."""
    made = record(tried=[Tried(at=NOON, answer=Message(start=f"400 {SECRET.decode()}"), note=SECRET.decode())])
    line = LINE | {"because": SECRET.decode()}
    text = text_of(
        Told(line=line, record=made, attempts=(("work", attempt(SECRET.decode())),), secrets=frozenset({SECRET}))
    )
    assert SECRET not in text
    assert (
        SECRET.decode()
        not in repr(Told(line={}, record=made, attempts=(), secrets=frozenset({SECRET}))).partition("record=")[0]
    )


def test_a_secret_that_a_stream_tells_in_pieces_is_masked() -> None:
    """As a model does that repeats what it was shown."""
    half = len(SECRET) // 2
    events = b"".join(b'data: {"delta":{"text":"%s"}}\n\n' % part for part in (SECRET[:half], SECRET[half:]))
    fields = ((b"content-type", b"text/event-stream; charset=utf-8"),)
    made = record(got=Message(start="200 OK", fields=fields, body=events, size=len(events)), streamed=len(events))
    text = told(made, secrets=frozenset({SECRET}))

    assert 'data: {"delta":{"text":"[masked]"}}\n\ndata: {"delta":{"text":""}}\n' in text


def test_what_is_no_text_is_shown_all_the_same() -> None:
    """A client may write any byte into its address, and half of an emoji into its model."""
    made = record(request=Message(start="POST /v1/messages?\udcff", body=b"{}", size=2))
    text = text_of(Told(line=LINE | {"model": "\ud83d"}, record=made, attempts=(), secrets=frozenset())).decode()

    assert "POST /v1/messages?\\udcff\n" in text
    assert "model: \\ud83d\n" in text
