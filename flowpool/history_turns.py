"""Turns out of the request ledger: how long each one's context was, which the ledger does not say, and for how long it stayed warm.

context   what a cache held or should have held of the question. Of a conversation's first turn with a model: all that was read
          or written. Of a later one: where the account that answered last was asked again in time, what was read; else
          all that was said up to the turn before, as far as this one read or wrote so much.
fresh     the rest of the question
ttl       an hour or five minutes, whichever was written last in the conversation; an hour where nothing was
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

HOUR, FIVE_MINUTES = 3600.0, 300.0  # seconds
TURNS = "/v1/messages"
CLIENT = "client"  # its own login served

type Line = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoken:
    """One answered turn. account: the name of who served it. warm: the part of the context that was read from a cache."""

    at: datetime
    ended_at: datetime
    conversation: str
    model: str
    account: str
    context: int
    fresh: int
    output: int
    warm: int
    ttl: float


def spoken(lines: Iterable[Line]) -> tuple[list[Spoken], int]:
    """Read turns out of lines in the order in which they began, and count those that told no tokens."""
    turns: list[Spoken] = []
    last: dict[tuple[str, str], Spoken] = {}
    left_out = 0
    asked = [line for line in lines if line["path"] == TURNS and line["account"] != CLIENT]
    for line in sorted(asked, key=lambda line: datetime.fromisoformat(line["at"])):
        if line["usage"] is None or line["account"] is None or not line["model"]:
            left_out += 1
            continue
        conversation = line["conversation"] or f"alone {line['id']}"
        turn = _spoken(line, conversation, last.get((conversation, line["model"])))
        last[conversation, turn.model] = turn
        turns.append(turn)
    return turns, left_out


def _spoken(line: Line, conversation: str, before: Spoken | None) -> Spoken:
    usage = {name: count or 0 for name, count in line["usage"].items()}
    read, written = usage["cache_read"], usage["cache_write_5m"] + usage["cache_write_1h"]
    at, account = datetime.fromisoformat(line["at"]), line["account"]
    ttl = _ttl(usage, before)
    context = _context(before, account, at, ttl, read=read, cached=read + written)
    return Spoken(
        at=at,
        ended_at=at + timedelta(milliseconds=line["total_ms"] or 0),
        conversation=conversation,
        model=line["model"],
        account=account,
        context=context,
        fresh=usage["input"] + read + written - context,
        output=usage["output"],
        warm=min(read, context),
        ttl=ttl,
    )


def _ttl(usage: Mapping[str, int], before: Spoken | None) -> float:
    if usage["cache_write_1h"]:
        return HOUR
    if usage["cache_write_5m"]:
        return FIVE_MINUTES
    return HOUR if before is None else before.ttl


def _context(before: Spoken | None, account: str, at: datetime, ttl: float, *, read: int, cached: int) -> int:
    if before is None:
        return cached
    if before.account == account and at - before.at <= timedelta(seconds=ttl):
        return read
    return min(before.context + before.fresh + before.output, cached)
