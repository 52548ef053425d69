"""JSON with comments and trailing commas, read with the place of every part.

Pure. JSON knows neither comments nor trailing commas, but people write both; all else is refused that JSON refuses. The places let
jsonc_edit.py change one value and leave every other byte.
"""

import json
import re
from dataclasses import dataclass

DEEPEST = 100  # objects and lists inside each other; settings have five

_SPACE = re.compile(r"[ \t\r\n]*")
_COMMENT = re.compile(r"//[^\r\n]*|/\*.*?\*/", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]++|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+"')
_PLAIN = re.compile(r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?|true|false|null")
_LINE = re.compile(r"\r\n|\r|\n")
_BOM = "\ufeff"


class Malformed(ValueError):  # noqa: N818  # reads as the fact it states
    """A text is not what it must be. line: where, from 1. The words quote nothing of it."""

    def __init__(self, text: str, at: int, what: str) -> None:
        super().__init__(what)
        self.line = 1 + len(_LINE.findall(text[:at]))


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """A value and its place. members: of an object; None for all else.

    tail: in an object or list, the end of the last comma, value or comment, behind which something new can stand.
    """

    start: int
    end: int
    members: "tuple[Member, ...] | None" = None
    tail: int = 0

    @property
    def is_bare(self) -> bool:
        """Whether it is an object with nothing in it, not even a comment."""
        return self.members == () and self.tail == self.start + 1

    def get(self, key: str) -> "Member | None":
        """Return the member with this name; of several the last, which is the one that counts."""
        return next((one for one in reversed(self.members or ()) if one.key == key), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One member of an object.

    gap: where the white space right before its name begins. is_below: whether a comment ends there that goes to its line's end.
    named: where its name ends. comma: where the one behind it is.
    """

    key: str
    gap: int
    is_below: bool
    start: int
    named: int
    value: Value
    comma: int | None = None


def read(text: str) -> Value:
    """Return a text's one object; raise Malformed, also where the text is another value."""
    reader = _Reader(text)
    _, at = reader.skip(1 if text.startswith(_BOM) else 0)
    if text[at : at + 1] != "{":
        raise Malformed(text, at, "it must hold one JSON object")
    found = reader.value(at, 0)
    _, at = reader.skip(found.end)
    if at != len(text):
        raise Malformed(text, at, "something stands behind the object's end")
    return found


class _Reader:
    """Reads from one place of the text on."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._notes: set[int] = set()  # where comments end that go to their line's end

    def skip(self, at: int) -> tuple[int, int]:
        """Pass white space and comments; return the end of the last comment (else at), and where they are over."""
        gap = at
        while True:
            at = self._match(_SPACE, at) or at
            if self.text[at : at + 1] != "/":
                return gap, at
            end = self._match(_COMMENT, at)
            if end is None:
                raise Malformed(
                    self.text, at, "a comment does not end" if self.text[at + 1 : at + 2] == "*" else _WRONG
                )
            if self.text[at + 1] == "/":
                self._notes.add(end)
            gap = at = end

    def value(self, at: int, depth: int) -> Value:
        """Read the value that begins here."""
        if depth > DEEPEST:
            raise Malformed(self.text, at, f"more than {DEEPEST} objects and lists inside each other")
        first = self.text[at : at + 1]
        if first == "{":
            return self._object(at, depth)
        if first == "[":
            return self._list(at, depth)
        end = self._match(_STRING if first == '"' else _PLAIN, at)
        if end is None:
            raise Malformed(self.text, at, _UNENDED if first == '"' else _WRONG if first else _OVER)
        return Value(start=at, end=end)

    def _object(self, start: int, depth: int) -> Value:
        members: list[Member] = []
        end = start + 1
        while True:
            gap, at = self.skip(end)
            if self.text[at : at + 1] == "}":
                return Value(start=start, end=at + 1, members=tuple(members), tail=gap)
            if members and members[-1].comma is None:
                raise Malformed(self.text, at, _OVER if at == len(self.text) else "a comma or } is missing")
            named = self._match(_STRING, at)
            if named is None:
                raise Malformed(self.text, at, _OVER if at == len(self.text) else "a name in double quotes is missing")
            _, colon = self.skip(named)
            if self.text[colon : colon + 1] != ":":
                raise Malformed(self.text, colon, "a colon is missing")
            _, begin = self.skip(colon + 1)
            value = self.value(begin, depth + 1)
            comma, end = self._comma(value.end)
            key, is_below = json.loads(self.text[at:named]), gap in self._notes
            members.append(Member(key=key, gap=gap, is_below=is_below, start=at, named=named, value=value, comma=comma))

    def _list(self, start: int, depth: int) -> Value:
        end, is_open = start + 1, True
        while True:
            gap, at = self.skip(end)
            if self.text[at : at + 1] == "]":
                return Value(start=start, end=at + 1, tail=gap)
            if not is_open:
                raise Malformed(self.text, at, _OVER if at == len(self.text) else "a comma or ] is missing")
            comma, end = self._comma(self.value(at, depth + 1).end)
            is_open = comma is not None

    def _comma(self, end: int) -> tuple[int | None, int]:
        """Return where the comma behind a value is, None when there is none, and where to read on."""
        _, at = self.skip(end)
        return (at, at + 1) if self.text[at : at + 1] == "," else (None, end)

    def _match(self, pattern: re.Pattern[str], at: int) -> int | None:
        found = pattern.match(self.text, at)
        return found.end() if found else None


_WRONG = "this is no JSON value"
_OVER = "the text ends too early"
_UNENDED = "a text in quotes does not end on its line, or holds a wrong escape"
