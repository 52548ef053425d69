"""Whose turn it was: in which order free choices were sent to accounts."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from routing.words import Account, AccountId


@dataclass(slots=True)
class Given:
    """The ordinals of the accounts' latest free choices, and each provider's latest account."""

    _count: int = 0
    _at: dict[AccountId, int] = field(default_factory=dict)
    _latest: dict[str, AccountId] = field(default_factory=dict)

    def to(self, account: Account) -> None:
        """A request that was free to go anywhere goes out on the account."""
        self._count += 1
        self._at[account.id] = self._count
        self._latest[account.provider] = account.id

    @property
    def ordinals(self) -> Mapping[AccountId, int]:
        """The ordinals of each account's latest one; one that had none is absent."""
        return self._at

    def latest(self, provider: str) -> AccountId | None:
        """The account that got the provider's latest one."""
        return self._latest.get(provider)

    def drop(self, account: AccountId) -> None:
        """The account is gone."""
        self._at.pop(account, None)
        self._latest = {provider: latest for provider, latest in self._latest.items() if latest != account}
