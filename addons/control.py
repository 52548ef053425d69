"""Control: everything under /_flowpool/ is answered here and never forwarded."""

import hmac
import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from mitmproxy import http

from addons.exchange import EXCHANGES, Exchange, Path
from addons.guard import fail_closed
from addons.replies import own, response_of
from credentials.secret import Secret
from providers.contract import Reply

HEALTH = "/_flowpool/health"
STATUS = "/_flowpool/status"


class Control:
    """Answers the command line and whoever looks after the proxy."""

    name = "flowpool_control"

    def __init__(self, key: Secret, status: Callable[[datetime], dict[str, Any]]) -> None:
        self._key = key
        self._status = status

    @fail_closed
    def request(self, flow: http.HTTPFlow) -> None:
        """Answer a request for one of our own paths."""
        exchange = EXCHANGES.get(flow)
        if exchange is None or exchange.path is not Path.LOCAL or flow.response is not None:
            return
        path = flow.request.path.partition("?")[0]
        if flow.request.method not in {"GET", "HEAD"}:
            flow.response = self._unknown(exchange)
        elif path == HEALTH:
            flow.response = _json({"status": "ok"})
        elif not hmac.compare_digest(exchange.key.encode("utf-8", "surrogateescape"), self._key.reveal().encode()):
            exchange.answer = "E"
            message = "the header x-flowpool-key is missing or wrong: its value is in control.key in flowpool's folder"
            flow.response = own(exchange, 400, message, retry=False)
        elif path == STATUS:
            flow.response = _json(self._status(datetime.now(UTC)))
        else:
            flow.response = self._unknown(exchange)

    def _unknown(self, exchange: Exchange) -> http.Response:
        exchange.answer = "F"
        return own(exchange, 404, "flowpool has nothing under this path", retry=False)


def _json(document: dict[str, Any]) -> http.Response:
    headers = (("content-type", "application/json"), ("cache-control", "no-store"))
    return response_of(Reply(status=200, headers=headers, body=json.dumps(document).encode()))
