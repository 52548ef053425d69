"""Rounds: what an addon does again and again, from the proxy's start to its end."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

logger = logging.getLogger(__name__)


class Rounds:
    """Goes one round after another, with a pause between two; a round that fails is logged, for the next may go well.

    name: of the duty, for the log. pause: seconds.
    """

    def __init__(self, name: str, go: Callable[[], Awaitable[None] | None], pause: float) -> None:
        self._name = name
        self._go = go
        self._pause = pause
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin, on the running loop."""
        self._task = asyncio.create_task(self._run(), name=f"flowpool-{self._name}")

    def stop(self) -> None:
        """Go no further."""
        if self._task is not None:
            self._task.cancel()

    async def _run(self) -> None:
        while True:
            try:
                if (going := self._go()) is not None:
                    await going
            except Exception:
                logger.exception("flowpool: a fault of flowpool's own (%s)", self._name)
            await asyncio.sleep(self._pause)
