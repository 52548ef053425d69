"""The requests that ended last, for those who ask a running proxy."""

from collections import deque
from typing import Any

KEPT = 1000

type Line = dict[str, Any]


class Recent:
    """Lines of the request log, oldest first, bounded."""

    def __init__(self, kept: int = KEPT) -> None:
        self._lines: deque[Line] = deque(maxlen=kept)

    def add(self, line: Line) -> None:
        """Keep one more; the oldest over the bound goes."""
        self._lines.append(line)

    def last(self, count: int) -> list[Line]:
        """The last so many."""
        return list(self._lines)[-count:] if count > 0 else []

    def after(self, request: str) -> list[Line]:
        """Those that ended after that one; all when it is not there, or not any more."""
        newer: list[Line] = []
        for line in reversed(self._lines):
            if line["id"] == request:
                break
            newer.append(line)
        return newer[::-1]
