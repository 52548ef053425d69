"""Re-validation: when nobody may serve, one live request a minute may ask an account whose hold may be out of date.

Such a hold was restored at the start, or set a good while ago; what it rests on may have been reset by hand since. Holds that only
a person ends (spend limits, refused logins, empty balances), and those that a renewed login ends, are never tried so.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta

from routing.holds import AccountHolds, Hold, barring
from routing.verdicts import AUTH_ROW, BALANCE_ROW, RENEWED_ROW, SPEND_ROW
from routing.words import Account, AccountId, Demand

OLD = timedelta(minutes=10)  # a hold set less long ago is believed
NEVER = frozenset({SPEND_ROW, RENEWED_ROW, AUTH_ROW, BALANCE_ROW})


def candidate(
    accounts: Iterable[Account], holds: Mapping[AccountId, AccountHolds], demand: Demand, now: datetime
) -> AccountId | None:
    """The account to ask: of those barred only by holds worth a test, the one that is free soonest."""
    worth = [
        (max(hold.until for hold in standing), account.id)
        for account in accounts
        if account.enabled and account.provider == demand.provider
        for standing in (barring(holds.get(account.id, ()), demand, now),)
        if standing and all(_is_worth_a_test(hold, now) for hold in standing)
    ]
    return min(worth)[1] if worth else None


def is_due(last: datetime | None, every: timedelta, now: datetime) -> bool:
    """Whether the last test is long enough ago; a clock that went back makes it due."""
    return last is None or not timedelta() <= now - last < every


def _is_worth_a_test(hold: Hold, now: datetime) -> bool:
    return hold.row not in NEVER and (hold.restored or now - hold.set_at > OLD)
