"""Catch-up: what the proxy before still learns while it ends comes to this one by the state.

A conversation whose first answer it streams to the end must stick to its account here, too.
"""

from collections.abc import Callable
from datetime import UTC, datetime

from addons.aside import aside
from addons.predecessors import Predecessors
from addons.remember import Remember
from addons.rounds import Rounds
from routing.observations import Restored
from routing.remembered import Remembered
from routing.router import Router

EVERY = 1.0  # seconds between two looks


class CatchUp:
    """Looks until those before have ended, and once more. load: reads the state; it blocks."""

    name = "flowpool_catchup"

    def __init__(
        self,
        router: Router,
        remember: Remember,
        before: Predecessors,
        load: Callable[[], Remembered],
        *,
        every: float = EVERY,
    ) -> None:
        self._router, self._remember, self._load = router, remember, load
        self._before = before
        self._rounds = Rounds("catch-up", self.look, every)

    def running(self) -> None:
        """Begin to look, if there is anybody to look at."""
        if self._before.at_work():
            self._rounds.start()

    def done(self) -> None:
        """Look no more."""
        self._rounds.stop()

    async def look(self) -> None:
        """Take what they wrote. Their holds are left: the next answer tells what is true of them."""
        is_over = not self._before.at_work()
        await self._remember.flush()
        found = await aside(self._load)
        learned = Remembered(readings=found.readings, sticks=found.sticks, lines=found.lines)
        self._router.observe(Restored(remembered=learned, at=datetime.now(UTC)))
        if is_over:
            self._rounds.stop()
