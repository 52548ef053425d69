"""Fail closed: mitmproxy logs a hook that raised and forwards the request all the same, so ours answer 502 instead."""

import functools
import inspect
import json
import logging
from collections.abc import Awaitable, Callable
from typing import Any

from mitmproxy import http

from addons.exchange import EXCHANGES, Relay

logger = logging.getLogger(__name__)

type Hook = Callable[[Any, http.HTTPFlow], Awaitable[None] | None]


def fail_closed[H: Hook](hook: H) -> H:
    """Make an exception in a flow's hook an answer of our own; nothing is sent upstream any more."""
    if inspect.iscoroutinefunction(hook):

        @functools.wraps(hook)
        async def guarded_async(self: object, flow: http.HTTPFlow) -> None:
            try:
                await hook(self, flow)
            except Exception:
                _close(flow, hook)

        return guarded_async  # type: ignore[return-value]

    @functools.wraps(hook)
    def guarded(self: object, flow: http.HTTPFlow) -> None:
        try:
            hook(self, flow)
        except Exception:
            _close(flow, hook)

    return guarded  # type: ignore[return-value]


def _close(flow: http.HTTPFlow, hook: Hook) -> None:
    logger.exception("flowpool: a fault in %s; the request is answered 502", hook.__qualname__)
    exchange = EXCHANGES.get(flow)
    if exchange is not None:
        exchange.faulty = True
        exchange.step = Relay()
    flow.response = fault_response()


def fault_response() -> http.Response:
    """The answer to a request that met a fault of ours."""
    error = {"type": "api_error", "message": "flowpool met a fault of its own; see its log"}
    body = json.dumps({"type": "error", "error": error}).encode()
    return http.Response.make(502, body, {"content-type": "application/json"})
