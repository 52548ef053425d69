"""A question goes straight to whom it is for, and its answer comes in time or not at all."""

import threading
import time

import pytest

from credentials import web
from credentials.way import DIRECT
from credentials.web import Question, UnreachableError, ask
from tests.flowpool.proxy import listening, reply


def question(address: object, body: bytes = b"") -> Question:
    """A question to that address."""
    return Question(method="POST", url=f"http://{address}/token", headers={"x-secret": "PLANTED"}, body=body)


def test_the_whole_answer_comes_back() -> None:
    """Status, headers under names in lower case, and the body; the question is what was asked, no more."""
    heard: list[bytes] = []
    with listening(reply(b"gone", "410 Gone\r\nRetry-After: 3\r\nRETRY-AFTER: 4"), heard) as address:
        answer = ask(question(address, b"{}"), 5, DIRECT)

    assert (answer.status, answer.headers["retry-after"], answer.body) == (410, "3", b"gone")
    assert heard[0].startswith(b"POST /token HTTP/1.1\r\n")


def test_a_refused_connection_was_not_sent() -> None:
    """So the question may be asked again, whatever it spends."""
    with listening(b"", []) as address:
        pass

    with pytest.raises(UnreachableError, match="Connection refused") as caught:
        ask(question(address), 5, DIRECT)
    assert not caught.value.was_sent


def test_certificates_that_are_missing_are_said_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """As while the program is being upgraded: nothing was sent."""
    monkeypatch.setattr("certifi.where", lambda: "/nowhere/cacert.pem")
    with pytest.raises(UnreachableError, match="No such file") as caught:
        ask(Question(method="POST", url="https://example.invalid/token", headers={}), 20, DIRECT)
    assert not caught.value.was_sent


@pytest.mark.parametrize("answer", [None, b"", b"hello\r\n\r\n"], ids=["silence", "end", "no HTTP"])
def test_what_was_sent_may_have_been_heard(answer: bytes | None) -> None:
    """Silence, an end and nonsense come after the question."""
    with listening(answer, []) as address, pytest.raises(UnreachableError) as caught:
        ask(question(address), 0.2, DIRECT)

    assert caught.value.was_sent
    assert "PLANTED" not in str(caught.value)


def test_the_patience_is_for_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where a socket's own patience does not reach, as while a name is looked up."""
    over = threading.Event()
    monkeypatch.setattr(web, "_ask", lambda *_: over.wait(20))

    began = time.monotonic()
    with pytest.raises(UnreachableError, match=r"no answer within 0\.05 s"):
        ask(question("127.0.0.1:1"), 0.05, DIRECT)
    assert time.monotonic() - began < 10
    over.set()


def test_a_connection_that_does_not_come_about_is_given_up_sooner(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing was sent, and another try may find the network awake."""
    monkeypatch.setattr(web, "CONNECT", 0.05)
    with listening(None, []) as address, pytest.raises(UnreachableError, match=r"no answer within 0\.05 s") as caught:
        ask(Question(method="POST", url=f"https://{address}/token", headers={}), 20, DIRECT)
    assert not caught.value.was_sent


def test_a_body_that_breaks_off_leaves_the_status() -> None:
    """Of an answer the status decides."""
    torn = b"HTTP/1.1 401 No\r\nContent-Length: 9\r\n\r\nhalf"
    with listening(torn, []) as address:
        answer = ask(question(address), 5, DIRECT)

    assert (answer.status, answer.body) == (401, b"half")
