"""One proxy per test process for tests that leave no holds, and a maker of proxies for those that do."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.harness import Member, Settings
from tests.e2e.pool import Pool, open_pool, ranked

type Make = Callable[..., Pool]


class Shared:
    """A pool that is replaced when a test has spoiled it."""

    def __init__(self, folder: Path, settings: Callable[[], Settings] = dict) -> None:
        self._folder, self._numbers, self._settings = folder, itertools.count(), settings
        self._stack = ExitStack()
        self._pool: Pool | None = None

    def get(self) -> Pool:
        """A pool without holds, its upstream without scripts."""
        if self._pool is None:
            folder = self._folder / f"shared-{next(self._numbers)}"
            opened = open_pool(folder, ranked("work", "home", "third"), settings=self._settings())
            self._pool = self._stack.enter_context(opened)
        self._pool.upstream.reset()
        self._pool.proxy.mark()
        return self._pool

    def give_back(self, pool: Pool) -> None:
        """Check that the test left nothing; a pool that fails is not used again."""
        try:
            pool.end()
            pool.proxy.check()
            assert pool.holds() == {}, "this test needs a proxy of its own"
        except BaseException as error:
            self._pool = None
            self._stack.__exit__(type(error), error, error.__traceback__)
            self._stack = ExitStack()
            raise

    def close(self) -> None:
        """Stop the proxy."""
        self._stack.close()


@pytest.fixture(scope="session")
def shared_pool(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shared]:
    """The session's pool."""
    shared = Shared(tmp_path_factory.mktemp("shared"))
    yield shared
    shared.close()


@pytest.fixture
def shared(shared_pool: Shared) -> Iterator[Pool]:
    """A pool of work, home and third, asked in this order, for tests that leave no holds."""
    pool = shared_pool.get()
    yield pool
    shared_pool.give_back(pool)


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    """A function that starts a pool of ranked accounts, or of given members, with its own settings."""
    numbers = itertools.count()
    with ExitStack() as stack:

        def start(*names: str, members: Sequence[Member] | None = None, **kwargs: Any) -> Pool:
            chosen = ranked(*names) if members is None else members
            return stack.enter_context(open_pool(tmp_path / str(next(numbers)), chosen, **kwargs))

        yield start
