"""Own errors, and what is mended in an answer that is relayed."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from providers.anthropic.replies import error_event, failed, own, relayed
from providers.anthropic.verdicts import classify
from providers.contract import Answer, Fields, Reply
from providers.sse import Frames
from routing.verdicts import Verdict, VerdictKind
from tests.providers.samples import NOON, OPUS, RULES, UNIFIED, sample


def verdict(row: int) -> Verdict:
    return Verdict(row=row, kind=VerdictKind.SERVER, because="")


def passed(name: str) -> tuple[Fields, bytes, Reply]:
    answer, fields = sample(name)
    reply = relayed(answer, fields, answer.body, classify(answer, OPUS, RULES, NOON))
    return fields, answer.body, reply


def retry_after(row: int, value: str, date: str = "") -> str:
    answer = Answer(status=429, headers={"date": date})
    reply = relayed(answer, (("Retry-After", value),), b"", verdict(row))
    return dict(reply.headers)["Retry-After"]


ROWS = st.integers(8, 24)
FIELDS = st.lists(st.tuples(st.sampled_from(["Retry-After", "X-A", "x-a", "Content-Type"]), st.text(max_size=5))).map(
    tuple
)


@given(row=ROWS, fields=FIELDS, body=st.binary(), wire=st.binary())
def test_bodies_are_left_alone(row: int, fields: Fields, body: bytes, wire: bytes) -> None:
    """Bytes are relayed as they came, compressed or not, unless row 22 meets a web page."""
    reply = relayed(Answer(status=500, headers={}, body=body), fields, wire, verdict(row))
    assert reply.body == wire or (row == 22 and body.lstrip().startswith(b"<"))
    if reply.body == wire:
        assert [name for name, _ in reply.headers] == [name for name, _ in fields]


@pytest.mark.parametrize("name", ["429-bare.http", "529-overloaded.http", "429-key.http"])
def test_nothing_to_mend(name: str) -> None:
    """An answer that breaks no rule is relayed field for field."""
    fields, body, reply = passed(name)
    assert (reply.headers, reply.body) == (fields, body)


def test_a_throttle_does_not_end_the_turn() -> None:
    """A throttle loses the three fields that end a turn, and its wait is a minute at most; all else stays."""
    fields, body, reply = passed("429-throttle.http")
    gone = {UNIFIED + "representative-claim", UNIFIED + "overage-status", UNIFIED + "overage-disabled-reason"}
    kept = tuple((name, "60" if name == "Retry-After" else value) for name, value in fields if name not in gone)
    assert len(kept) == len(fields) - 3
    assert (reply.status, reply.headers, reply.body) == (429, kept, body)


def test_a_page_becomes_an_error() -> None:
    """A server's web page is replaced by an error of the vendor's shape, with fields that fit it."""
    _, _, reply = passed("502-page.http")
    fields = dict(reply.headers)
    assert json.loads(reply.body) == {
        "type": "error",
        "error": {"type": "api_error", "message": "the service answered 502 Bad Gateway with a web page"},
    }
    assert fields == {
        "Date": "Mon, 30 Nov 2026 12:00:00 GMT", "Server": "edge", "Retry-After": "60",
        "content-type": "application/json", "content-length": str(len(reply.body)),
    }  # fmt: skip


def test_a_compressed_page_of_an_unknown_status() -> None:
    """What told of the old body is gone, also its encoding; a status without a name keeps its number."""
    answer = Answer(status=522, headers={"content-type": "text/html"}, body=b"plain")
    fields = (("Content-Encoding", "br"), ("Transfer-Encoding", "chunked"), ("content-type", "text/html"), ("X-A", "1"))
    reply = relayed(answer, fields, b"\x00", verdict(22))
    assert [name for name, _ in reply.headers] == ["X-A", "content-type", "content-length"]
    assert b"answered 522 with" in reply.body


@pytest.mark.parametrize("row", [14, 15, 21, 22])
@pytest.mark.parametrize(
    ("value", "relayed_as"),
    [("60", "60"), ("61", "60"), ("5", "5"), ("1.5", "1.5"), ("0", "0"), ("1e9", "60"), ("NaN", "60"), ("-5", "60"),
     ("", "60"), ("Mon, 30 Nov 2026 12:00:30 GMT", "60")],
)  # fmt: skip
def test_the_longest_wait(row: int, value: str, relayed_as: str) -> None:
    """A retry-after that is not known to be a minute or less becomes a minute (X37)."""
    assert retry_after(row, value) == relayed_as


@pytest.mark.parametrize(("until", "relayed_as"), [("12:00:30", "30"), ("12:10:00", "60"), ("11:59:00", "0")])
def test_a_date_is_measured_by_the_answer_s_own(until: str, relayed_as: str) -> None:
    """A wait until a date counts from the date that the answer bears."""
    assert retry_after(15, f"Mon, 30 Nov 2026 {until} GMT", "Mon, 30 Nov 2026 12:00:00 GMT") == relayed_as


@pytest.mark.parametrize("row", [8, 9, 10, 11, 13, 20, 23, 24])
def test_other_rows_are_relayed_as_they_came(row: int) -> None:
    """A long wait, a claim and a page stay where the contract does not name them."""
    answer = Answer(status=400, headers={"content-type": "text/html"}, body=b"<html>")
    fields = (("retry-after", "3600"), (UNIFIED + "representative-claim", "five_hour"))
    assert relayed(answer, fields, b"<html>", verdict(row)) == Reply(status=400, headers=fields, body=b"<html>")


@given(message=st.text(), retry=st.booleans(), status=st.sampled_from([400, 404, 408, 413, 429, 502, 503, 504, 529]))
def test_own_errors(message: str, retry: bool, status: int) -> None:
    """An error of our own is whole JSON of the vendor's shape."""
    reply = failed(status, message, retry=retry)
    tree = json.loads(reply.body)
    assert (tree["type"], tree["error"]["message"]) == ("error", message)
    assert ("x-should-retry", "false") in reply.headers or retry
    assert ("content-length", str(len(reply.body))) in reply.headers


def test_further_fields() -> None:
    """An own error may carry more fields."""
    assert own(429, "x", (("retry-after", "5"),)).headers[-1] == ("retry-after", "5")


def test_the_event_that_ends_a_stream() -> None:
    """It is of the type that makes the client try again, even when the message has line ends."""
    (frame,) = Frames().feed(error_event("cut\n\noff"))
    assert frame.event == "error"
    assert b'"type":"overloaded_error"' in frame.data
    assert json.loads(frame.data)["error"]["message"] == "cut\n\noff"
