"""The keys of a workload's file: those that are passed over though they look like known ones, misspelt."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from difflib import get_close_matches
from functools import cache
from typing import Any

from routing.simulation.workload import Cost, Outside, Plan, Turn, Workload

NEAR = 0.75  # of difflib's likeness: a letter too many, one too few, or two that changed places
_PARTS = {"accounts": Plan, "turns": Turn, "outside": Outside, "cost": Cost}
_KNOWN: Mapping[str, Sequence[str]] = {
    part: tuple(field.name for field in fields(kind)) for part, kind in {"": Workload, **_PARTS}.items()
}


def near_misses(tree: Any) -> list[str]:
    """List them as "turns[3].contxt (did you mean context?)"; of those that are alike in one part of the file, the first.

    tree: what the JSON holds, whatever that is. Keys that are unlike all others are no mistake: the file may grow. Nor is
    one beside the key that it is like.
    """
    found: dict[tuple[str, str], str] = {}
    for part, place, inner in _objects(tree):
        for key in inner:
            near = _near(part, key)
            if near is not None and near not in inner:
                shown = key if key.isprintable() else repr(key)
                found.setdefault((part, key), f"{place}{shown} (did you mean {near}?)")
    return list(found.values())


@cache
def _near(part: str, key: str) -> str | None:
    known = _KNOWN[part]
    return None if key in known else next(iter(get_close_matches(key, known, n=1, cutoff=NEAR)), None)


def _objects(tree: Any) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Find the objects that have keys of their own: in which part of the file, and what stands before their keys."""
    if not isinstance(tree, dict):
        return
    yield "", "", tree
    for part in _PARTS:
        inner = tree.get(part)
        if isinstance(inner, dict):
            yield part, f"{part}.", inner
        elif isinstance(inner, list):
            yield from ((part, f"{part}[{place}].", one) for place, one in enumerate(inner) if isinstance(one, dict))
