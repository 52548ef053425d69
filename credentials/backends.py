"""Which store a setting means."""

from pathlib import Path

from credentials.errors import UnknownBackend
from credentials.file import FileStore
from credentials.store import Store

BACKENDS = ("auto", "file")  # the keyring joins them with the next version
FILE_NAME = "secrets.json"


def open_store(backend: str, folder: Path) -> Store:
    """Return the store that `credentials.backend` names; nothing is read or written yet.

    With "auto" the caller says store.describe() once, so that a fallback is never silent.
    """
    if backend not in BACKENDS:
        raise UnknownBackend(f"credentials.backend must be one of {', '.join(BACKENDS)}", "flowpool serve")
    return FileStore(folder / FILE_NAME)
