"""Logins that cannot be renewed any more, as the last try to renew them left it written in the state."""

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from credentials.credential import Credential
from credentials.renewal import fingerprint
from routing.words import AccountId

BUSY = 2.0  # seconds
_SELECT = "SELECT account, fingerprint, because FROM renewals WHERE outcome = 'refused'"


@dataclass(frozen=True, slots=True)
class Refused:
    """A refresh token that its provider takes no more. fingerprint: its name. because: the provider's words."""

    fingerprint: str
    because: str

    def is_of(self, credential: Credential) -> bool:
        """Tell whether it is this credential's."""
        return credential.refresh is not None and fingerprint(credential.refresh) == self.fingerprint


def refused(state: Path, *, is_open: bool) -> Mapping[AccountId, Refused]:
    """Read them; nothing where that cannot be read.

    is_open: a proxy has the file open. Otherwise it is read as it lies: SQLite would make others beside it.
    """
    if not state.exists():
        return {}
    how = "mode=ro" if is_open else "mode=ro&immutable=1"
    try:
        with closing(sqlite3.connect(f"{state.absolute().as_uri()}?{how}", uri=True, timeout=BUSY)) as connection:
            rows = connection.execute(_SELECT).fetchall()
    except sqlite3.Error:
        return {}
    return {AccountId(str(account)): Refused(str(name), str(because)) for account, name, because in rows}
