"""Ramps: conversations that an account's refusal has moved come onto the next account one by one.

A move rebuilds a conversation's cache, so many at once would spend the next account's window before an answer could show it. At
first one moved request is in flight there; each answer it gives allows one more. A conversation that lives there already, or that is
new, is not held back, and nobody is refused because of a ramp.
"""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from routing.words import AccountId, ExchangeId

FIRST = 1
OVER = timedelta(minutes=1)  # without a moved request for so long, the next move begins a new ramp
PAUSE = timedelta(seconds=1)  # how long a request waits at most before it looks again


@dataclass(slots=True)
class Ramp:
    """One account's ramp: how many moved requests may be in flight there, and who they are."""

    allowed: int
    last_at: datetime
    flying: set[ExchangeId] = field(default_factory=set)
    proved: set[ExchangeId] = field(default_factory=set)


@dataclass(slots=True)
class Ramps:
    """The ramps of all accounts."""

    _by_account: dict[AccountId, Ramp] = field(default_factory=dict)

    def is_full(self, account: AccountId, now: datetime) -> bool:
        """Whether one more moved request must wait."""
        ramp = self._running(account, now)
        return ramp is not None and len(ramp.flying) >= ramp.allowed

    def dispatched(self, exchange: ExchangeId, account: AccountId, now: datetime) -> None:
        """A moved request goes out on the account."""
        self.ended(exchange)
        ramp = self._running(account, now)
        if ramp is None:
            ramp = self._by_account[account] = Ramp(allowed=FIRST, last_at=now)
        ramp.flying.add(exchange)
        ramp.last_at = now

    def answered(self, exchange: ExchangeId) -> None:
        """The account took the request: one more may come."""
        for ramp in self._by_account.values():
            if exchange in ramp.flying and exchange not in ramp.proved:
                ramp.proved.add(exchange)
                ramp.allowed += 1

    def ended(self, exchange: ExchangeId) -> None:
        """The request is in flight no longer, or on another account."""
        for ramp in self._by_account.values():
            ramp.flying.discard(exchange)
            ramp.proved.discard(exchange)

    def drop(self, account: AccountId) -> None:
        """The account is gone."""
        self._by_account.pop(account, None)

    def _running(self, account: AccountId, now: datetime) -> Ramp | None:
        ramp = self._by_account.get(account)
        if ramp is None or (not ramp.flying and now - ramp.last_at > OVER):
            return None
        return ramp
