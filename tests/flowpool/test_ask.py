"""One question over HTTP, within its time."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowpool import ask
from tests.flowpool.proxy import listening, reply


@pytest.mark.parametrize("length", [True, False], ids=["length", "close"])
def test_an_answer_is_status_and_body(length: bool) -> None:
    """Status and body are returned, and the question names its host and headers."""
    heard: list[bytes] = []
    with listening(reply(b"x" * 200_000, "418 No", length=length), heard) as address:
        assert ask.get(address, "/a", {"x-key": "k"}, 10) == (418, b"x" * 200_000)

    assert heard == [
        f"GET /a HTTP/1.1\r\nHost: {address}\r\nAccept: application/json\r\nConnection: close\r\nx-key: k\r\n\r\n".encode()
    ]


def test_a_body_is_sent_whole_with_its_length() -> None:
    """A POST says how long it is and that it is JSON."""
    heard: list[bytes] = []
    with listening(reply(b"{}"), heard) as address:
        assert ask.post(address, "/a", {"x-key": "k"}, b'{"b": 1}', 10) == (200, b"{}")

    head, _, body = heard[0].partition(b"\r\n\r\n")
    assert head.startswith(b"POST /a HTTP/1.1\r\n")
    assert {b"x-key: k", b"Content-Type: application/json", b"Content-Length: 8"} <= set(head.split(b"\r\n"))
    assert body == b'{"b": 1}'


@pytest.mark.parametrize(
    "junk",
    [b"", b"hello", b"HTTP/1.1 20\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort", b"\x16\x03\x01"],
    ids=range(5),
)
def test_what_is_not_whole_http_is_a_value_error(junk: bytes) -> None:
    """Half answers and other protocols are refused."""
    with listening(junk, []) as address, pytest.raises(ValueError, match="not whole HTTP"):
        ask.get(address, "/", {}, 10)


def test_a_silent_server_times_out() -> None:
    """Who accepts and says nothing costs no more than the patience."""
    with listening(None, []) as address, pytest.raises(TimeoutError):
        ask.get(address, "/", {}, 0.05)


def test_nobody_there_is_a_refusal() -> None:
    """A closed port is told apart from silence."""
    with listening(b"", []) as address:
        pass

    with pytest.raises(ConnectionRefusedError):
        ask.get(address, "/", {}, 10)


def test_an_endless_answer_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer past the bound is refused."""
    monkeypatch.setattr(ask, "LARGEST", 1000)

    with listening(reply(b"x" * 5000), []) as address, pytest.raises(ValueError, match="too long"):
        ask.get(address, "/", {}, 10)


@given(body=st.binary(max_size=50))
def test_any_body_arrives_unchanged(body: bytes) -> None:
    """Bodies are bytes; nothing in them is mistaken for a head."""
    with listening(reply(body), []) as address:
        assert ask.get(address, "/", {}, 10) == (200, body)
