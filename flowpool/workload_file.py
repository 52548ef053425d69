"""Reads a workload for the simulator from JSON; one that makes no sense is one line that names the key."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from flowpool.errors import WrongFileError
from flowpool.workload_keys import near_misses
from home.checks import nearest
from routing.simulation.workload import Workload, family_of

type Number = tuple[str, float, float, float]
"""A key, its value, and the least and the most that it may be."""

YEARS = 10 * 366 * 86400.0  # seconds
MOST = 1e15  # units, tokens, prices
LEAST = 1e-9  # of what may not be nothing
CONVERSATION = "conversation"
SAYS = "what a workload holds, says: flowpool simulate --help"

_PLACE = re.compile(r" - at `(?:key in )?\$\.?(.*)`$")

_MISSING = re.compile(r"Object missing required field `(\w+)`")


def read(path: str, *, kinds: Sequence[str] = (), tell: Callable[[str], object] = lambda _: None) -> Workload:
    """Read a file; WrongFileError when it is no workload, or not to be read.

    kinds: what else could have been meant, where there is no file. tell: is given one line when keys are passed over that look like known ones, also of a file that is refused.
    """
    try:
        data = Path(path).read_bytes()
    except FileNotFoundError:
        raise WrongFileError(
            f"{path}: there is no such file, and no kind of that name; {_meant(path, kinds)}"
        ) from None
    except OSError as error:
        raise WrongFileError(f"{path}: {error.strerror}; run: ls -ld '{path}'") from None
    try:
        near = near_misses(msgspec.json.decode(data))
        if near:
            tell(f"{path}: passed over, as there is no such key: {', '.join(near)}")
        workload = _decoded(data)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise _failure(path, _said(error)) from None
    fault = next(_faults(workload), None)
    if fault is not None:
        raise _failure(path, fault)
    return workload


def convert(tree: dict[str, Any]) -> Workload:
    """Take a workload that is at hand as the tree that a file would hold."""
    return msgspec.convert(tree, Workload)


def _meant(name: str, kinds: Sequence[str]) -> str:
    """Say which kinds there are, and which of them was meant."""
    near = nearest(name.lower(), kinds)
    return f"{f'did you mean {near}? ' if near else ''}the kinds are: {', '.join(kinds)}"


def _decoded(data: bytes) -> Workload:
    """Read it as it should be; where it is not, take what other programs write for the same."""
    try:
        return msgspec.json.decode(data, type=Workload)
    except msgspec.ValidationError:
        return convert(_plainer(msgspec.json.decode(data)))


def _plainer(tree: Any) -> Any:
    """Leave out what is null, and write out conversations that are numbers."""
    if isinstance(tree, list):
        return [_plainer(one) for one in tree]
    if not isinstance(tree, dict):
        return tree
    found = {key: _plainer(value) for key, value in tree.items() if value is not None}
    talk = found.get(CONVERSATION)
    return found | {CONVERSATION: f"{talk}"} if isinstance(talk, int) and not isinstance(talk, bool) else found


def _failure(path: str, fault: str) -> WrongFileError:
    return WrongFileError(f"{path}: {fault}; {SAYS}")


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
        if "" in plan.models:
            yield f"accounts[{place}].models: '' is no model"
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
