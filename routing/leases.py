"""Requests in flight, counted per account so that new conversations do not herd."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from routing.words import AccountId, ConversationId, Demand, ExchangeId


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """One exchange's claim on the account that its request is in flight on."""

    exchange: ExchangeId
    account: AccountId
    conversation: ConversationId | None
    model: str


@dataclass(slots=True)
class Leases:
    """All claims in flight: at most one per exchange, and each ends once."""

    _by_exchange: dict[ExchangeId, Lease] = field(default_factory=dict)
    _counts: dict[AccountId, int] = field(default_factory=dict)
    _by_conversation: dict[ConversationId, dict[ExchangeId, Lease]] = field(default_factory=dict)

    def move(self, exchange: ExchangeId, account: AccountId, demand: Demand) -> None:
        """Let the exchange claim this account, and no other."""
        self.end(exchange)
        lease = Lease(exchange=exchange, account=account, conversation=demand.conversation, model=demand.model)
        self._by_exchange[exchange] = lease
        self._counts[account] = self.count(account) + 1
        if lease.conversation is not None:
            self._by_conversation.setdefault(lease.conversation, {})[exchange] = lease

    def end(self, exchange: ExchangeId) -> bool:
        """End the exchange's claim; False when it has none, as when it ended before."""
        lease = self._by_exchange.pop(exchange, None)
        if lease is None:
            return False
        self._counts[lease.account] -= 1
        if not self._counts[lease.account]:
            del self._counts[lease.account]
        if lease.conversation is not None:
            siblings = self._by_conversation[lease.conversation]
            del siblings[exchange]
            if not siblings:
                del self._by_conversation[lease.conversation]
        return True

    def drop(self, account: AccountId) -> None:
        """End every claim on an account that was removed."""
        for lease in [lease for lease in self._by_exchange.values() if lease.account == account]:
            self.end(lease.exchange)

    @property
    def counts(self) -> Mapping[AccountId, int]:
        """How many requests are in flight on each account; one without any is absent."""
        return self._counts

    def count(self, account: AccountId) -> int:
        """How many requests are in flight on the account."""
        return self._counts.get(account, 0)

    def account_of(self, exchange: ExchangeId | None) -> AccountId | None:
        """Find the account that the exchange claims."""
        lease = None if exchange is None else self._by_exchange.get(exchange)
        return None if lease is None else lease.account

    def of(self, conversation: ConversationId | None) -> tuple[Lease, ...]:
        """List the conversation's claims, newest first."""
        if conversation is None:
            return ()
        return tuple(reversed(self._by_conversation.get(conversation, {}).values()))
