"""A place where answers wait until the test lets them go on."""

from __future__ import annotations

import asyncio
import threading


class Gate:
    """opened is set on the loop; reached is what the test's thread waits for."""

    def __init__(self) -> None:
        self.opened = asyncio.Event()
        self.reached = threading.Event()

    async def pass_through(self) -> None:
        """Come to the gate and go on once it is open."""
        self.reached.set()
        await self.opened.wait()
