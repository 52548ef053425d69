"""Changes one value in a JSON text, comments and all, and leaves every other byte as it is.

Pure. What `put` adds, `drop` takes out again to the byte, except where an object was bare: then put its old text back.
A new member comes last, laid out as its neighbour is.
"""

import json
import re

from flowpool.launch.jsonc import Malformed, Member, Value, read

type Keys = tuple[str, ...]
"""The names that lead to a value, outermost first."""

INDENT = "  "  # where the text shows none of its own

_BREAK = re.compile(r"\r\n|\n|\r")


def find(text: str, path: Keys) -> Value | None:
    """Return the value at a path, None when there is none. Raises Malformed, also where the path leads through no object."""
    found: Value | None = read(text)
    for key in path:
        if found is None:
            return None
        member = _members(text, found).get(key)
        found = member.value if member else None
    return found


def raw(text: str, path: Keys) -> str | None:
    """Return the text of the value at a path, None when there is none; raise like find."""
    found = find(text, path)
    return None if found is None else text[found.start : found.end]


def put(text: str, path: Keys, value: str) -> str:
    """Let a value have this text; its parent must be there. Raises Malformed."""
    old = find(text, path)
    if old is not None:
        return text[: old.start] + value + text[old.end :]
    parent = find(text, path[:-1])
    assert parent is not None  # noqa: S101  # whoever calls puts parents first
    return _add(text, _members(text, parent), path, value)


def drop(text: str, path: Keys) -> str:
    """Take a member out, with its comma and the white space before it; comments stay. Raises Malformed."""
    parent = find(text, path[:-1])
    member = parent and parent.get(path[-1])
    if not parent or not member:
        return text
    head, rest = text[: member.gap], text[member.value.end :]
    before = _before(parent, member)
    if member.comma is not None:
        rest = text[member.value.end : member.comma] + text[member.comma + 1 :]
    elif before is not None and before.comma is not None:
        head = text[: before.comma] + text[before.comma + 1 : member.gap]
    if member.is_below and not rest.lstrip(" \t").startswith(("\r", "\n")):
        head += _line_break(text)  # what follows must not become part of the comment
    return head + rest


def _members(text: str, value: Value) -> Value:
    if value.members is None:
        raise Malformed(text, value.start, "an object must stand here")
    return value


def _before(parent: Value, member: Member) -> Member | None:
    members = parent.members or ()
    at = members.index(member)
    return members[at - 1] if at else None


def _add(text: str, parent: Value, path: Keys, value: str) -> str:
    name = json.dumps(path[-1])
    if parent.is_bare:
        margin, closing = _bare_layout(text, path)
        return f"{text[: parent.start]}{{{margin}{name}{_colon(text)}{value}{closing}}}{text[parent.end :]}"
    last = parent.members[-1] if parent.members else None
    margin = _margin(text, parent, path)
    added = f"{margin}{name}{_colon(text)}{value}"
    head, tail = text[: parent.tail], text[parent.tail :]
    if last is None:
        return head + added + tail
    if last.comma is not None:  # the person ends with commas: so do we
        return f"{head}{added},{tail}"
    end = last.value.end
    return f"{head[:end]},{head[end:]}{added}{tail}"


def _bare_layout(text: str, path: Keys) -> tuple[str, str]:
    """Return the white space before and behind the only member of an object that was bare."""
    root = read(text)
    if root.members and not _has_break(_gap(text, root.members[0])):
        return "", ""  # all stands on one line
    unit = _last_line(_gap(text, root.members[0])) if root.members else INDENT
    line = _line_break(text)
    return f"{line}{unit * len(path)}", f"{line}{unit * (len(path) - 1)}"


def _margin(text: str, parent: Value, path: Keys) -> str:
    """Return the white space before a member that comes behind others, or behind a comment."""
    members = parent.members or ()
    gap = _gap(text, members[-1]) if members else ""
    if _has_break(gap):
        margin = _line_break(text) + _last_line(gap)
    elif len(members) > 1:
        margin = gap
    elif members:
        margin = " " if _colon(text).endswith(" ") else ""
    else:
        margin = _bare_layout(text, path)[0]
    inside = text[members[-1].value.end if members else parent.start + 1 : parent.tail]
    if inside.strip(" \t\r\n,") and not _has_break(margin):  # behind a comment, which may go to its line's end
        return _line_break(text)
    return margin


def _colon(text: str) -> str:
    """Return a colon as the text's first member has it."""
    first = (read(text).members or (None,))[0]
    shown = text[first.named : first.value.start] if first else ""
    return shown if re.fullmatch(r"[ \t]*:[ \t]*", shown) else ": "


def _gap(text: str, member: Member) -> str:
    return text[member.gap : member.start]


def _has_break(space: str) -> bool:
    return _BREAK.search(space) is not None


def _last_line(space: str) -> str:
    return _BREAK.split(space)[-1]


def _line_break(text: str) -> str:
    found = _BREAK.search(text)
    return found[0] if found else "\n"
