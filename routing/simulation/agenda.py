"""What is to come in a play, in the order of time."""

from collections.abc import Iterable
from heapq import heappop, heappush

from routing.simulation.workload import Outside, Turn

_OUTSIDE, _WOKEN, _TURN = range(3)  # the order of what happens at one moment


class Agenda[Pause]:
    """Outside use, turns, and turns whose pause ends then; at one moment in this order, but those that waited before new ones."""

    def __init__(self, events: Iterable[Outside | Turn]) -> None:
        """Take events that are sorted already."""
        self._heap: list[tuple[float, int, int, Outside | Turn | Pause]] = [
            (event.at, _OUTSIDE if isinstance(event, Outside) else _TURN, number, event)
            for number, event in enumerate(events)
        ]
        self._count = len(self._heap)

    def __bool__(self) -> bool:
        return bool(self._heap)

    def wake(self, at: float, pause: Pause) -> None:
        """Let a pause end then."""
        heappush(self._heap, (at, _WOKEN, self._count, pause))
        self._count += 1

    def next(self) -> tuple[float, int, Outside | Turn | Pause]:
        """Take out what comes next: when, its number, and what; no two have one number."""
        at, _, number, what = heappop(self._heap)
        return at, number, what
