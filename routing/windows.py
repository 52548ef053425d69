"""Spans over which a provider counts use, named by their keys: 5h, 7d, 7d_oi."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from types import MappingProxyType
from typing import Self

from routing.words import Family

_KEY = re.compile(r"(?P<count>[1-9][0-9]{0,3})(?P<unit>[hd])(?:_(?P<line>[a-z0-9_]+))?")
_UNIT = {"h": timedelta(hours=1), "d": timedelta(days=1)}

# Other lines count for the families they are seen on. Fact: see docs/facts/anthropic.md#model-windows
KNOWN_LINES: dict[str, frozenset[Family]] = {
    "oi": frozenset({Family("fable"), Family("mythos")}),
    "opus": frozenset({Family("opus")}),
    "sonnet": frozenset({Family("sonnet")}),
}
KNOWN_FAMILIES = tuple(Family(name) for name in ("opus", "sonnet", "haiku", "fable", "mythos"))
SESSION = timedelta(hours=5)
WEEK = timedelta(days=7)
NOTHING_SEEN: Mapping[str, frozenset[Family]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Window:
    """One span of counting.

    line: the model line that alone it counts; None for a shared window, which counts every request.
    is_long: whether it is a week or longer.
    """

    key: str
    length: timedelta
    line: str | None = None
    is_long: bool = field(init=False, repr=False, compare=False)  # told once: every choice asks it of every window

    def __post_init__(self) -> None:
        """Compare its length."""
        object.__setattr__(self, "is_long", self.length >= WEEK)

    @classmethod
    def parse(cls, key: str) -> Self | None:
        """Read a key; None when it names no span, as "overage" does not."""
        match = _KEY.fullmatch(key)
        if match is None:
            return None
        length = int(match["count"]) * _UNIT[match["unit"]]
        return cls(key, length, match["line"])

    @property
    def is_shared(self) -> bool:
        """Whether every family's use counts in it."""
        return self.line is None

    def counts_for(self, family: Family, seen: Mapping[str, frozenset[Family]] = NOTHING_SEEN) -> bool:
        """Whether a request of this family uses it up; seen: families that each unknown line was met on."""
        if self.line is None:
            return True
        known = KNOWN_LINES.get(self.line)
        return family in (seen.get(self.line, ()) if known is None else known)
