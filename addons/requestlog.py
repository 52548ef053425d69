"""The request log: one canonical JSON line per request.

Lines are written a few at a time, just after: writing one costs as much as choosing an account and signing, and nobody needs to wait
for it.
"""

import asyncio
import json
import logging
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from typing import Any

from mitmproxy import http

from addons.exchange import CLIENT, EXCHANGES, Ended, Exchange, Path
from addons.guard import fail_closed
from addons.replies import SUCCESS
from routing.words import Account, AccountId

EVERY = 0.1
"""Seconds that a line may wait for others."""

logger = logging.getLogger("flowpool.requests")


class RequestLog:
    """Hands the line to every sink when the exchange is over, and writes it."""

    name = "flowpool_requestlog"

    def __init__(
        self,
        accounts: Mapping[AccountId, Account],
        *sinks: Callable[[dict[str, Any]], None],
        tell: Iterable[Callable[[dict[str, Any], Exchange], None]] = (),
    ) -> None:
        """tell: those who take the line and what else is known of the exchange."""
        self._accounts = accounts
        self._sinks = sinks
        self._tell = tuple(tell)
        self._waiting: list[dict[str, Any]] = []
        self._loop: asyncio.AbstractEventLoop | None = None

    def running(self) -> None:
        """From now on lines may wait."""
        self._loop = asyncio.get_running_loop()

    @fail_closed
    def response(self, flow: http.HTTPFlow) -> None:
        """The client has its answer."""
        self._write(flow)

    @fail_closed
    def error(self, flow: http.HTTPFlow) -> None:
        """The exchange ended without one."""
        self._write(flow)

    def _write(self, flow: http.HTTPFlow) -> None:
        exchange = EXCHANGES.get(flow)
        if exchange is None or exchange.is_logged or (exchange.path is Path.LOCAL and exchange.answer is None):
            return
        exchange.is_logged = True
        line = self.line(flow, exchange)
        for sink in self._sinks:
            sink(line)
        for tell in self._tell:
            tell(line, exchange)
        self._waiting.append(line)
        if self._loop is None:
            self.write()
        elif len(self._waiting) == 1:
            self._loop.call_later(EVERY, self.write)

    def write(self) -> None:
        """Write the lines that wait."""
        waiting, self._waiting = self._waiting, []
        for line in waiting:
            logger.info("%s", json.dumps(line, separators=(",", ":")))

    def done(self) -> None:
        """Write the last lines."""
        self.write()

    def line(self, flow: http.HTTPFlow, exchange: Exchange) -> dict[str, Any]:
        """The request as a document; times in milliseconds, nothing of what was said."""
        demand = exchange.demand
        return {
            "at": exchange.began_at.isoformat(timespec="milliseconds"),
            "id": exchange.id,
            "conversation": demand.conversation if demand else None,
            "model": demand.model if demand else None,
            "path": flow.request.path.partition("?")[0],
            "account": self._name(exchange.served),
            "because": _because(exchange),
            "tried": [
                {
                    "account": self._name(attempt.account),
                    "status": attempt.status,
                    "row": attempt.verdict.row,
                    "verdict": attempt.verdict.kind.value,
                }
                for attempt in exchange.trail.attempts
            ],
            "status": flow.response.status_code if flow.response else None,
            "first_byte_ms": _milliseconds(exchange.began, exchange.first_byte),
            "total_ms": _milliseconds(exchange.began, time.monotonic()),
            "usage": asdict(exchange.usage) if exchange.usage else None,
            "answer": exchange.answer,
            "ended": ended(flow, exchange).value,
        }

    def _name(self, account: AccountId | None) -> str | None:
        if account is None or account == CLIENT:
            return account
        known = self._accounts.get(account)
        return known.name if known else account


def ended(flow: http.HTTPFlow, exchange: Exchange) -> Ended:
    """How the exchange ended."""
    if exchange.client_left:
        return Ended.CLIENT_LEFT
    if exchange.path is Path.PASSED:
        return Ended.PASSED
    if flow.response is None or flow.response.status_code not in SUCCESS or exchange.is_told:
        return Ended.REFUSED
    return Ended.COMPLETE if exchange.is_complete else Ended.CUT


def _because(exchange: Exchange) -> str:
    """Why the last choice was made, and how often the client was told that its request waits."""
    if not exchange.beats:
        return exchange.because
    return f"{exchange.because}; {exchange.beats} heartbeat{'' if exchange.beats == 1 else 's'} while it waited"


def _milliseconds(start: float, end: float | None) -> float | None:
    return None if end is None else round((end - start) * 1000, 1)
