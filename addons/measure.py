"""Measure: asks for an account's windows, by its provider's own account of use or by the least request, and tells the Router.

Off the event loop. The least request is sent once at a time for an account, for all who want it.
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from addons.accounts import Accounts
from addons.aside import aside
from addons.exchange import Ended
from credentials import web
from credentials.credential import Credential
from credentials.way import DIRECT, Way
from home.state.state import utc_now
from home.version import version
from providers.anthropic import checks, minimal, paths, usage
from providers.anthropic.usage import Finding, Said
from routing.observations import Measured
from routing.router import Router
from routing.words import AccountId, Kind

PATIENCE = 10.0  # seconds for a word on use
REQUEST_PATIENCE = 30.0  # seconds for one token
ACCEPTED = frozenset({Ended.COMPLETE.value, Ended.CUT.value})

type Ask = Callable[[Credential, datetime], Finding]


@dataclass(slots=True)
class Asked:
    """A request under way. is_prime: whether it is one for anybody who wants it."""

    task: asyncio.Task[Finding]
    is_prime: bool


class Measure:
    """Asks one upstream; wake: lets waiting requests choose again, after a hold was lifted.

    accounts, router, clock: shared by those who say when to ask.
    """

    def __init__(
        self,
        accounts: Accounts,
        router: Router,
        upstream: str,
        wake: Callable[[], None],
        *,
        way: Way = DIRECT,
        clock: Callable[[], datetime] = utc_now,
    ) -> None:
        self.accounts = accounts
        self.router = router
        self._upstream, self._way = upstream, way
        self._wake = wake
        self.clock = clock
        self._agent = f"flowpool/{version()}"
        self._model = minimal.MODEL
        self._asked: dict[AccountId, Asked] = {}

    def ended(self, line: Mapping[str, Any]) -> None:
        """Take the line of a request that ended: the model that served it may be asked."""
        model = line.get("model") or ""
        if line.get("ended") in ACCEPTED and line.get("path") == paths.MESSAGES and minimal.is_fit(model):
            self._model = model

    def stop(self) -> None:
        """Wait for nothing more."""
        for asked in self._asked.values():
            asked.task.cancel()

    async def by_usage(self, account: AccountId) -> Finding:
        """Ask the provider how full the account's windows are."""
        return await self._measured(account, self._usage)

    async def by_request(self, account: AccountId, *, is_prime: bool = False) -> tuple[Finding, bool]:
        """Send the least request, or wait for the one that is under way; whether anybody wanted it as a prime."""
        asked = self._asked.get(account)
        if asked is None:
            task = asyncio.create_task(self._measured(account, self._request), name="flowpool-measure")
            asked = self._asked[account] = Asked(task, is_prime)
            task.add_done_callback(lambda _: self._asked.pop(account, None))
        asked.is_prime = asked.is_prime or is_prime
        finding = await asyncio.shield(asked.task)
        return finding, asked.is_prime

    async def _measured(self, account: AccountId, ask: Ask) -> Finding:
        credential = self.accounts.credentials.get(account)
        if credential is None:
            return Finding(said=Said.NOTHING, detail="its secret is not at hand")
        sent_at = self.clock()
        finding = await aside(partial(ask, credential, sent_at))
        if self.accounts.credentials.get(account) != credential:  # it may be somebody else's by now
            return Finding(said=Said.NOTHING, detail="it has another credential by now")
        if finding.readings:
            before = self._held(account)
            self.router.observe(Measured(account=account, sent_at=sent_at, at=self.clock(), readings=finding.readings))
            if self._held(account) < before:
                self._wake()
        return finding

    def _held(self, account: AccountId) -> int:
        pictures = self.router.snapshot(self.clock()).accounts
        return sum(len(picture.holds) for picture in pictures if picture.account.id == account)

    def _usage(self, credential: Credential, sent_at: datetime) -> Finding:
        secret = credential.access.reveal()
        question = usage.question(self._upstream, secret, self._agent)
        return self._found(
            question, PATIENCE, secret, lambda a, now: usage.finding(a, secret, sent_at=sent_at, now=now)
        )

    def _request(self, credential: Credential, sent_at: datetime) -> Finding:
        secret = credential.access.reveal()
        question = minimal.question(self._upstream, Kind(credential.kind), secret, self._model, self._agent)
        return self._found(
            question, REQUEST_PATIENCE, secret, lambda a, now: minimal.finding(a, secret, sent_at=sent_at, now=now)
        )

    def _found(
        self,
        question: web.Question,
        patience: float,
        secret: str,
        read: Callable[[web.Answer, datetime], Finding],
    ) -> Finding:
        try:
            answer = web.ask(question, patience, self._way)
        except web.UnreachableError as error:
            return Finding(said=Said.NOTHING, detail=checks.told(str(error), secret))
        return read(answer, self.clock())
