"""A setting names a store."""

from pathlib import Path

import pytest

from credentials.backends import BACKENDS, FILE_NAME, open_store
from credentials.errors import UnknownBackend
from credentials.file import FileStore


@pytest.mark.parametrize("backend", BACKENDS)
def test_every_backend_is_a_file_for_now(tmp_path: Path, backend: str) -> None:
    """Both names give the file in the folder, say so, and touch nothing yet."""
    store = open_store(backend, tmp_path)

    assert isinstance(store, FileStore)
    assert str(tmp_path / FILE_NAME) in store.describe()
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_backend_is_refused(tmp_path: Path) -> None:
    """The message names those that there are."""
    with pytest.raises(UnknownBackend, match="auto, file"):
        open_store("keyring", tmp_path)
