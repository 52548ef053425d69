"""A secret is read from a pipe whole, or not at all."""

import io
import sys

import pytest

from credentials.errors import BadSecret
from flowpool.intake import asking


def piped(monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    """Let stdin be a pipe with this in it."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))


@pytest.mark.parametrize("data", [b"a b\n", b"\xef\xbb\xbfa b\n"], ids=["plain", "BOM"])
def test_a_pipe_is_read_as_it_is(monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    """But for the mark of an encoding."""
    piped(monkeypatch, data)
    assert asking.secret("api-key", "work", "x") == "a b\n"


@pytest.mark.parametrize(
    ("data", "says"), [(b"\xff\xfeSECRET", "not text"), (b"S" * (2**20 + 1), "longer than")], ids=[0, 1]
)
def test_what_cannot_be_a_secret_is_refused(monkeypatch: pytest.MonkeyPatch, data: bytes, says: str) -> None:
    """With what to run, and without it."""
    piped(monkeypatch, data)
    with pytest.raises(BadSecret, match=says) as caught:
        asking.secret("api-key", None, "flowpool x")

    assert str(caught.value).endswith("; run: flowpool x")
    assert "SECRET" not in str(caught.value)


def test_nowhere_to_ask_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither a terminal nor a pipe: nothing that is typed would be hidden."""
    monkeypatch.setattr(sys, "stdin", None)
    monkeypatch.setattr(asking, "has_terminal", lambda: False)
    with pytest.raises(BadSecret, match=r"neither a terminal .* nor a pipe .*; run: flowpool x"):
        asking.secret("api-key", "work", "flowpool x")
