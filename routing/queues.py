"""The queue: who waits, in the proxy, for a free place on an account that has as many requests in flight as its cap allows.

First come, first served: a place belongs to the first who would take it, and who has just come waits behind all who would. Who
waits for one account, because its prompt cache is there, does not stand in the way of those who wait for another.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import takewhile

from routing.leases import Leases
from routing.words import Account, AccountId, ExchangeId

SOON = timedelta(seconds=5)  # after which a client that could not wait is to ask again


@dataclass(slots=True)
class Queue:
    """The exchanges that wait, the first come first, and the accounts of which each would take the next free place."""

    _waiting: dict[ExchangeId, frozenset[AccountId]] = field(default_factory=dict)

    def __len__(self) -> int:
        """How many wait."""
        return len(self._waiting)

    def join(self, exchange: ExchangeId, accounts: Iterable[AccountId]) -> None:
        """Wait for one of these accounts: at the end, or where the exchange stands already."""
        self._waiting[exchange] = frozenset(accounts)

    def leave(self, exchange: ExchangeId) -> None:
        """Wait no more."""
        self._waiting.pop(exchange, None)

    def count(self, account: AccountId) -> int:
        """How many would take the account's next free place."""
        return sum(account in wanted for wanted in self._waiting.values())

    def ahead(self, exchange: ExchangeId | None) -> Counter[AccountId]:
        """How many who would take an account's next free place stand before the exchange; all, when it does not wait yet."""
        before = takewhile(lambda one: one[0] != exchange, self._waiting.items())
        return Counter(account for _, wanted in before for account in wanted)

    def drop(self, account: AccountId) -> None:
        """The account is gone; who waits for it keeps its place until it chooses again."""
        self._waiting = {exchange: wanted - {account} for exchange, wanted in self._waiting.items()}


def full(
    accounts: Iterable[Account], leases: Leases, queue: Queue, exchange: ExchangeId | None
) -> frozenset[AccountId]:
    """Of these accounts, those with no place for the exchange: its own claim does not stand in its way."""
    capped = [(account.id, account.cap) for account in accounts if account.cap is not None]
    if not capped:
        return frozenset()
    ahead, own = queue.ahead(exchange), leases.account_of(exchange)
    return frozenset(
        account for account, cap in capped if leases.count(account) - (account == own) + ahead[account] >= cap
    )


def why_full(account: Account, leases: Leases) -> str:
    """Say why an account has no place."""
    return f"{leases.count(account.id)} of {account.cap} requests in flight"
