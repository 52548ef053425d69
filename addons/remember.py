"""Remember: hands what the Router learned, and every request that ended, to the state; the disk is never waited for."""

import asyncio
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from addons.aside import aside
from home.state.state import State
from home.state.stories import Story
from routing.observations import Restored
from routing.router import Router

EVERY = 0.1  # seconds between two looks at the Router; a kill -9 loses no more than this


class Remember:
    """Looks at the Router ten times a second; the file takes only what differs."""

    name = "flowpool_remember"

    def __init__(self, router: Router, state: State) -> None:
        """Tell the Router, which knows its accounts already, what the state remembers."""
        self._router = router
        self._state = state
        self._looked_at = time.monotonic()
        self._task: asyncio.Task[None] | None = None
        router.observe(Restored(remembered=state.remembered, at=datetime.now(UTC)))
        self._revision = 0

    def running(self) -> None:
        """Begin to look."""
        self._task = asyncio.create_task(self._watch(), name="flowpool-remember")

    def done(self) -> None:
        """Write the last of it."""
        if self._task is not None:
            self._task.cancel()
        self.look()
        self._state.close()

    async def flush(self) -> bool:
        """Have all that is known by now on the disk; False when that took too long."""
        self.look()
        return await aside(self._state.flush)

    def ended(self, line: Mapping[str, Any]) -> None:
        """Take the line of a request that ended; after a quiet while its holds and habits do not wait for the next look."""
        self._state.enter(line)
        if time.monotonic() - self._looked_at >= EVERY:
            self.look()

    def told(self, story: Story) -> None:
        """Take how a request that ended came to where it went."""
        self._state.tell(story)

    def look(self) -> None:
        """Hand over a picture if anything was observed since the last one."""
        self._looked_at = time.monotonic()
        if self._revision != self._router.revision:
            self._revision = self._router.revision
            self._state.put(self._router.remembered())

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(EVERY)
            self.look()
