"""Two stores as one: what is written goes to the first, what is read is the newer of two copies."""

from contextlib import suppress

from credentials.credential import Credential
from credentials.errors import CredentialError, KeyringFault
from credentials.store import Dated


class EitherStore:
    """Keeps credentials in one store while another may still hold some from before.

    After each write the old copy is removed, once the new one was read back. A keyring in the second place may be out of
    reach: then the first is used alone, and what only the second may have is refused with the keyring's fault.
    """

    def __init__(self, first: Dated, second: Dated) -> None:
        self._first = first
        self._second = second

    def get(self, account_id: str) -> Credential:
        """Return the credential that was saved last; raise NotStored when there is none in either."""
        try:
            second = self._second.saved_at(account_id)
        except KeyringFault:
            if self._first.saved_at(account_id) is None:
                raise
            second = None
        if second is None:
            return self._first.get(account_id)
        first = self._first.saved_at(account_id)
        newer = self._second if first is None or second > first else self._first
        return newer.get(account_id)

    def put(self, account_id: str, credential: Credential) -> None:
        """Keep a credential in the first store in place of any other."""
        self._first.put(account_id, credential)
        with suppress(CredentialError):  # the new copy stands and is the newer one; the old one goes the next time
            if self._second.saved_at(account_id) is not None and self._first.get(account_id) == credential:
                self._second.delete(account_id)

    def delete(self, account_id: str) -> None:
        """Forget an account's credential in both stores."""
        was_in_first = self._first.saved_at(account_id) is not None
        self._first.delete(account_id)
        try:
            self._second.delete(account_id)
        except KeyringFault:
            if not was_in_first:
                raise

    def ids(self) -> tuple[str, ...]:
        """Return the ids that have a credential in either store, sorted; without a keyring that is out of reach."""
        found = set(self._first.ids())
        with suppress(KeyringFault):
            found.update(self._second.ids())
        return tuple(sorted(found))

    def describe(self) -> str:
        """Say where secrets are kept, and which are still elsewhere."""
        elsewhere = 0
        with suppress(CredentialError):
            elsewhere = len(self._second.ids())
        if not elsewhere:
            return self._first.describe()
        still = "that of 1 account is" if elsewhere == 1 else f"those of {elsewhere} accounts are"
        return f"{self._first.describe()}; {still} still {self._second.describe()}"
