"""Ids of sessions and conversations as people type them: whole, or the beginning of one that no other begins with."""

import re
from collections.abc import Iterable
from typing import NamedTuple

from routing.pins import is_session

SHORT = 13
"""Letters of a session's id that are shown: a whole id is 36, and some begin alike."""
MOST = 5
"""Ids that are named where several begin alike."""
UNKNOWN = "no session or conversation that begins so is known; `flowpool why last` shows ids, or run: flowpool requests --json"

_WHOLE = re.compile(
    r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"  # a session that Claude Code names
    r"|((body|long)-)?[0-9a-f]{32}"  # a conversation, or a session that has its name from flowpool
)


class Meant(NamedTuple):
    """What an id that was typed stands for. is_known: whether a request of it came."""

    id: str
    is_known: bool


def meant(typed: str, known: Iterable[str]) -> Meant:
    """Find the one that is meant; a whole id that is not known yet is taken as it is. Raises ValueError, which says what would do."""
    alike = sorted({one for one in known if one.startswith(typed) and is_session(one)})
    if typed in alike or len(alike) == 1:
        return Meant(typed if typed in alike else alike[0], is_known=True)
    if alike:
        more = f" and {len(alike) - MOST} more" if len(alike) > MOST else ""
        raise ValueError(f"several begin so: {', '.join(alike[:MOST])}{more}; give more letters")
    if _WHOLE.fullmatch(typed):
        return Meant(typed, is_known=False)
    raise ValueError(UNKNOWN)
