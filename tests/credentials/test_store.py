"""The contract itself."""

from pathlib import Path

from credentials.file import FileStore
from credentials.memory import MemoryStore
from credentials.store import Store


def test_both_stores_have_every_method_of_the_contract() -> None:
    """Each store offers each verb of Store; mypy checks their types here."""
    stores: tuple[Store, ...] = (MemoryStore(), FileStore(Path("x")))

    for store in stores:
        assert all(callable(getattr(store, verb)) for verb in ("get", "put", "delete", "ids", "describe"))
