"""Heartbeat: what a client that asked for a stream gets while its request waits, so that it stays patient.

It gets the head of a stream and then a comment now and again, before it is known who will answer. From then on nothing but that
stream can be said: what the upstream's head would have told is lost, and a refusal is an error event. Only our own `request-id` is
in the head: `flowpool why` takes it.
"""

import json
from datetime import timedelta

from mitmproxy import http

from addons.exchange import Exchange
from addons.replies import decoded_body
from providers.contract import Provider

BEAT = b": waiting\n\n"
"""A comment: readers of event streams pass it over, and what watches the connection sees bytes. Fact: docs/facts/claude-code.md."""
PREFIX = "flowpool-"
"""Of the request-id in the head: it is none of the vendor's."""
PATIENT = timedelta(days=366)
"""How long a client waits that is told so: longer than [wait] max can be."""
SHORTEST = 0.1  # seconds: comments that come faster keep nobody more patient, and cost the processor
LEAST_REFUSAL = 400
OLD = "HTTP/1.0"
"""Clients of this version know no streams of unknown length on a connection that stays open."""


def interval(exchange: Exchange, request: http.Request) -> float | None:
    """How often, in seconds, the request's client is told that it waits; None: never.

    The first time comes before the client's own patience ends.
    """
    every, demand = exchange.rules.wait.heartbeat, exchange.demand
    if not every or demand is None or not demand.streams or demand.side or request.http_version == OLD:
        return None
    return max(SHORTEST, min(every, demand.patience.total_seconds() / 2))


def head(exchange: Exchange, request: http.Request) -> http.Response:
    """The head that the client gets before anybody has answered; its stream goes on for as long as it takes."""
    fields = {
        "content-type": "text/event-stream; charset=utf-8",
        "cache-control": "no-store",
        "request-id": f"{PREFIX}{exchange.id}",
    }
    if not (request.is_http2 or request.is_http3):
        fields["transfer-encoding"] = "chunked"
    made = http.Response.make(200, headers=fields)
    made.headers.pop("content-length", None)  # mitmproxy adds one
    made.http_version = request.http_version
    return made


def told(response: http.Response, provider: Provider) -> bytes:
    """A whole answer as the event that ends a stream: an error's own type and message; any other cannot be told in one."""
    body = decoded_body(response)
    said = f"the provider answered {response.status_code} {response.reason or ''}".rstrip()
    if response.status_code < LEAST_REFUSAL:
        return provider.error_event(
            f"{said} without a stream, and the client of a request that waited can take nothing else"
        )
    if not _is_error(body):
        body = provider.failed(response.status_code, said, retry=True).body
    lines = b"".join(b"data: %b\n" % line for line in body.splitlines())
    return b"event: error\n" + lines + b"\n"


def _is_error(body: bytes) -> bool:
    """Whether the body is an error in the vendor's shape."""
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return False
    return isinstance(found, dict) and found.get("type") == "error" and isinstance(found.get("error"), dict)
