"""Where secrets are kept: the keyring, whether it is a real one, and whether each secret can be read there."""

from collections.abc import Callable, Mapping
from pathlib import Path

from credentials import rings
from credentials.backends import open_store
from credentials.credential import Credential
from credentials.errors import CredentialError, KeyringFault
from credentials.keyring import Ring
from credentials.patience import Patience
from credentials.store import Store
from flowpool.findings.finding import Finding, fail, ok, skip, told, warn
from home.accounts import Accounts

KEYRING, SECRETS = "keyring", "secrets"
LOOK = "flowpool credentials"

type Kept = Mapping[str, Credential | CredentialError]
"""What is stored by account id, or why it cannot be read."""


def keyring(backend: str, find: Callable[[], Ring] = rings.look) -> tuple[Callable[[], Ring], Finding]:
    """Look for a real keyring; return what finds it again, without another look."""
    if backend == "file":
        return find, skip(KEYRING, 'not looked for: credentials.backend is "file"')
    try:
        ring = Patience().run(find)
    except KeyringFault as fault:
        problem = fault  # of the name above nothing is left behind
    else:
        return lambda: ring, ok(KEYRING, f"{type(ring).__module__}.{type(ring).__qualname__}")

    def refuse() -> Ring:
        raise problem

    say = fail if backend == "keyring" else warn
    return refuse, say(KEYRING, problem.problem, problem.mend)


def secrets(backend: str, folder: Path, known: Accounts, find: Callable[[], Ring]) -> tuple[Store | None, Finding]:
    """Open the store, and say where it is; None when there is none."""
    try:
        store = open_store(backend, folder, lambda: [account.id for account in known], find=find)
        store.ids()
    except CredentialError as error:
        return None, fail(SECRETS, *told(error, LOOK))
    return store, ok(SECRETS, f"kept {store.describe()}")


def read(store: Store, known: Accounts) -> Kept:
    """Read every account's secret, one after another: a keyring that hangs is asked once."""
    return {account.id: _read(store, account.id) for account in known}


def _read(store: Store, account_id: str) -> Credential | CredentialError:
    try:
        return store.get(account_id)
    except CredentialError as error:
        return error
