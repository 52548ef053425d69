"""Answers of our own, and upstream answers that we mend, as mitmproxy's responses."""

import json

from mitmproxy import http

from addons.decoding import TooMuchError, UndecodableError, decoder
from addons.exchange import Exchange
from providers.contract import Fields, Reply

SUCCESS = range(200, 300)
FRAMING = frozenset({b"content-length", b"transfer-encoding"})
READ_LIMIT = 4 * 1024 * 1024
"""A refused body that decodes to more than this is judged by its head alone."""


def response_of(reply: Reply) -> http.Response:
    """A whole response as the client gets it, framed by its length however the upstream framed it."""
    fields = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in reply.headers]
    response = http.Response.make(reply.status)
    response.data.headers = http.Headers(
        [*(field for field in fields if field[0].lower() not in FRAMING), (b"content-length", b"%d" % len(reply.body))]
    )
    response.data.content = reply.body
    return response


def own(exchange: Exchange | None, status: int, message: str, *, retry: bool) -> http.Response:
    """An answer of our own in the vendor's shape."""
    if exchange is not None and exchange.provider is not None:
        return response_of(exchange.provider.failed(status, message, retry=retry))
    kind = {404: "not_found_error", 400: "invalid_request_error"}.get(status, "api_error")
    body = json.dumps({"type": "error", "error": {"type": kind, "message": message}}).encode()
    headers = (("content-type", "application/json"), *(() if retry else (("x-should-retry", "false"),)))
    return response_of(Reply(status=status, headers=headers, body=body))


def refusal(exchange: Exchange, letter: str, status: int, message: str, *, retry: bool) -> http.Response:
    """An own answer of docs/verdicts.md to a request that never went out; the log tells the same reason as the client."""
    exchange.answer, exchange.because = letter, message
    return own(exchange, status, message, retry=retry)


def fields_of(response: http.Response) -> Fields:
    """A response's headers as text, in order."""
    return tuple((n.decode("latin-1"), v.decode("latin-1")) for n, v in response.headers.fields)


def decoded_body(response: http.Response) -> bytes:
    """The body as text to read; as it came when its encoding is a lie or unknown, nothing when it decodes to too much."""
    raw = response.raw_content or b""
    decode = decoder(response.headers.get("content-encoding", "").strip().lower(), READ_LIMIT)
    try:
        return raw if decode is None else decode(raw)
    except TooMuchError:
        return b""
    except UndecodableError:
        return raw


def is_whole_json(body: bytes) -> bool:
    """Whether the body is one whole JSON value.

    The standard library's parser takes what a text cut inside an emoji leaves, half a surrogate pair, which msgspec refuses.
    """
    try:
        json.loads(body)
    except RecursionError:  # too deep for us; that is no reason to withhold it
        return True
    except ValueError:
        return False
    return True


def stopping(exchange: Exchange) -> http.Response:
    """The answer to a request that cannot be served because the proxy is about to end: nothing of it is sent any more."""
    exchange.sent_at = None
    return refusal(
        exchange, "I", 503, "flowpool is about to end, and took the request no further; try again", retry=True
    )
