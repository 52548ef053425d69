"""Answers as mitmproxy's responses: what we say ourselves, and what is read of an upstream's body."""

import gzip
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mitmproxy import http

from addons import replies
from addons.replies import decoded_body, fields_of, is_whole_json, own, response_of
from providers.contract import Reply
from tests.addons.made import error_of, exchange
from tests.upstream import bad_request
from tests.upstream.answer import Coding

STATUSES = [
    (400, "invalid_request_error"),
    (404, "not_found_error"),
    (408, "timeout_error"),
    (413, "request_too_large"),
    (502, "api_error"),
]
words = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=8)
fields = st.lists(st.tuples(words, words), max_size=6).map(tuple)


def response(content: bytes | None, coding: str | None = None) -> http.Response:
    """A response whose body came like this."""
    made = http.Response.make(429)
    if coding is not None:
        made.headers["content-encoding"] = coding
    made.data.content = content
    return made


@given(st.integers(100, 599), fields, st.binary())
def test_a_reply_is_given_whole(status: int, headers: tuple[tuple[str, str], ...], body: bytes) -> None:
    """A reply keeps its status, its body as it is, and its fields in order; the length is the body's own."""
    made = response_of(Reply(status=status, headers=headers, body=body))

    kept = tuple(field for field in headers if field[0].lower() != "content-length")
    assert (made.status_code, made.raw_content) == (status, body)
    assert fields_of(made) == (*kept, ("content-length", str(len(body))))


def test_a_reply_states_its_length_once() -> None:
    """A length that came with the fields gives way to the body's true one."""
    headers = (("Content-Length", "7"), ("x-a", "1"), ("content-length", "9"))

    assert fields_of(response_of(Reply(status=200, headers=headers, body=b"abc"))) == (
        ("x-a", "1"),
        ("content-length", "3"),
    )


def test_a_reply_keeps_an_encoded_body_encoded() -> None:
    """A relayed answer's compressed body is not touched, whatever its encoding claims."""
    headers = (("content-encoding", "gzip"),)

    assert response_of(Reply(status=429, headers=headers, body=b"not gzip")).raw_content == b"not gzip"


@pytest.mark.parametrize(("status", "kind"), STATUSES)
@pytest.mark.parametrize("retry", [True, False])
def test_our_own_answers_have_the_vendors_shape(status: int, kind: str, retry: bool) -> None:
    """An answer of our own reads like the provider's, and says when trying again is useless."""
    made = own(exchange(), status, "the reason", retry=retry)

    assert error_of(made) == (status, kind, "the reason")
    assert made.headers["content-type"] == "application/json"
    assert made.headers.get("x-should-retry") == (None if retry else "false")


@pytest.mark.parametrize("without", [None, exchange(provider=None)])
@pytest.mark.parametrize(("status", "kind"), [STATUSES[0], STATUSES[1], STATUSES[4]])
@pytest.mark.parametrize("retry", [True, False])
def test_without_a_provider_the_shape_is_the_same(without: None, status: int, kind: str, retry: bool) -> None:
    """Who came through a mode that is not ours is told in the same shape, retries included."""
    made = own(without, status, "the reason", retry=retry)

    assert error_of(made) == (status, kind, "the reason")
    assert made.headers.get("x-should-retry") == (None if retry else "false")


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "zstd", " GZIP "])
def test_a_compressed_body_is_read(coding: str) -> None:
    """What the answer says is read from the decoded body, in every encoding that clients use."""
    plain = bad_request()
    name: Coding = coding.strip().lower()  # type: ignore[assignment]

    assert decoded_body(response(plain.encoded(name).body, coding)) == plain.body


@pytest.mark.parametrize("coding", ["gzip", "br", "nonsense", "gzip, br"])
def test_an_encoding_that_lies_leaves_the_body_as_it_came(coding: str) -> None:
    """A body that does not decode is read as it is."""
    assert decoded_body(response(b'{"type": "error"}', coding)) == b'{"type": "error"}'


@pytest.mark.parametrize("coding", [None, "", "identity", " Identity "])
def test_a_plain_body_is_read_as_it_came(coding: str | None) -> None:
    """Without an encoding there is nothing to decode; without a body it is empty."""
    assert decoded_body(response(b"said", coding)) == b"said"
    assert decoded_body(response(None, coding)) == b""


def test_a_body_that_swells_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """A small body that decodes to more than anybody should read is judged by its head alone."""
    monkeypatch.setattr(replies, "READ_LIMIT", 100)

    assert decoded_body(response(gzip.compress(b"x" * 100), "gzip")) == b"x" * 100
    assert decoded_body(response(gzip.compress(b"x" * 101), "gzip")) == b""


@given(st.recursive(st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=5), st.lists, max_leaves=8))
def test_whole_json_is_json_and_less_is_not(value: object) -> None:
    """Every JSON value is recognised; one with a part missing, or something behind it, is not."""
    text = json.dumps(value).encode()

    assert is_whole_json(text)
    assert is_whole_json(b" \n" + text + b" ")
    assert not is_whole_json(text + b"{")
    assert not is_whole_json(b"[" + text)


@pytest.mark.parametrize("body", [b'{"text": "\\ud83d"}', b"[" * 100_000 + b"]" * 100_000])
def test_what_other_parsers_refuse_is_whole(body: bytes) -> None:
    """Half a surrogate pair, as a text cut inside an emoji leaves it, and any depth: the client gets its answer."""
    assert is_whole_json(body)


@pytest.mark.parametrize("body", [b"", b"<html></html>", b'{"a": ', b"\xff", b"{'a': 1}", b'{"a": 1} {"b": 2}'])
def test_what_is_no_json(body: bytes) -> None:
    """Pages, torn values and pairs of values are no JSON."""
    assert not is_whole_json(body)
