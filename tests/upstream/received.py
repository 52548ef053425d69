"""What the fake upstream received, in a log that threads may wait on."""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from tests.upstream.answer import Headers

type End = Literal["answered", "cut", "left"]

PATIENCE = 10.0  # seconds a test waits for something that should happen at once


class Fate:
    """How the answer to one request ended: None while it runs."""

    def __init__(self) -> None:
        self.end: End | None = None
        self.at: float | None = None
        self._done = threading.Event()

    def settle(self, end: End) -> None:
        """Note the end, once."""
        if self.end is None:
            self.end, self.at = end, time.monotonic()
            self._done.set()

    def wait(self, timeout: float = PATIENCE) -> End:
        """The end, as soon as it is known."""
        if not self._done.wait(timeout) or self.end is None:
            raise TimeoutError("the answer is still running")
        return self.end


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """One request as it came.

    account: the owner of its credential, "unknown-…" for a stranger's, "" without one. headers: in order, in the case
    they came in. at: monotonic seconds when its last byte was read. whole: False when the body was not read to its end.
    connection: counted from 1. index: how many requests that connection had carried before. size, digest: of the body,
    also where the body itself is not kept. fate: how the answer ended (answered, cut by its script, left by the peer).
    """

    account: str
    method: str
    path: str
    headers: Headers = field(repr=False)
    body: bytes = field(repr=False)
    at: float
    connection: int
    index: int
    whole: bool
    size: int
    digest: str = field(repr=False)
    answer: str
    fate: Fate = field(repr=False)

    def header(self, name: str) -> str | None:
        """The first header of that name, None without one."""
        return next((value for key, value in self.headers if key.lower() == name.lower()), None)

    def names(self) -> list[str]:
        """The header names, in order and case."""
        return [name for name, _ in self.headers]

    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)

    def public(self) -> dict[str, object]:
        """What may be printed: no header's value, no body."""
        names = ("account", "method", "path", "at", "connection", "index", "whole", "size", "digest", "answer")
        return {name: getattr(self, name) for name in names} | {"end": self.fate.end}


def digest(body: bytes) -> str:
    """The name of a body's bytes."""
    return hashlib.sha256(body).hexdigest()


class Log:
    """All requests so far, oldest first. Iterable and indexable like a list."""

    def __init__(self) -> None:
        self._items: list[Received] = []
        self._changed = threading.Condition()

    def add(self, received: Received) -> None:
        """Append one and wake those who wait."""
        with self._changed:
            self._items.append(received)
            self._changed.notify_all()

    def clear(self) -> None:
        """Forget all."""
        with self._changed:
            self._items.clear()

    def to(self, account: str | None = None, path: str | None = None) -> list[Received]:
        """Those of one account, of one path (without its query), or both."""
        with self._changed:
            return self._select(account, path)

    def accounts(self) -> list[str]:
        """The accounts in the order they were asked."""
        return [received.account for received in self]

    def wait_for(
        self, count: int = 1, account: str | None = None, *, path: str | None = None, timeout: float = PATIENCE
    ) -> list[Received]:
        """The requests (of an account, of a path) once there are so many."""
        with self._changed:
            if not self._changed.wait_for(lambda: len(self._select(account, path)) >= count, timeout):
                found = self._select(account, path)
                raise TimeoutError(f"{len(found)} of {count} requests came: {found}")
            return self._select(account, path)

    def _select(self, account: str | None, path: str | None) -> list[Received]:
        return [
            item
            for item in self._items
            if account in (None, item.account) and path in (None, item.path.partition("?")[0])
        ]

    def __iter__(self) -> Iterator[Received]:
        return iter(self.to())

    def __len__(self) -> int:
        return len(self._items)

    def __getitem__(self, index: int) -> Received:
        return self._items[index]
