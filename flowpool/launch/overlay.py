"""Lays values of ours over a JSON text of another program's, and lifts them again, so that the person's own come back.

Pure. Whoever calls writes the changes down before the text: they are all that lifting needs. Nothing of ours is ever taken for the
person's, however often laying was begun and not ended: a change knows every text that we may have put, and a wish knows ours by sight.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flowpool.launch import jsonc_edit
from flowpool.launch.jsonc import Malformed
from flowpool.launch.jsonc_edit import Keys

EMPTY = "{}\n"  # a file that was not there, before anything is put into it

type Theirs = Callable[[str], str | None]
"""Of a text that stands at a path, what is the person's; None when all of it is ours."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One place where we changed something, or were about to.

    was: the JSON text that stood there; None when nothing did, at the path () no file. ours: the texts that we may have put there,
    the latest last; empty at an object that was bare or missing, which is no value of ours.
    """

    path: Keys
    was: str | None
    ours: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """A text that is to stand at a path.

    value: returns it, told the person's own value there, None when they have none; None leaves that as it is.
    """

    path: Keys
    value: Callable[[Any], str | None]
    theirs: Theirs


@dataclass(frozen=True, slots=True, kw_only=True)
class Lifted:
    """What is left when our values are out. text: None when there is no file any more. changed: values that are another's by now."""

    text: str | None
    changed: tuple[Keys, ...] = ()


def lay(text: str | None, wishes: Sequence[Wish], known: Iterable[Change] = ()) -> tuple[str, tuple[Change, ...]]:
    """Return the text with what is wished, and all changes that are in it then, the order being that of lifting backwards.

    text: None when there is no file. known: the changes that were written down before. Raises Malformed.
    """
    before = {change.path: change for change in known}
    wished = {wish.path: wish.theirs for wish in wishes}
    given = text if text is None else _without(text, [one for one in before.values() if one.ours], wished)
    text, changes = _objects(given, wishes, before)
    for wish in wishes:
        text, change = _value(text, wish, before.get(wish.path))
        changes += [change] if change else []
    return text, tuple(changes)


def by_sight(text: str, wishes: Iterable[Wish]) -> tuple[Change, ...]:
    """Return changes that take out what is ours by sight, where none are known. Raises Malformed."""
    changes: list[Change] = []
    for wish in wishes:
        now = _text(_shown(text, wish.path))
        if now is not None and (left := wish.theirs(now)) != now:
            changes.append(Change(path=wish.path, was=None if left is None else json.dumps(left), ours=(now,)))
    return tuple(changes)


def lift(text: str | None, changes: Sequence[Change], theirs: Mapping[Keys, Theirs]) -> Lifted:
    """Return the text as it was before; what the person changed since stays. Raises Malformed."""
    changed: list[Keys] = []
    for change in reversed(changes):
        if text is None:
            break
        if not change.ours:
            text = _lift_object(text, change)
        elif (lifted := _lift_value(text, change, theirs.get(change.path, _all))) is None:
            changed.append(change.path)
        else:
            text = lifted
    return Lifted(text=text, changed=tuple(reversed(changed)))


def _without(text: str, values: Iterable[Change], wished: Mapping[Keys, Theirs]) -> str:
    """Lift what is not wished any more."""
    return lift(text, [one for one in values if one.path not in wished], {}).text or text


def _objects(text: str | None, wishes: Iterable[Wish], before: Mapping[Keys, Change]) -> tuple[str, list[Change]]:
    """Make the objects that are to hold our values, and note those that were missing or bare."""
    changes: list[Change] = []
    for path in dict.fromkeys(wish.path[:depth] for wish in wishes for depth in range(len(wish.path))):
        found = None if text is None else jsonc_edit.find(text, path)
        if text is None or found is None:
            text = EMPTY if text is None else jsonc_edit.put(text, path, "{}")
            changes.append(Change(path=path, was=None))
        elif found.is_bare:
            changes.append(Change(path=path, was=text[found.start : found.end]))
        elif path in before:
            changes.append(before[path])
    return EMPTY if text is None else text, changes


def _value(text: str, wish: Wish, before: Change | None) -> tuple[str, Change | None]:
    """Put one value; no change is noted where the person has it already, or wishes otherwise."""
    shown = jsonc_edit.raw(text, wish.path)
    now = _text(shown)
    is_known = before is not None and now is not None and now in before.ours
    was = before.was if before and is_known else _theirs(shown, now, wish.theirs)
    value = wish.value(None if was is None else json.loads(was))
    if value is None:
        return _back(text, before) if before and is_known else text, None
    if value == now and was == shown:
        return text, None
    earlier = before.ours if before else ()
    ours = (*(one for one in earlier if one != value), value)
    after = text if value == now else jsonc_edit.put(text, wish.path, json.dumps(value))
    return after, Change(path=wish.path, was=was, ours=ours)


def _theirs(shown: str | None, now: str | None, theirs: Theirs) -> str | None:
    """Return the JSON text of what is the person's of a value; as they wrote it where it is all theirs."""
    if now is None or (left := theirs(now)) == now:
        return shown
    return None if left is None else json.dumps(left)


def _lift_value(text: str, change: Change, theirs: Theirs) -> str | None:
    """Return the text without our value; None when another's stands there."""
    shown = _shown(text, change.path)
    if shown is None:
        return text
    now = _text(shown)
    if now is not None and now not in change.ours and (left := theirs(now)) not in (None, now):
        return jsonc_edit.put(text, change.path, json.dumps(left))
    if now is None or (now not in change.ours and theirs(now) == now):
        return None
    return _back(text, change)


def _lift_object(text: str, change: Change) -> str | None:
    """Return the text without an object of which nothing is left; None when that was the file."""
    try:
        found = jsonc_edit.find(text, change.path)
    except Malformed:
        if _is_broken(text):
            raise
        return text
    if found is None or not found.is_bare:
        return text
    if change.path or change.was is not None:
        return _back(text, change)
    return None if not (text[: found.start] + text[found.end :]).strip() else text


def _back(text: str, change: Change) -> str:
    if change.was is None:
        return jsonc_edit.drop(text, change.path)
    return jsonc_edit.put(text, change.path, change.was)


def _shown(text: str, path: Keys) -> str | None:
    """Return the text of a value; None also where no object leads to it any more."""
    try:
        return jsonc_edit.raw(text, path)
    except Malformed:
        if _is_broken(text):
            raise
        return None


def _is_broken(text: str) -> bool:
    try:
        jsonc_edit.find(text, ())
    except Malformed:
        return True
    return False


def _text(shown: str | None) -> str | None:
    """Return the text that a value is; None when it is another kind."""
    return json.loads(shown) if shown is not None and shown.startswith('"') else None


def _all(text: str) -> str | None:
    """All of a text is the person's."""
    return text
