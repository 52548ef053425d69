"""The store in memory keeps the contract."""

import pytest

from credentials.memory import MemoryStore
from credentials.store import Store
from tests.credentials.contract import StoreContract


class TestMemoryStore(StoreContract):
    """MemoryStore."""

    @pytest.fixture
    def store(self) -> Store:
        """An empty store."""
        return MemoryStore()
