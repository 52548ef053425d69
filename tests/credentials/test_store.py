"""The contract itself."""

from pathlib import Path

from credentials.either import EitherStore
from credentials.file import FileStore
from credentials.keyring import KeyringStore
from credentials.memory import MemoryStore
from credentials.store import Dated, Store
from tests.credentials.rings import MemoryRing


def test_all_stores_have_every_method_of_the_contract() -> None:
    """Each store offers each verb of Store; mypy checks their types here."""
    dated: tuple[Dated, Dated] = (FileStore(Path("x")), KeyringStore(MemoryRing(), Path("x")))
    stores: tuple[Store, ...] = (MemoryStore(), EitherStore(*dated), *dated)

    for store in stores:
        assert all(callable(getattr(store, verb)) for verb in ("get", "put", "delete", "ids", "describe"))
