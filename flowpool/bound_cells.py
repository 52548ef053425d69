"""What the bound's program is built of: turns at the least that they can cost, and time in cells."""

import math
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from routing.simulation.workload import WEEK_S, Plan, Turn, Workload

SLACK = 1e-9  # of a time: what waits comes back at sums of fractions


class Cell(NamedTuple):
    """A span of time in which something happens, half-open, within one week of every account."""

    begins: float
    ends: float


class Least(NamedTuple):
    """A turn at the least that it can cost, with the last moment at which it may be asked."""

    turn: Turn
    until: float
    cost: float
    value: float


def least(workload: Workload, wait: float = 0.0) -> Iterator[Least]:
    """List the turns by time, each at the least that it costs in any play."""
    until: dict[str, float] = {}
    seen: dict[tuple[str, str], float] = {}
    for turn in sorted(workload.turns, key=lambda turn: turn.at):
        key = (turn.conversation, turn.model)
        may_be_warm = key in seen and turn.at - seen[key] <= turn.ttl + (SLACK * turn.at if wait else 0)
        latest = max(until.get(turn.conversation, turn.at), turn.at) + wait
        until[turn.conversation] = seen[key] = latest
        cold, warm = workload.price(turn, warm=False), workload.price(turn, warm=True)
        yield Least(turn, latest, min(cold, warm) if may_be_warm else cold, warm)


def cells(workload: Workload, turns: Sequence[Least], length: float) -> list[Cell]:
    """Cut time at every multiple of a length and at every reset of a week, and keep the spans in which something happens."""
    times = [one.until for one in turns] + [use.at for use in workload.outside]
    ends = max(times, default=0.0) + length
    resets = sorted({reset for plan in workload.accounts for reset in resets_of(plan, ends)})
    found: set[Cell] = set()
    for at, until in {(one.turn.at, one.until) for one in turns} | {(use.at, use.at) for use in workload.outside}:
        while True:
            cell = _cell(at, length, resets)
            found.add(cell)
            if until < cell.ends:
                break
            at = cell.ends  # noqa: PLW2901  # on to the next
    return sorted(found)


def _cell(at: float, length: float, resets: Sequence[float]) -> Cell:
    number, place = at // length, bisect_right(resets, at)
    begins = max(number * length, resets[place - 1]) if place else number * length
    return Cell(begins, min([(number + 1) * length, *resets[place : place + 1]]))


def resets_of(plan: Plan, until: float) -> Iterator[float]:
    """List the ends of its weeks, up to a moment."""
    first = plan.week_resets_at - WEEK_S * math.floor(plan.week_resets_at / WEEK_S)
    for number in range(math.floor(max(until - first, 0) / WEEK_S) + 1):
        yield first + number * WEEK_S
