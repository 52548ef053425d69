"""A pool for one test: the fake upstream, the proxy in front of it, and what a test asks of both."""

from __future__ import annotations

import json
import ssl
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from credentials.credential import parse
from tests.e2e.client import PATIENCE, Client, Reply
from tests.e2e.harness import Member, Proxy, Settings
from tests.upstream import Received, Upstream, plant
from tests.upstream.asks import Request, turn

CLIENT = "client"
BLOCK = b"event: content_block_start"

type Holds = dict[str, list[tuple[str, int, Any]]]


def about(seconds: float, slack: float | None = None) -> Any:
    """So many seconds, give or take what a test lasts on a busy machine and what whole seconds round away."""
    return pytest.approx(seconds, abs=min(max(6.0, seconds / 100), 60.0) if slack is None else slack)


def token(member: Member) -> str:
    """What the account shows upstream."""
    return parse(member.kind, member.secret).access.reveal()


def ranked(*names: str) -> tuple[Member, ...]:
    """Accounts that are asked in this order."""
    return tuple(Member(name=name, secret=plant(name), rank=at) for at, name in enumerate(names, 1))


@dataclass
class Pool:
    """The upstream knows every account's token, and the client's own as the account "client"."""

    upstream: Upstream
    proxy: Proxy
    token: str = field(repr=False)

    def turn(self, **kwargs: Any) -> Request:
        """One model turn with the client's own credential."""
        return turn(self.token, **kwargs)

    def client(self) -> Client:
        """A new connection to the proxy."""
        return Client(self.proxy.url)

    def ask(self, request: Request, timeout: float = PATIENCE) -> Reply:
        """The whole answer to one request on a connection of its own."""
        with self.client() as client:
            return client.ask(request, timeout)

    def saw(self, request: Request, *accounts: str) -> list[Received]:
        """Fail unless the upstream got exactly these accounts' requests, each the one given, to the byte."""
        received = list(self.upstream.requests)
        assert [one.account for one in received] == list(accounts)
        for one in received:
            self.check(one, request)
        return received

    def check(self, one: Received, request: Request) -> None:
        """Fail unless what came is what was sent, on its account's credential and no other."""
        assert one.whole
        assert (one.method, one.path, one.body) == (request.method, request.path, request.body)
        values = [value for _, value in one.headers]
        if one.account != CLIENT:
            assert not any(self.token in value for value in values)
            secret = token(self.proxy.members[one.account])
            assert sum(secret in value for value in values) == 1

    def holds(self) -> Holds:
        """Scope, row and remaining seconds of the holds of every account that has some."""
        now = datetime.now(UTC)
        found: Holds = {}
        for account in self.proxy.status()["accounts"]:
            for hold in account["holds"]:
                left = (datetime.fromisoformat(hold["until"]) - now).total_seconds()
                found.setdefault(account["name"], []).append((hold["scope"], hold["row"], left))
        return found

    def in_flight(self) -> int:
        """How many requests the accounts are charged with now."""
        return sum(account["in_flight"] for account in self.proxy.status()["accounts"])

    def logged(self) -> dict[str, Any]:
        """The first request's line in the log."""
        line: dict[str, Any] = json.loads(self.proxy.wait_log(r'\{"at":.*\}'))
        return line

    def settle(self) -> None:
        """Return once nothing is in flight any more; fails when that does not come about."""
        end = time.monotonic() + PATIENCE
        while count := self.in_flight():
            assert time.monotonic() < end, f"{count} requests are still in flight"

    def end(self) -> None:
        """Fail when the test left something that nobody asked for, or the fake itself broke."""
        assert self.upstream.faults == []
        assert self.upstream.left() == {}
        self.settle()


@contextmanager
def open_pool(
    folder: Path,
    members: Sequence[Member],
    *,
    settings: Settings | None = None,
    args: Sequence[str] = (),
    tls: ssl.SSLContext | None = None,
    **kwargs: Any,
) -> Iterator[Pool]:
    """Start an upstream and a proxy, and stop them; the test fails when the proxy's log shows that something broke.

    args: UPSTREAM in them stands for the upstream's address. tls: what the upstream speaks TLS with.
    """
    client = plant(CLIENT)
    with Upstream({member.name: token(member) for member in members} | {CLIENT: client}, tls=tls) as upstream:
        given = [arg.replace("UPSTREAM", upstream.url) for arg in args]
        proxy = Proxy(folder, upstream, members, settings=settings, args=given, told_mode=True, **kwargs)
        with proxy:
            pool = Pool(upstream, proxy, client)
            yield pool
            pool.end()
