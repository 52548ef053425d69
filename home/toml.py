"""TOML text as plain values, and the line on which each key stands."""

import re
import tomllib
from typing import Any

from home.errors import Fault

type Key = tuple[str | int, ...]
type Table = dict[str, Any]

_PLACE = re.compile(r"\s*\(at line (\d+), column \d+\)$")
_UNIT = re.compile(r"[\w.\"' -]+=\s*[+-]?[0-9][0-9_.]*\s*[A-Za-z%µ]+\s*(#.*)?")  # max = 4m
_BARE = re.compile(r"[\w.\"' -]+=\s*[A-Za-z_/~][^\"'=]*")  # strategy = perishing
_WORDS = re.compile(r"=\s*(True|TRUE|False|FALSE)\b")
_TWICE = re.compile(r"Cannot declare \(.*\) twice")
_END = " (at end of document)"


def parse(data: bytes) -> Table | Fault:
    """Read a document, or say what is wrong with it and where."""
    try:
        text = _text(data)
    except UnicodeDecodeError as error:
        return Fault(key="", line=data.count(b"\n", 0, error.start) + 1, message="not valid UTF-8")
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        return _fault(str(error), text)
    except (ValueError, RecursionError) as error:  # a number of 5000 digits, a thousand brackets
        return Fault(key="", line=None, message=f"not valid TOML: {type(error).__name__}")


def lines(data: bytes) -> dict[Key, int]:
    """Return the line, from 1, on which each table and key of a valid document begins; arrays of tables by position.

    Statement by statement: a line is added to the statement until it parses, since an unfinished one never does.
    """
    found: dict[Key, int] = {}
    counts: dict[Key, int] = {}
    table: Key = ()
    pending: list[str] = []
    for number, line in enumerate(_text(data).split("\n"), start=1):
        pending.append(line)
        try:
            statement = tomllib.loads("\n".join(pending))
        except ValueError:
            continue
        first, opening, pending = number - len(pending) + 1, pending[0], []
        if opening.lstrip().startswith("["):
            table = _header(statement, counts)
            found.setdefault(table, first)
        else:
            for key in _keys(statement):
                found.setdefault((*table, *key), first)
    return found


def _text(data: bytes) -> str:
    return data.decode("utf-8-sig").replace("\r\n", "\n")


def _header(statement: Table, counts: dict[Key, int]) -> Key:
    """Return the path that `[a.b]` or `[[a]]` opens; the latter counts up."""
    path: Key = ()
    value: Any = statement
    while value:
        if isinstance(value, list):
            counts[path] = counts.get(path, -1) + 1
            path, value = (*path, counts[path]), value[0]
        else:
            ((name, value),) = value.items()
            path = (*path, name)
    return path


def _keys(value: Any) -> list[Key]:
    """Return the paths of all keys, outer ones first."""
    if not isinstance(value, dict):
        return []
    return [key for name, inner in value.items() for key in [(name,), *((name, *rest) for rest in _keys(inner))]]


def _fault(message: str, text: str) -> Fault:
    place = _PLACE.search(message)
    line = int(place[1]) if place else text.count("\n") + 1
    above = text.split("\n")[:line]
    hint = _hint_twice(above) if _TWICE.match(message) else _hint(above[-1])
    return Fault(key="", line=line, message=f"not valid TOML: {_PLACE.sub('', message).removesuffix(_END)}{hint}")


def _hint_twice(lines: list[str]) -> str:
    """Say where the table stands that the last of these lines opens again: in a new config.toml each does already."""
    bare = [line.partition("#")[0].replace(" ", "").strip() for line in lines]
    place = bare.index(bare[-1]) + 1
    at = f"on line {place}" if place < len(bare) else "above"
    return f"; {bare[-1]} is {at} already: set it there, without the #"


def _hint(line: str) -> str:
    """Guess what a person meant who wrote a line that is no TOML."""
    if _UNIT.fullmatch(line.strip()):
        return "; a number has no unit here: write the number alone"
    if _WORDS.search(line):
        return "; true and false are written in small letters"
    return "; text needs quotes around it" if _BARE.fullmatch(line.strip()) else ""
