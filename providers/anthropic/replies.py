"""Answers of our own in the vendor's shape, and what is mended in an answer that is relayed."""

from collections.abc import Callable, Mapping
from http import HTTPStatus

from providers import media, times
from providers.anthropic.errors import fault_body, type_of
from providers.anthropic.headers import UNIFIED
from providers.contract import Answer, Fields, Reply
from routing.verdicts import Verdict

# As docs/facts/claude-code.md#retries says: a longer retry-after ends the client's turn at once.
MOST_RETRY_AFTER = 60
_CAPPED_ROWS = frozenset({14, 15, 21, 22})
_THROTTLE_ROW, _SERVER_ROW = 14, 22
# As docs/facts/claude-code.md#limits says: any one of these ends the client's turn.
_ENDS_TURN = frozenset(UNIFIED + name for name in ("representative-claim", "overage-status", "overage-disabled-reason"))
_OF_THE_OLD_BODY = frozenset({"content-encoding", "content-length", "content-type", "transfer-encoding"})


def failed(status: int, message: str, *, retry: bool) -> Reply:
    """A vendor-shaped error of our own."""
    fields: Fields = () if retry else (("x-should-retry", "false"),)
    return own(status, message, fields)


def own(status: int, message: str, fields: Fields = ()) -> Reply:
    """An error of our own with further fields."""
    body = fault_body(type_of(status), message)
    return Reply(status=status, headers=(*_described(body), *fields), body=body)


def error_event(message: str) -> bytes:
    """The event that ends a broken stream: of this type, the client tries again."""
    return b"event: error\ndata: " + fault_body("overloaded_error", message) + b"\n\n"


def relayed(answer: Answer, fields: Fields, body: bytes, verdict: Verdict) -> Reply:
    """The answer as the client may see it: fields and body as they came but for what the row mends."""
    if verdict.row in _CAPPED_ROWS:
        fields = _mapped(fields, "retry-after", lambda value: _capped(value, answer.headers))
    if verdict.row == _THROTTLE_ROW:
        fields = _without(fields, _ENDS_TURN)
    if verdict.row == _SERVER_ROW and media.is_html(answer.headers, answer.body):
        body = fault_body(type_of(answer.status), f"the service answered {_phrase(answer.status)} with a web page")
        fields = (*_without(fields, _OF_THE_OLD_BODY), *_described(body))
    return Reply(status=answer.status, headers=fields, body=body)


def _described(body: bytes) -> Fields:
    return (("content-type", "application/json"), ("content-length", str(len(body))))


def _phrase(status: int) -> str:
    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        return str(status)


def _mapped(fields: Fields, wanted: str, change: Callable[[str], str]) -> Fields:
    return tuple((name, change(value) if name.lower() == wanted else value) for name, value in fields)


def _without(fields: Fields, names: frozenset[str]) -> Fields:
    return tuple((name, value) for name, value in fields if name.lower() not in names)


def _capped(value: str, headers: Mapping[str, str]) -> str:
    """A retry-after of a minute at most: what is not known to be shorter becomes a minute."""
    seconds = times.number(value)
    if seconds is not None:
        return value if seconds <= MOST_RETRY_AFTER else str(MOST_RETRY_AFTER)
    sent, until = times.http_date(headers.get("date", "")), times.http_date(value)
    if sent is None or until is None:
        return str(MOST_RETRY_AFTER)
    return str(max(0, min(MOST_RETRY_AFTER, int((until - sent).total_seconds()))))
