"""Conversations made up for the simulator: when their turns come, and how many tokens each of them holds."""

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

HOUR = 3600  # seconds
DAY = 24 * HOUR
FIVE_MINUTES = 300
FORTNIGHT = 12  # days, from its first Monday to its last Friday
_WORKDAYS = 5
_FRESH = (800, 2200)  # tokens that a turn adds to the prompt: a tool's result, a person's words
_OUTPUT = (300, 1100)  # tokens that are answered

type Talks = Iterator[list[dict[str, Any]]]
"""The turns of one conversation after the other's, as the simulator's file holds them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Manner:
    """How a conversation goes; every pair is the least and the most, and what is drawn lies evenly between.

    turns: how many. pace: seconds from one turn to the next. start: tokens of context at the first turn.
    models: the family of models to its weight. ttl: seconds the prompt cache lives after each use.
    gap: seconds of a longer pause. gaps: the share of the turns that come after one.
    """

    turns: tuple[int, int] = (27, 43)
    pace: tuple[int, int] = (80, 130)
    start: tuple[int, int] = (18_000, 32_000)
    models: tuple[tuple[str, int], ...] = (("opus", 7), ("sonnet", 3))
    ttl: int = HOUR
    gap: tuple[int, int] = (300, 900)
    gaps: float = 0.03


def talk(draw: Random, name: str, at: int, manner: Manner) -> list[dict[str, Any]]:
    """Make the turns of one conversation that starts at this second; each one's context is all that came before it."""
    families, weights = zip(*manner.models, strict=True)
    (model,) = draw.choices(families, weights)
    turns, context = [], draw.randint(*manner.start)
    for number in range(draw.randint(*manner.turns)):
        if number:
            at += draw.randint(*(manner.gap if draw.random() < manner.gaps else manner.pace))
        turn = {"at": at, "conversation": name, "model": model, "context": context}
        turn |= {"fresh": draw.randint(*_FRESH), "output": draw.randint(*_OUTPUT), "ttl": manner.ttl}
        context += turn["fresh"] + turn["output"]
        turns.append(turn)
    return turns


def workdays(days: int) -> Iterator[int]:
    """Give the midnights before the workdays among so many days."""
    yield from (day * DAY for day in range(days) if day % 7 < _WORKDAYS)


def desks(
    draw: Random,
    manner: Manner,
    *,
    count: int = 4,
    hours: tuple[float, float] = (9, 17),
    days: int = FORTNIGHT,
    rest: int = 25 * 60,
) -> Talks:
    """Hold conversations one after the other at each of so many desks; none starts outside these hours of a workday.

    hours: o'clock, beyond 24 the next morning's. days: from the first Monday on.
    rest: the longest pause between two conversations, in seconds.
    """
    for day in workdays(days):
        for desk in range(count):
            at = day + int(hours[0] * HOUR) + draw.randint(0, rest)
            while at < day + hours[1] * HOUR:
                turns = talk(draw, f"day-{day // DAY + 1}-desk-{desk + 1}-at-{at}", at, manner)
                yield turns
                at = turns[-1]["at"] + draw.randint(60, rest)
