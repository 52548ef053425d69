"""Trouble that is no single account's: every login of a provider failing at once, and renewals that fail together."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from routing.holds import AccountHolds, Hold
from routing.memory import Memory
from routing.verdicts import AUTH_ROW, RENEWED_ROW
from routing.words import AccountId

TOGETHER = timedelta(seconds=60)  # failures of two accounts this near are one trouble
LASTING = timedelta(seconds=60)  # a renewal that fails or takes long is none until then: most go well the second time
SHORTEST, LONGEST = timedelta(minutes=5), timedelta(minutes=30)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outage:
    """No account of a provider can sign in.

    names: of all enabled accounts. since: when the last of them failed; None when that is not known.
    """

    names: tuple[str, ...]
    since: datetime | None


def outage(memory: Memory, provider: str, now: datetime) -> Outage | None:
    """Find whether the login of every enabled account fails; None when one serves, or there is none."""
    enabled = [account for account in memory.accounts.values() if account.enabled and account.provider == provider]
    failing = [_failing(memory.held.holds.get(account.id, ()), now) for account in enabled]
    if not enabled or not all(failing):
        return None
    begun = [min(known) for holds in failing if (known := [h.began_at for h in holds if h.began_at is not None])]
    return Outage(names=tuple(account.name for account in enabled), since=max(begun, default=None))


def _failing(holds: AccountHolds, now: datetime) -> tuple[Hold, ...]:
    """Select the holds of states auth_dead, broken, and error where that lasts."""
    return tuple(hold for hold in holds if not hold.is_over(now) and (hold.row == AUTH_ROW or _lasts(hold, now)))


def _lasts(hold: Hold, now: datetime) -> bool:
    return hold.row == RENEWED_ROW and hold.began_at is not None and now - hold.began_at >= LASTING


@dataclass(frozen=True, slots=True, kw_only=True)
class Storm:
    """One provider's renewals as they went; it changes by copying.

    account and failed_at: the latest failure since the last success. pauses: how many came since then; until: the end of the latest.
    """

    account: AccountId | None = None
    failed_at: datetime | None = None
    pauses: int = 0
    until: datetime | None = None

    def fed(self, account: AccountId, at: datetime, *, ok: bool) -> "Storm":
        """Take in how one renewal went. A failure during a pause began before it, and changes nothing."""
        if ok:
            return Storm()
        if self.paused_until(at) is not None:
            return self
        if self.pauses or self._is_met_by(account, at):
            return Storm(account=account, failed_at=at, pauses=self.pauses + 1, until=at + _pause(self.pauses))
        return Storm(account=account, failed_at=at)

    def paused_until(self, now: datetime) -> datetime | None:
        """Until when nothing is to be renewed; None when something may be. A clock that went back ends a pause."""
        if self.until is None or not timedelta() < self.until - now <= LONGEST:
            return None
        return self.until

    def is_single(self, now: datetime) -> bool:
        """Whether one renewal alone may be tried now: a pause is over, and nothing went well since."""
        return self.pauses > 0 and self.paused_until(now) is None

    def _is_met_by(self, account: AccountId, at: datetime) -> bool:
        return self.failed_at is not None and self.account != account and abs(at - self.failed_at) <= TOGETHER


def _pause(before: int) -> timedelta:
    doublings = min(before, 8)  # far beyond the longest, and no overflow
    return min(SHORTEST * (1 << doublings), LONGEST)
