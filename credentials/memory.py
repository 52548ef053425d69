"""A store that forgets everything with the process."""

import time
from dataclasses import replace

from credentials.credential import Credential
from credentials.errors import NotStored


class MemoryStore:
    """Keeps credentials in memory, for tests and demonstrations."""

    def __init__(self) -> None:
        self._kept: dict[str, Credential] = {}

    def get(self, account_id: str) -> Credential:
        """Return an account's credential; raise NotStored when there is none."""
        try:
            return self._kept[account_id]
        except KeyError:
            raise NotStored(account_id) from None

    def put(self, account_id: str, credential: Credential) -> None:
        """Keep a credential in place of any other."""
        self._kept[account_id] = replace(credential, saved_at=time.time_ns())

    def delete(self, account_id: str) -> None:
        """Forget an account's credential, if there is one."""
        self._kept.pop(account_id, None)

    def ids(self) -> tuple[str, ...]:
        """Return the ids that have a credential, sorted."""
        return tuple(sorted(self._kept))

    def describe(self) -> str:
        """Say where secrets are kept."""
        return "in memory, until this process ends"
