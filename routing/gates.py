"""May this account serve this request: yes, or no because. Readings never forbid; they only order."""

from datetime import datetime

from routing.decisions import Barred
from routing.holds import AccountHolds, barring
from routing.words import Account, Demand


def may_serve(account: Account, demand: Demand, holds: AccountHolds, now: datetime) -> bool:
    """Whether nothing keeps the account from serving; bar() says what does."""
    if not account.enabled or account.provider != demand.provider:
        return False
    return not (holds and barring(holds, demand, now))


def bar(account: Account, demand: Demand, holds: AccountHolds, now: datetime) -> Barred | None:
    """Say what keeps the account from serving; None when it may. Of several holds, the one that ends last speaks."""
    if not account.enabled:
        return Barred(account=account.id, because="disabled")
    if account.provider != demand.provider:
        return Barred(account=account.id, because=f"serves {account.provider}")
    standing = barring(holds, demand, now) if holds else ()
    if not standing:
        return None
    last = max(standing, key=lambda hold: hold.until)
    return Barred(account=account.id, because=last.because, row=last.row, until=last.ends)
