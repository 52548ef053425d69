"""A desk for the tests of measuring and priming: accounts, the fake upstream, and a clock that is told the time."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from addons.accounts import Accounts
from addons.measure import Measure
from credentials.credential import Credential, parse
from credentials.memory import MemoryStore
from home.settings import Settings
from home.state import reader
from home.state.state import State
from routing.observations import Answered, Dispatched, Restored
from routing.readings import Reading
from routing.router import Router
from routing.snapshot import AccountPicture
from routing.verdicts import Verdict
from routing.words import AccountId, Kind
from tests.addons import made
from tests.routing.made import EXCHANGE, OK, demand
from tests.upstream import Upstream, as_json, plant
from tests.upstream.answer import Answer
from tests.upstream.side import MESSAGES, USAGE

PATIENCE = 10.0
WORK, HOME = AccountId("work"), AccountId("home")


def login_of(token: str, *scopes: str) -> Credential:
    """A login of these scopes."""
    inner = {"accessToken": token, "scopes": list(scopes)}
    return parse("oauth", json.dumps({"claudeAiOauth": inner}))


class Desk:
    """The proxy's parts around some accounts. now: what the clock shows; it stands still until it is told otherwise."""

    def __init__(
        self, upstream: Upstream, *names: str, kind: Kind = Kind.OAUTH, scopes: tuple[str, ...] = ("user:profile",)
    ) -> None:
        self.now = datetime.now(UTC).replace(microsecond=0)
        self.upstream, self.router, self.woken = upstream, Router(Settings().rules), 0
        self.members = made.accounts(*(names or ("work",)), kind=kind)
        secrets: dict[AccountId, Credential] = {}
        for account in self.members.values():
            token = plant(account.name, kind.value)
            upstream.add(account.name, token)
            secrets[account.id] = login_of(token, *scopes) if kind is Kind.OAUTH else parse(kind.value, token)
        self._begin(secrets)

    def _begin(self, secrets: Mapping[AccountId, Credential]) -> None:
        self.accounts = Accounts(
            self.members.values(),
            secrets,
            router=self.router,
            path=Path("none"),
            store=MemoryStore(),
            wake=lambda: None,
        )
        self.measure = Measure(self.accounts, self.router, self.upstream.url, self._wake, clock=lambda: self.now)

    def _wake(self) -> None:
        self.woken += 1

    def pass_time(self, seconds: float) -> None:
        """Let so many seconds have passed."""
        self.now += timedelta(seconds=seconds)

    def restart(self, state: Path) -> None:
        """Let another proxy know what is on the disk, and nothing else."""
        ended = State(state)
        ended.put(self.router.remembered())
        assert ended.close(PATIENCE)
        self.router = Router(Settings().rules)
        self._begin(self.accounts.credentials)
        self.router.observe(Restored(remembered=reader.remembered(state), at=self.now))

    def renew(self, account: AccountId, *scopes: str) -> None:
        """Give an account another login."""
        token = plant(account)
        self.upstream.add(account, token)
        self.accounts.credentials.become({**self.accounts.credentials, account: login_of(token, *scopes)})

    def met(self, verdict: Verdict = OK, *readings: Reading, account: AccountId = WORK) -> None:
        """A client's request that was answered just now."""
        self.router.observe(Dispatched(exchange=EXCHANGE, account=account, demand=demand(), at=self.now))
        self.router.observe(
            Answered(
                exchange=EXCHANGE,
                account=account,
                demand=demand(),
                verdict=verdict,
                sent_at=self.now,
                at=self.now,
                readings=readings,
            )
        )

    def picture(self, account: AccountId = WORK) -> AccountPicture:
        """How an account stands."""
        return next(one for one in self.router.snapshot(self.now).accounts if one.account.id == account)

    def used(self, account: AccountId = WORK) -> dict[str, float | None]:
        """How full its windows are."""
        return {window.key: window.used for window in self.picture(account).windows}

    def asked(self, path: str = USAGE) -> list[str]:
        """Whose windows the upstream was asked for that way, in order."""
        return [one.account for one in self.upstream.requests if one.path == path]

    def models(self) -> list[str]:
        """Which models the least requests were of; no one had more in it than it must."""
        bodies = [one.json() for one in self.upstream.requests if one.path == MESSAGES]
        assert all(body.keys() == {"model", "max_tokens", "messages"} and body["max_tokens"] == 1 for body in bodies)
        return [body["model"] for body in bodies]


def unified(account_windows: dict[str, tuple[float, datetime]], status: int = 200) -> Answer:
    """An answer of one token, with what its headers say of windows."""
    prefix = "anthropic-ratelimit-unified-"
    fields: list[tuple[str, str]] = []
    for key, (used, resets_at) in account_windows.items():
        fields.append((f"{prefix}{key}-utilization", str(used)))
        fields.append((f"{prefix}{key}-reset", str(int(resets_at.timestamp()))))
        fields.append((f"{prefix}{key}-status", "allowed"))
    return as_json("least", {"type": "message"}, status=status, headers=tuple(fields))


def run(look: Callable[[], Any], times: int = 1) -> None:
    """Look so many times."""

    async def go() -> None:
        async with asyncio.timeout(PATIENCE):
            for _ in range(times):
                await look()

    asyncio.run(go())
