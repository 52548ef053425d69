"""The contract of every place that keeps secrets."""

from typing import Protocol

from credentials.credential import Credential


class Store(Protocol):
    """Keeps one credential per account, by the account's id; may block, so never on an event loop.

    Every method may raise CredentialError.
    """

    def get(self, account_id: str) -> Credential:
        """Return an account's credential, stamped with when it was saved; raise NotStored when there is none."""

    def put(self, account_id: str, credential: Credential) -> None:
        """Keep a credential in place of any other; durable when this returns."""

    def delete(self, account_id: str) -> None:
        """Forget an account's credential; nothing happens when there is none."""

    def ids(self) -> tuple[str, ...]:
        """Return the ids that have a credential, sorted."""

    def describe(self) -> str:
        """Say where secrets are kept, to follow the words "secrets are kept"."""


class Dated(Store, Protocol):
    """A store that knows when it was given what it keeps, so that of two copies the newer can be told."""

    def saved_at(self, account_id: str) -> int | None:
        """Return when an account's credential was saved, in ns since 1970; 0 when it cannot be told, None when there is none."""

    def drop(self, account_id: str, saved_at: int) -> bool:
        """Forget a credential that was saved at that time; tell whether nothing is kept of it now.

        False, and nothing changed, when another was saved meanwhile.
        """
