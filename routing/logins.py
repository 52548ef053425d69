"""What is known of accounts' logins besides their holds: refusals in a row, checks, lifetimes, renewals that failed."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from routing.health import NEVER_CHECKED, Check
from routing.holds import AccountHolds, Cure, Ladder, climbed
from routing.lifetimes import Lifetime
from routing.observations import RenewalFailed
from routing.verdicts import AUTH_ROW
from routing.words import Account, AccountId


@dataclass(slots=True)
class Logins:
    """By account. unrenewed: the latest renewal, where it failed and the access token serves all the same."""

    ladders: dict[AccountId, Ladder] = field(default_factory=dict)
    checks: dict[AccountId, Check] = field(default_factory=dict)
    lifetimes: dict[AccountId, Lifetime] = field(default_factory=dict)
    unrenewed: dict[AccountId, RenewalFailed] = field(default_factory=dict)

    def check(self, account: AccountId) -> Check:
        """What is known for sure of the account's credential."""
        return self.checks.get(account, NEVER_CHECKED)

    def refused(self, account: AccountId, sent_at: datetime, at: datetime) -> Ladder | None:
        """Count a refusal for sure; None when it is no new one: it was asked for before the last one was known."""
        ladder = climbed(self.ladders.get(account), sent_at, at)
        if ladder is not None:
            self.ladders[account] = ladder
            self.checks[account] = self.check(account).refused(at)
        return ladder

    def accepted(self, account: AccountId, sent_at: datetime, at: datetime, *, is_certain: bool = False) -> None:
        """Begin to count anew, unless a refusal was met since it was asked for."""
        ladder = self.ladders.get(account)
        if ladder is None or sent_at > ladder.set_at:
            self.ladders.pop(account, None)
            self.checks[account] = self.check(account).accepted(at, is_certain=is_certain)

    def undecided(self, account: AccountId, at: datetime) -> None:
        """Put off the next look by as much as the last."""
        if account in self.checks:
            self.checks[account] = self.checks[account].delayed(at)

    def forgive(self, account: AccountId) -> None:
        """Forget the refusals."""
        self.ladders.pop(account, None)
        if account in self.checks:
            self.checks[account] = self.checks[account].unscheduled()

    def renew(self, account: AccountId) -> None:
        """Forget what the credential before was refused for."""
        self.forgive(account)
        self.unrenewed.pop(account, None)

    def restore(
        self,
        ladders: Mapping[AccountId, Ladder],
        checks: Mapping[AccountId, Check],
        lifetimes: Mapping[AccountId, Lifetime],
    ) -> None:
        """Take in what was known before; what was learned since stays."""
        self.ladders = {**ladders, **self.ladders}
        self.checks = {**checks, **self.checks}
        self.lifetimes = {**lifetimes, **self.lifetimes}

    def drop(self, account: AccountId) -> None:
        """Forget an account that was removed."""
        for known in (self.ladders, self.checks, self.lifetimes, self.unrenewed):
            known.pop(account, None)

    def to_check(
        self, accounts: Mapping[AccountId, Account], holds: Mapping[AccountId, AccountHolds], now: datetime
    ) -> tuple[AccountId, ...]:
        """List the enabled accounts that were refused for sure and are to be looked at now; not where a check mends nothing."""
        return tuple(i for i, account in accounts.items() if account.enabled and self._is_due(i, holds.get(i, ()), now))

    def _is_due(self, account: AccountId, holds: AccountHolds, now: datetime) -> bool:
        standing = [hold for hold in holds if hold.row == AUTH_ROW and not hold.is_over(now)]
        if not standing or any(hold.cure is not Cure.ANSWER for hold in standing):
            return False
        return self.check(account).is_due(max(hold.set_at for hold in standing), now)
