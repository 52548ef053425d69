"""Recheck: asks the provider, ever more seldom, whether it takes again the credential of an account that it refused."""

import logging
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial

from addons.accounts import Accounts
from addons.aside import aside
from addons.rounds import Rounds
from credentials import web
from credentials.credential import Credential
from credentials.way import DIRECT, Way
from home.version import version
from providers.anthropic import checks
from routing.health import Standing
from routing.observations import Checked
from routing.router import Router
from routing.words import AccountId, Kind

EVERY = 1.0  # seconds between two looks for who is to be asked
PATIENCE = 10.0  # seconds for one question

logger = logging.getLogger(__name__)


class Recheck:
    """One question at a time; upstream: as config.toml has it."""

    name = "flowpool_recheck"

    def __init__(
        self,
        accounts: Accounts,
        router: Router,
        upstream: str,
        wake: Callable[[], None],
        *,
        way: Way = DIRECT,
        every: float = EVERY,
    ) -> None:
        self._accounts = accounts
        self._router = router
        self._upstream, self._way = upstream, way
        self._wake = wake
        self._rounds = Rounds("recheck", self.look, every)

    def running(self) -> None:
        """Begin to look."""
        self._rounds.start()

    def done(self) -> None:
        """Look no more."""
        self._rounds.stop()

    async def look(self) -> None:
        """Ask about everybody whose time has come."""
        for account in self._router.to_check(datetime.now(UTC)):
            await self._check(account)

    async def _check(self, account: AccountId) -> None:
        credential = self._accounts.credentials.get(account)
        if credential is None:
            return
        asked_at = datetime.now(UTC)
        found = await aside(partial(asked, self._upstream, credential, self._way))
        if self._accounts.credentials.get(account) != credential:  # a newer one came meanwhile
            return
        self._router.observe(Checked(account=account, standing=found.standing, at=asked_at, because=found.detail))
        if found.standing is Standing.VALID:
            logger.info("flowpool: %s accepts %s again", self._upstream, self._accounts.ever[account].name)
            self._wake()


def asked(upstream: str, credential: Credential, way: Way = DIRECT) -> checks.Finding:
    """What the upstream says of a credential; nobody there says nothing of it."""
    secret = credential.access.reveal()
    question = checks.question(upstream + checks.PATH, Kind(credential.kind), secret, f"flowpool/{version()}")
    try:
        return checks.finding(web.ask(question, PATIENCE, way), secret)
    except web.UnreachableError as error:
        return checks.Finding(standing=Standing.UNKNOWN, detail=checks.told(str(error), secret))
