"""Reads a workload for the simulator from JSON; one that makes no sense is one line that names the key."""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from flowpool.errors import Failure
from routing.simulation.workload import Workload, family_of

type Number = tuple[str, float, float, float]
"""A key, its value, and the least and the most that it may be."""

YEARS = 10 * 366 * 86400.0  # seconds
MOST = 1e15  # units, tokens, prices
LEAST = 1e-9  # of what may not be nothing

_PLACE = re.compile(r" - at `(?:key in )?\$\.?(.*)`$")

_MISSING = re.compile(r"Object missing required field `(\w+)`")


def read(path: str) -> Workload:
    """Read a file; Failure when it is no workload, OSError when it is not to be read."""
    try:
        workload = msgspec.json.decode(Path(path).read_bytes(), type=Workload)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise _failure(path, _said(error)) from None
    fault = next(_faults(workload), None)
    if fault is not None:
        raise _failure(path, fault)
    return workload


def convert(tree: dict[str, Any]) -> Workload:
    """Take a workload that is at hand as the tree that a file would hold."""
    return msgspec.convert(tree, Workload)


def _failure(path: str, fault: str) -> Failure:
    return Failure(f"{path}: {fault}; what a workload holds, says: flowpool simulate --help")


def _said(error: Exception) -> str:
    """Put the key before what is wrong with it."""
    said = str(error)
    if not isinstance(error, msgspec.ValidationError):
        return f"not valid JSON: {said}"
    place = _PLACE.search(said)
    key, said = (place[1], said[: place.start()]) if place else ("", said)
    missing = _MISSING.fullmatch(said)
    if missing:
        return f"{key}.{missing[1]}: is missing".removeprefix(".")
    return f"{key}: {said}" if key else said


def _faults(workload: Workload) -> Iterator[str]:
    for key, value, least, most in _numbers(workload):
        if not least <= value <= most:
            yield f"{key}: {value:g} is not from {least:g} to {most:g}"
    names = Counter(plan.name for plan in workload.accounts)
    for place, plan in enumerate(workload.accounts):
        if names[plan.name] > 1:
            yield f"accounts[{place}].name: {plan.name!r} is the name of two"
        families = Counter(map(family_of, plan.models))
        if families and max(families.values()) > 1:
            yield f"accounts[{place}].models: {families.most_common(1)[0][0]!r} is named twice"
    if not names:
        yield "accounts: there are none"
    for place, use in enumerate(workload.outside):
        if use.account not in names:
            yield f"outside[{place}].account: there is no account {use.account!r}"


def _numbers(workload: Workload) -> Iterator[Number]:
    yield "unit_tokens", workload.unit_tokens, LEAST, MOST
    for name in ("read", "fresh", "write", "output"):
        yield f"cost.{name}", getattr(workload.cost, name), 0, MOST
    for place, plan in enumerate(workload.accounts):
        at = f"accounts[{place}]"
        yield f"{at}.size", plan.size, LEAST, MOST
        yield f"{at}.window_5h", plan.window_5h, LEAST, MOST
        yield f"{at}.week", plan.week, LEAST, MOST
        yield f"{at}.week_resets_at", plan.week_resets_at, -YEARS, YEARS
        for model, share in plan.models.items():
            yield f"{at}.models[{model!r}]", share, 0, 1
    for place, turn in enumerate(workload.turns):
        for name, most in (("at", YEARS), ("ttl", YEARS), ("context", MOST), ("fresh", MOST), ("output", MOST)):
            yield f"turns[{place}].{name}", getattr(turn, name), 0, most
    for place, use in enumerate(workload.outside):
        yield f"outside[{place}].at", use.at, 0, YEARS
        yield f"outside[{place}].units", use.units, 0, MOST
