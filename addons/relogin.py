"""Relogin: what is to be done about a login that was refused: a newer token, a renewal to wait for, or nothing (rows 16 to 18)."""

import time
from typing import Protocol

from addons.exchange import Exchange, Pause
from credentials.secret import Secret
from routing.relogin import Renewal, may_renew, may_use_current
from routing.words import AccountId, Demand


class Renewals(Protocol):
    """Who renews the logins of accounts: addons/renew.py."""

    def is_outdated(self, account: AccountId, sent: Secret | None) -> bool:
        """Whether the account has another access token than the one that was sent."""

    def is_running(self, account: AccountId) -> bool:
        """Whether the account is being renewed now."""

    def ask(self, account: AccountId) -> Renewal | None:
        """Have the account renewed, for its access token was refused; None: it is on its way, and waiting requests are woken."""

    def late(self, account: AccountId, patience: float) -> None:
        """Leave the account alone for a while: its renewal takes longer than a request may wait."""


def renewal_of(exchange: Exchange, demand: Demand, renewals: Renewals) -> Renewal | Pause:
    """How the login stands that the last attempt went out with; a Pause while that hangs on its renewal.

    Asked again after the pause, or whenever something changed. A side call waits for nobody.
    """
    account, now = exchange.account, time.monotonic()
    assert account is not None
    is_waiting = exchange.renewal_due is not None
    if renewals.is_outdated(account, exchange.signed):
        if is_waiting:
            return Renewal.DONE
        return Renewal.OUTDATED if may_use_current(exchange.trail, account) else Renewal.NONE
    if not is_waiting:
        renewal = renewals.ask(account) if may_renew(exchange.trail, account) else Renewal.NONE
        if renewal is not None or demand.side:
            return renewal or Renewal.FAILED
        exchange.renewal_due = now + exchange.rules.retry.renewal_s
    elif not renewals.is_running(account):
        return Renewal.FAILED
    assert exchange.renewal_due is not None
    if exchange.renewal_due <= now:
        renewals.late(account, exchange.rules.retry.renewal_s)
        return Renewal.FAILED
    return Pause(exchange.renewal_due - now)
