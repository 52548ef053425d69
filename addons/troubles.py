"""Troubles: what stands in the way of renewing a login, and what the Router is told of it."""

import logging
from dataclasses import dataclass
from datetime import datetime, timedelta

from addons.accounts import Accounts
from addons.logins import Login
from routing.observations import RenewalFailed
from routing.outage import Storm
from routing.router import Router
from routing.words import AccountId

LONGEST = timedelta(hours=1)  # a rest that ends later was ordered before the clock was set back
AGAIN = timedelta(seconds=30)  # after a failure that names no time, as when the command could not run
MARGIN = timedelta(
    seconds=30
)  # for which requests stay away while renewing is tried again: a new login lets them in at once

logger = logging.getLogger(__name__)


@dataclass(slots=True, kw_only=True)
class Trouble:
    """One account's, for as long as it has this login.

    generation: when the login was saved: a newer one knows nothing of it. not_before: when renewing is tried again; has_ended:
    never. is_refused: whether the access token was refused, although it may not be over. told: what the Router was told last.
    """

    generation: int
    because: str = ""
    not_before: datetime | None = None
    has_ended: bool = False
    is_refused: bool = False
    told: tuple[str, datetime | None, bool] | None = None


class Troubles:
    """By account; and by provider, for when the renewals of several accounts fail at once."""

    def __init__(self, accounts: Accounts, router: Router) -> None:
        self._accounts = accounts
        self._router = router
        self._of: dict[AccountId, Trouble] = {}
        self._storms: dict[str, Storm] = {}

    def refused(self, account: AccountId) -> None:
        """The account's access token was refused."""
        self._current(account).is_refused = True

    def failed(self, account: AccountId, now: datetime, because: str, until: datetime | None = None) -> None:
        """Renewing failed; until: when it is worth another try."""
        trouble = self._current(account)
        trouble.because, trouble.not_before = because, until or now + AGAIN
        self.tell(account, now)

    def ended(self, account: AccountId, now: datetime, because: str) -> None:
        """Renewing is over: only a new login helps."""
        trouble = self._current(account)
        trouble.because, trouble.has_ended = because, True
        self.tell(account, now)

    def has_ended(self, account: AccountId) -> bool:
        """Whether the login that the account has now can be renewed no more."""
        return account in self._of and self._current(account).has_ended

    def feed(self, account: AccountId, now: datetime, *, ok: bool) -> None:
        """Note how a renewal went, and say when that begins a pause for all, or ends such a trouble."""
        provider = self._provider(account)
        before = self._storms.get(provider, Storm())
        storm = self._storms[provider] = before.fed(account, now, ok=ok)
        if ok and before.pauses:
            logger.info("flowpool: logins of %s can be renewed again", provider)
        elif storm.pauses and not before.pauses:
            logger.warning("flowpool: renewing logins of %s pauses, as several fail at once", provider)
        self.tell_all(now)

    def rests_until(self, account: AccountId, now: datetime, *, is_alone: bool) -> datetime | None:
        """Until when the account is not to be renewed; None when it may be. is_alone: whether no other is being renewed."""
        ends = [self._paused_until(account, now)]
        if account in self._of:
            ends.append(self._current(account).not_before)
        if not is_alone and self._storms.get(self._provider(account), Storm()).is_single(now):
            ends.append(now + AGAIN)
        return max((end for end in ends if end is not None and timedelta() < end - now <= LONGEST), default=None)

    def tell_all(self, now: datetime) -> None:
        """Keep requests away from accounts whose access token is over by now, for as long as nothing newer can come."""
        for account, login in self._accounts.logins.items():
            if account in self._of or (login.lifetime.is_refreshable and _is_over(login, now)):
                self.tell(account, now)

    def tell(self, account: AccountId, now: datetime, *, anew: bool = False) -> None:
        """Tell the Router, if that is news; an access token that still serves goes on serving.

        anew: also what it was told before: its hold may have been lifted since, and the token was refused again.
        """
        trouble = self._current(account)
        until = None if trouble.has_ended else self.rests_until(account, now, is_alone=True)
        if until is None and not trouble.has_ended:
            return
        until = until and until + MARGIN
        login = self._accounts.logins.get(account)
        bars = trouble.is_refused or (login is not None and _is_over(login, now))
        because = trouble.because or f"logins of {self._provider(account)} cannot be renewed just now"
        if anew or trouble.told != (because, until, bars):
            trouble.told = (because, until, bars)
            self._router.observe(RenewalFailed(account=account, at=now, because=because, until=until, bars=bars))

    def _current(self, account: AccountId) -> Trouble:
        """The trouble with the login that the account has now; a fresh one where there was none with it."""
        login = self._accounts.logins.get(account)
        generation = 0 if login is None else login.saved_at
        found = self._of.get(account)
        if found is None or found.generation != generation:
            found = self._of[account] = Trouble(generation=generation)
        return found

    def _paused_until(self, account: AccountId, now: datetime) -> datetime | None:
        storm = self._storms.get(self._provider(account))
        return None if storm is None else storm.paused_until(now)

    def _provider(self, account: AccountId) -> str:
        known = self._accounts.ever.get(account)
        return "" if known is None else known.provider


def _is_over(login: Login, now: datetime) -> bool:
    """Whether its access token has ended."""
    ends = login.lifetime.expires_at
    return ends is not None and ends <= now
