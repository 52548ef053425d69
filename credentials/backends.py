"""Which store a setting means."""

from collections.abc import Callable
from pathlib import Path

from credentials import rings
from credentials.either import EitherStore
from credentials.errors import KeyringFault, NoKeyring, UnknownBackend
from credentials.file import FileStore
from credentials.keyring import KeyringStore, Known, Ring
from credentials.patience import Patience
from credentials.store import Dated, Store

BACKENDS = ("auto", "keyring", "file")
FILE_NAME = "secrets.json"
LOCK_NAME = "keyring"


def open_store(
    backend: str,
    folder: Path,
    known: Known = tuple,
    *,
    find: Callable[[], Ring] = rings.find,
    patience: Patience | None = None,
) -> Store:
    """Return the store that `credentials.backend` names; a keyring is looked for and probed, so never on an event loop.

    known: returns the ids of accounts.toml, which a keyring cannot list. Raises NoKeyring, or another KeyringFault, where
    only a keyring will do. With "auto" the caller says store.describe() once, so that a fallback is never silent.
    """
    if backend not in BACKENDS:
        raise UnknownBackend(f"credentials.backend must be one of {', '.join(BACKENDS)}", "flowpool config check")
    path, lock = folder / FILE_NAME, folder / LOCK_NAME
    if backend == "file":
        return FileStore(path)
    patience = patience or Patience()
    try:
        ring = patience.run(find)
    except KeyringFault as fault:
        if backend == "keyring":
            raise
        file = FileStore(path, because=fault.problem)
        if isinstance(fault, NoKeyring):
            return file
        return EitherStore(file, KeyringStore(_LateRing(find), lock, known, patience))
    store = KeyringStore(ring, lock, known, patience)
    return EitherStore(store, FileStore(path)) if backend == "auto" else store


def open_place(place: str, folder: Path, known: Known = tuple, *, find: Callable[[], Ring] = rings.find) -> Dated:
    """Return the keyring or the file by itself, whatever the settings say, to move what is in it; otherwise like open_store."""
    if place == "file":
        return FileStore(folder / FILE_NAME)
    patience = Patience()
    return KeyringStore(patience.run(find), folder / LOCK_NAME, known, patience)


class _LateRing:
    """A keyring that did not answer at first; it is looked for again with each call until it is found."""

    def __init__(self, find: Callable[[], Ring]) -> None:
        self._find = find
        self._ring: Ring | None = None

    def get_password(self, service: str, username: str) -> str | None:
        """Return what is kept; None when nothing is."""
        return self._found().get_password(service, username)

    def set_password(self, service: str, username: str, password: str) -> None:
        """Keep a text in place of any other."""
        self._found().set_password(service, username, password)

    def delete_password(self, service: str, username: str) -> None:
        """Forget a text; raise when there is none."""
        self._found().delete_password(service, username)

    def _found(self) -> Ring:
        if self._ring is None:
            self._ring = self._find()
        return self._ring
