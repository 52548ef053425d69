"""What happens when nobody may serve: own answers A, B and C of docs/verdicts.md, asked in that order."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from routing.chains import SHORTEST, rest
from routing.decisions import Answer, Barred, GiveUp, Wait
from routing.gates import bar
from routing.holds import AccountHolds, Hold, barring
from routing.rules import Rules
from routing.trail import Attempt, Trail
from routing.verdicts import LOCKED_ROWS, RECOVERING_ROWS, RENEWED_ROW
from routing.words import Account, AccountId, Demand


@dataclass(frozen=True, slots=True, kw_only=True)
class Dead:
    """A moment at which no account may serve a demand, and all that bears on it.

    accounts: those of the demand's provider. holds: by account, ended ones included.
    """

    accounts: tuple[Account, ...]
    holds: Mapping[AccountId, AccountHolds]
    demand: Demand
    trail: Trail
    rules: Rules
    now: datetime

    @property
    def enabled(self) -> tuple[Account, ...]:
        """The accounts that the operator lets serve."""
        return tuple(account for account in self.accounts if account.enabled)

    def standing(self, account: Account) -> AccountHolds:
        """List the holds that bar the account now."""
        return barring(self.holds.get(account.id, ()), self.demand, self.now)

    def last_of(self, account: Account) -> Attempt | None:
        """Find the exchange's newest attempt on the account, waits for recovery disregarded."""
        return next((a for a in reversed(self.trail.attempts) if a.account == account.id), None)

    def passed_over(self) -> tuple[Barred, ...]:
        """Every account, and why it does not serve."""
        return tuple(self._passed_over(account) for account in self.accounts)

    def _passed_over(self, account: Account) -> Barred:
        barred = bar(account, self.demand, self.holds.get(account.id, ()), self.now)
        if barred is not None:
            return barred
        attempt = self.last_of(account)
        return Barred(account=account.id, because="not tried" if attempt is None else attempt.verdict.because)


def outcome(dead: Dead) -> Wait | GiveUp:
    """Find the wait or the answer that fits."""
    bar_of_first = _soonest(dead, (account for account in dead.enabled if _recovers_by_itself(dead, account)))
    if bar_of_first is not None:
        return _wait(dead, bar_of_first) or _limited(dead, bar_of_first)
    if not dead.enabled:
        return _give_up(dead, Answer.NONE_ENABLED, "no account is enabled")
    if all(_is_locked_out(dead, account) for account in dead.enabled):
        return _give_up(dead, Answer.LOCKED_OUT, "every login was refused")
    if any(not attempt.verdict.blames_credential for attempt in dead.trail.attempts):
        return _give_up(dead, Answer.RELAY_EARLIER, "nobody is left to ask")
    return _renewing(dead) or _limited(dead, _soonest(dead, dead.enabled))


def _recovers_by_itself(dead: Dead, account: Account) -> bool:
    """Whether the account is barred only by what ends: a limit, a throttle, a balance, a login being renewed."""
    standing = dead.standing(account)
    return bool(standing) and all(hold.row in RECOVERING_ROWS for hold in standing)


def _is_locked_out(dead: Dead, account: Account) -> bool:
    """Whether the account's login was refused, be it that the hold still stands or that this exchange met it."""
    if any(hold.row in LOCKED_ROWS for hold in dead.standing(account)):
        return True
    attempt = dead.last_of(account)
    return attempt is not None and attempt.verdict.as_row in LOCKED_ROWS


def _soonest(dead: Dead, accounts: Iterable[Account]) -> Hold | None:
    """Find the last hold of the account that recovers first."""
    last = [max(holds, key=_end) for holds in map(dead.standing, accounts) if holds]
    return min(last, key=_end, default=None)


def _end(hold: Hold) -> datetime:
    return hold.until


def _wait(dead: Dead, hold: Hold) -> Wait | None:
    """Pause until the hold ends, where the request may wait and its client is that patient.

    All pauses of one exchange share [wait] max, and each after the first has a least length that doubles: an account that
    refuses again right after its announced recovery is not asked without end.
    """
    until = hold.until
    if dead.trail.renewals:
        until = max(until, dead.now + rest(dead.trail.renewals))
    if not may_wait(until - dead.now, dead.demand, dead.trail, dead.rules, dead.now):
        return None
    return Wait(until=until, account=None, because=hold.because)


def may_wait(pause: timedelta, demand: Demand, trail: Trail, rules: Rules, now: datetime) -> bool:
    """Whether the exchange may pause for so long: within [wait] max, and within what its client said it would wait."""
    patience = demand.patience - timedelta(seconds=rules.wait.margin_s) - (now - trail.started_at)
    left = timedelta(seconds=rules.wait.max) - trail.recovery_waited
    return not demand.side and pause <= min(left, patience)


def _renewing(dead: Dead) -> GiveUp | None:
    """Say that a login is being renewed that this exchange did not wait for: no limit was met."""
    asked = ((account, dead.last_of(account)) for account in dead.enabled)
    for account, attempt in asked:
        if attempt is not None and attempt.verdict.row == RENEWED_ROW and not dead.standing(account):
            until = dead.now + max(timedelta(seconds=dead.rules.retry.renewal_s), SHORTEST)
            because = attempt.verdict.because
            recovers = Barred(account=account.id, because=because, row=RENEWED_ROW, until=until)
            return _give_up(dead, Answer.LIMITED, because, recovers)
    return None


def _limited(dead: Dead, hold: Hold | None) -> GiveUp:
    if hold is None:
        return _give_up(dead, Answer.LIMITED, "no account may serve")
    recovers = Barred(account=hold.account, because=hold.because, row=hold.row, until=hold.ends)
    return _give_up(dead, Answer.LIMITED, hold.because, recovers)


def _give_up(dead: Dead, answer: Answer, because: str, recovers: Barred | None = None) -> GiveUp:
    return GiveUp(answer=answer, because=because, recovers=recovers, barred=dead.passed_over())
