"""How a request came to where it went, as a row of the state, and back."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Protocol

LARGEST = 200_000  # characters of one story: 50 accounts weighed ten times


class Story(Protocol):
    """What is told of one request; put into words when it is written or asked for."""

    @property
    def id(self) -> str:
        """The request's id."""

    @property
    def at(self) -> datetime:
        """When it came."""

    def plain(self) -> dict[str, Any]:
        """Tell it as a document."""


def row_of(story: Story) -> dict[str, Any]:
    """Turn a story into a row. Raises ValueError when it is too long to keep."""
    told = json.dumps(story.plain(), separators=(",", ":"))
    if len(told) > LARGEST:
        raise ValueError("too long a story")
    return {"id": story.id, "at": story.at.astimezone(UTC), "told": told}


def story_of(row: Mapping[str, Any]) -> dict[str, Any] | None:
    """Turn a row back into the document; None when it is none."""
    try:
        found = json.loads(row["told"])
    except (ValueError, RecursionError, TypeError):
        return None
    return found if isinstance(found, dict) else None
