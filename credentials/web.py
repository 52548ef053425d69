"""One question over HTTP to a service that a credential is for, and its answer.

It goes the way that it is told (credentials/way.py), whatever the environment says of proxies, trusting the certificates that mitmproxy
trusts. A redirect is an answer like any other: a secret goes nowhere else.
"""

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from credentials.way import Way, before, connection, told

if TYPE_CHECKING:
    from http.client import HTTPConnection, HTTPResponse

LARGEST = 2**16  # bytes that are read of an answer
CONNECT = 15.0  # seconds, TLS included: one begun as a computer wakes may lead nowhere, and the next one does not


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is asked. url: http only to this machine, as the settings see to. headers: they may hold a secret."""

    method: str
    url: str
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(default=b"", repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What came back. headers: names in lower case, the first value of a repeated one. body: its first LARGEST bytes."""

    status: int
    headers: Mapping[str, str]
    body: bytes = field(default=b"", repr=False)


class UnreachableError(Exception):
    """No answer came; the text says why, and quotes nothing of the question.

    was_sent: whether the service may have got the question all the same.
    """

    def __init__(self, why: str, *, was_sent: bool) -> None:
        super().__init__(why)
        self.was_sent = was_sent


def ask(question: Question, patience: float, way: Way) -> Answer:
    """Return the answer within so many seconds, or raise UnreachableError.

    On a thread, for a name that nobody resolves and an answer that drips would each outlast a socket's own patience.
    """
    arrived = SimpleQueue[Answer | UnreachableError]()
    threading.Thread(target=lambda: arrived.put(_ask(question, patience, way)), daemon=True).start()
    try:
        answer = arrived.get(timeout=patience)
    except Empty:
        answer = _late(patience, was_sent=True)
    if isinstance(answer, UnreachableError):
        raise answer
    return answer


def _ask(question: Question, patience: float, way: Way) -> Answer | UnreachableError:
    from http.client import HTTPException  # noqa: PLC0415  # whoever asks nothing need not wait for it

    at = urlsplit(question.url)
    was_sent = False
    asked: HTTPConnection | None = None
    try:
        asked = connection(at, way, min(patience, CONNECT))
        asked.connect()
        asked.sock.settimeout(patience)
        was_sent = True
        asked.request(
            question.method, at.path or "/", question.body or None, {"Connection": "close", **question.headers}
        )
        with asked.getresponse() as answer:
            headers = {name.lower(): value for name, value in reversed(answer.getheaders())}
            return Answer(status=answer.status, headers=headers, body=_body(answer))
    except TimeoutError:
        if was_sent:
            return _late(patience, was_sent=True)
        return UnreachableError(before(str(_late(min(patience, CONNECT), was_sent=False)), way), was_sent=False)
    except OSError as error:
        return UnreachableError(told(error, way, is_connected=was_sent), was_sent=was_sent)
    except (HTTPException, ValueError) as error:  # the error's own text may quote a header
        why = f"what answers there is no HTTP: {type(error).__name__}"
        return UnreachableError(why if was_sent else before(why, way), was_sent=was_sent)
    finally:
        if asked is not None:
            asked.close()


def _body(answer: "HTTPResponse") -> bytes:
    """What it says; the status counts also when that breaks off."""
    from http.client import HTTPException, IncompleteRead  # noqa: PLC0415

    try:
        return answer.read(LARGEST)
    except IncompleteRead as error:
        return error.partial
    except (OSError, HTTPException, ValueError):
        return b""


def _late(patience: float, *, was_sent: bool) -> UnreachableError:
    return UnreachableError(f"no answer within {patience:g} s", was_sent=was_sent)
