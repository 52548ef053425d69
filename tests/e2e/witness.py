"""What a test knows of a proxy from outside: what it told, to whom, and when the client had it; and what must be true then."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

type Kind = Literal["hold", "lift", "used", "stick", "rank"]
type Key = tuple[str, ...]


@dataclass(slots=True, kw_only=True)
class Note:
    """One fact that the proxy was told.

    begun: when whoever caused it began to ask. seen: when the answer was whole there; infinite when it never was.
    over: from when on it can change nothing any more.
    """

    kind: Kind
    key: Key
    value: object
    begun: float
    seen: float = math.inf
    over: float = math.inf


@dataclass(slots=True)
class Book:
    """All notes, in the order in which they were begun upstream; the threads of a test share it."""

    notes: list[Note] = field(default_factory=list)
    _open: dict[str, list[Note]] = field(default_factory=dict)
    _begun: dict[str, float] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def begin(self, asker: str) -> None:
        """Somebody begins to ask, and has one question at a time."""
        with self._lock:
            self._begun[asker], self._open[asker] = time.monotonic(), []

    def tell(self, asker: str, kind: Kind, key: Key, value: object = None) -> None:
        """The proxy is told something on the asker's behalf."""
        with self._lock:
            note = Note(kind=kind, key=key, value=value, begun=self._begun[asker])
            self.notes.append(note)
            self._open[asker].append(note)

    def end(self, asker: str, *, is_seen: bool) -> None:
        """The asker has the whole answer, or will never have it."""
        with self._lock:
            now = time.monotonic()
            for note in self._open.pop(asker, ()):
                note.over = now
                note.seen = now if is_seen else math.inf

    def forget_since(self, by: float) -> None:
        """The proxy was killed: what was seen only after this moment may be lost, and is certain to nobody any more."""
        for note in self.notes:
            if note.seen > by:
                note.seen = math.inf

    def found(self, kind: Kind, key: Key, value: object = None) -> None:
        """The proxy itself shows this after its start, so it must stand from now on."""
        now = time.monotonic()
        self.notes.append(Note(kind=kind, key=key, value=value, begun=now, seen=now, over=now))

    def of(self, kind: Kind, key: Key) -> list[Note]:
        """The notes of one kind on one thing, oldest first."""
        return [note for note in self.notes if note.kind == kind and note.key == key]

    def keys(self, kind: Kind) -> list[Key]:
        """What there are notes of this kind on, the one that was noted last at the end."""
        return list(dict.fromkeys(note.key for note in reversed(self.notes) if note.kind == kind))[::-1]

    # -- what must be true of a proxy that was killed a second after `by` ------------------------------------------

    def is_held(self, key: Key, by: float) -> bool | None:
        """Whether a hold must stand (True), must be gone after it was lifted (False), or may be either (None)."""
        holds, lifts = self.of("hold", key), self.of("lift", key)
        if any(h.seen <= by and not _is_met(h, lifts) for h in holds):
            return True
        undone = any(lift.seen <= by and not _is_met(lift, holds) for lift in lifts if _came_after(lift, holds))
        return False if undone else None

    def allowed(self, kind: Kind, key: Key, by: float) -> set[object]:
        """The values that the newest of what was told may have left; empty when nothing is known for certain."""
        notes = self.of(kind, key)
        last = max((at for at, note in enumerate(notes) if note.seen <= by), default=None)
        return set() if last is None else {note.value for note in notes[last:]}


def _is_met(note: Note, others: Iterable[Note]) -> bool:
    """Whether something of the other kind came after it, or at the same time."""
    return any(other.over >= note.begun for other in others)


def _came_after(note: Note, others: Iterable[Note]) -> bool:
    """Whether something of the other kind was known before it began."""
    return any(other.seen < note.begun for other in others)
