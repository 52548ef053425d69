"""The ledger: one request as a JSON line, as a row, and back."""

import json
import math
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

type Line = Mapping[str, Any]
type Row = dict[str, Any]

FIELDS = (
    "at",
    "id",
    "conversation",
    "model",
    "path",
    "account",
    "because",
    "tried",
    "status",
    "first_byte_ms",
    "total_ms",
    "usage",
    "answer",
    "ended",
)
LONGEST = 500  # characters of one text: some are the client's own words
MOST_TRIED = 100  # attempts kept of one request
LARGEST = 2**53  # from here on JSON's readers round
_USAGE = ("input", "output", "cache_read", "cache_write_5m", "cache_write_1h")


def row_of(line: Line) -> Row:
    """Turn a line into a row: only the known fields, and only sound numbers. Raises TypeError on a line without a time."""
    at = line.get("at")
    if not isinstance(at, str):
        raise TypeError("a request without its time")
    usage, tried = line.get("usage"), line.get("tried")
    return {
        "at": datetime.fromisoformat(at).astimezone(UTC),
        "id": text(line.get("id")) or "",
        "conversation": text(line.get("conversation")),
        "model": text(line.get("model")),
        "path": text(line.get("path")),
        "account": text(line.get("account")),
        "because": text(line.get("because")),
        "tried": json.dumps([_attempt(one) for one in _list(tried)[-MOST_TRIED:]], separators=(",", ":")),
        "status": count(line.get("status")),
        "first_byte_ms": number(line.get("first_byte_ms")),
        "total_ms": number(line.get("total_ms")),
        "usage": json.dumps(_usage(usage), separators=(",", ":")) if isinstance(usage, Mapping) else None,
        "answer": text(line.get("answer")),
        "ended": text(line.get("ended")),
    }


def line_of(row: Mapping[str, Any]) -> dict[str, Any]:
    """Turn a row back into its line, its fields in their order."""
    line = {name: row[name] for name in FIELDS}
    line["at"] = row["at"].astimezone(UTC).isoformat(timespec="milliseconds")
    line["tried"] = json.loads(row["tried"])
    line["usage"] = None if row["usage"] is None else json.loads(row["usage"])
    return line


def text(value: Any) -> str | None:
    """Cut a text to what any database takes; None when it is none."""
    if not isinstance(value, str):
        return None
    return value[:LONGEST].encode("utf-8", "replace").decode().replace("\0", "�")


def number(value: Any) -> float | None:
    """Pass a finite number that is not negative, else None."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if 0 <= value <= LARGEST and math.isfinite(value) else None


def count(value: Any) -> int | None:
    """Pass a whole number that is not negative, else None."""
    found = number(value)
    return found if isinstance(found, int) else None


def _attempt(value: Any) -> Row:
    tried = value if isinstance(value, Mapping) else {}
    return {
        "account": text(tried.get("account")),
        "status": count(tried.get("status")),
        "row": count(tried.get("row")),
        "verdict": text(tried.get("verdict")),
    }


def _usage(usage: Mapping[str, Any]) -> dict[str, int | None]:
    return {name: count(usage.get(name)) for name in _USAGE}


def _list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else []
