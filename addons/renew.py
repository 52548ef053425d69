"""Renew: has logins renewed before they end, and when an answer says that one has ended.

The command `flowpool refresh` does it, in a process of its own: a proxy that is killed meanwhile loses nothing, and holds no refresh
token. Here is only when: once for all who wait for it, not while it is known to be in vain, and not in the middle of an outage.
"""

import asyncio
import logging
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path

from addons.accounts import Accounts
from addons.aside import aside
from addons.rounds import Rounds
from addons.troubles import Troubles
from credentials.renewer import ADOPTED, CURRENT, DEAD, FAILED, GONE, NONE, RENEWED, WAITING, Outcome, command, run
from credentials.secret import Secret
from credentials.store import Store
from home import accounts as book
from home.errors import HomeError
from home.keeping import keep
from home.state.state import utc_now
from routing.observations import RenewalFailed
from routing.relogin import Renewal
from routing.router import Router
from routing.words import AccountId

EVERY = 1.0  # seconds between two looks for who is due
NEWER = frozenset({RENEWED, CURRENT, ADOPTED})  # outcomes after which the store has a newer pair
OTHER = frozenset({NONE, GONE})  # the files say something else by now

logger = logging.getLogger(__name__)


type Command = Callable[[AccountId, bool], Outcome]


class Renew:
    """Runs at most one renewal per account; whoever else asks waits for the same one.

    renew: renews one account (True: only if it is still due) and blocks until that is done. wake: lets waiting requests look again.
    """

    name = "flowpool_renew"

    def __init__(
        self,
        accounts: Accounts,
        router: Router,
        renew: Command,
        wake: Callable[[], None],
        *,
        every: float = EVERY,
        clock: Callable[[], datetime] = utc_now,
    ) -> None:
        self._accounts = accounts
        self._router = router
        self._command = renew
        self._wake = wake
        self._clock = clock
        self._troubles = Troubles(accounts, router)
        self._tasks: dict[AccountId, asyncio.Task[None]] = {}
        self._turn = asyncio.Lock()
        self._rounds = Rounds("renew", self.look, every)

    def running(self) -> None:
        """Begin to look."""
        self._rounds.start()

    def rest(self) -> None:
        """Look no more; who asks is served."""
        self._rounds.stop()

    def done(self) -> None:
        """Look no more; a command that runs goes on by itself."""
        self._rounds.stop()
        for task in self._tasks.values():
            task.cancel()

    def is_outdated(self, account: AccountId, sent: Secret | None) -> bool:
        """Whether the account has another access token than the one that was sent."""
        current = self._accounts.credentials.get(account)
        return current is not None and sent is not None and current.access != sent

    def is_running(self, account: AccountId) -> bool:
        """Whether the account is being renewed now; one that was disabled or removed meanwhile is waited for by nobody."""
        return account in self._tasks and account in self._accounts.credentials

    def ask(self, account: AccountId) -> Renewal | None:
        """Have the account renewed, for its access token was refused; None: it is on its way, and wake will be called."""
        login = self._accounts.logins.get(account)
        if login is None or not login.lifetime.is_refreshable:
            return Renewal.NONE
        now = self._clock()
        self._troubles.refused(account)
        is_ended = self._troubles.has_ended(account)
        if not is_ended and (account in self._tasks or self._may_start(account, now)):
            self._start(account, is_due=False)
            return None
        self._troubles.tell(account, now, anew=True)
        return Renewal.NONE if is_ended else Renewal.FAILED

    def late(self, account: AccountId, patience: float) -> None:
        """Leave the account alone for a while: its renewal takes longer than a request may wait."""
        now = self._clock()
        until, because = now + timedelta(seconds=patience), "its login is being renewed, which takes long"
        self._router.observe(RenewalFailed(account=account, at=now, because=because, until=until, bars=True))

    async def look(self) -> None:
        """Renew the login that is due first, if one is."""
        now = self._clock()
        self._troubles.tell_all(now)
        account = self._due(now)
        if account is not None:
            await self._start(account, is_due=True)

    def _due(self, now: datetime) -> AccountId | None:
        """Whose login is to be renewed first; disabled accounts stay alive too."""
        due = [
            (login.due_at, account)
            for account, login in self._accounts.logins.items()
            if login.due_at is not None
            and login.due_at <= now
            and not self._troubles.has_ended(account)
            and account not in self._tasks
            and self._may_start(account, now)
        ]
        return min(due)[1] if due else None

    def _may_start(self, account: AccountId, now: datetime) -> bool:
        return self._troubles.rests_until(account, now, is_alone=not self._tasks) is None

    def _start(self, account: AccountId, *, is_due: bool) -> asyncio.Task[None]:
        if account not in self._tasks:
            self._tasks[account] = asyncio.create_task(self._renew(account, is_due), name="flowpool-renewal")
        return self._tasks[account]

    async def _renew(self, account: AccountId, is_due: bool) -> None:
        before = self._generation(account)
        try:
            outcome = await self._run_command(account, before, is_due=is_due)
            await self._take(account, before, outcome)
        finally:
            self._tasks.pop(account, None)
            self._wake()

    async def _run_command(self, account: AccountId, before: int | None, *, is_due: bool) -> Outcome:
        async with self._turn:  # one command at a time: they would wait for each other's claim, each with its memory
            if not is_due:
                await self._accounts.reload()  # another process may have renewed it without telling
                if self._generation(account) != before:
                    return Outcome(CURRENT)
            return await self._ran(account, is_due=is_due)

    async def _ran(self, account: AccountId, *, is_due: bool) -> Outcome:
        try:
            return await aside(partial(self._command, account, is_due))
        except HomeError as error:
            return Outcome(FAILED, str(error))
        except Exception as error:
            logger.exception("flowpool: the command that renews logins failed")
            return Outcome(FAILED, f"the command failed with {type(error).__name__}")

    async def _take(self, account: AccountId, before: int | None, outcome: Outcome) -> None:
        now, name = self._clock(), self._name(account)
        if outcome.name in NEWER | OTHER:
            await self._accounts.reload()
            is_new = self._generation(account) != before
            if outcome.name in NEWER:
                self._troubles.feed(account, now, ok=True)
                logger.info(
                    "flowpool: the login of %s was renewed%s", name, "" if is_new else ", and cannot be read yet"
                )
            if not is_new:
                self._troubles.failed(account, now, "its new login cannot be read yet")
        elif outcome.name == DEAD:
            said = f"its login has ended: {outcome.because}"
            logger.warning("flowpool: %s: %s; run: flowpool login %s", name, said, name)
            self._troubles.ended(account, now, said)
            if not outcome.is_known:  # what ended long ago is no sign of trouble now
                self._troubles.feed(account, now, ok=False)
        else:
            if outcome.name != WAITING:
                self._troubles.feed(account, now, ok=False)
                logger.warning("flowpool: the login of %s was not renewed: %s", name, outcome.because)
            self._troubles.failed(account, now, f"its login could not be renewed: {outcome.because}", outcome.retry_at)

    def _generation(self, account: AccountId) -> int | None:
        """When the login that the account has now was saved; None when it has none."""
        login = self._accounts.logins.get(account)
        return None if login is None else login.saved_at

    def _name(self, account: AccountId) -> str:
        known = self._accounts.ever.get(account)
        return account if known is None else known.name


def renewal_command(path: Path, store: Store) -> Command:
    """What renews an account by `flowpool refresh`; path: of accounts.toml."""

    def renew(account: AccountId, is_due: bool) -> Outcome:
        known = next((one for one in book.load(path) if one.id == account), None)
        if known is None:
            return Outcome(GONE)
        return run(command(account, is_due_only=is_due), partial(keep, path, store, known))

    return renew
