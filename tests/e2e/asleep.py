"""Loaded into the proxy beside flowpool: SIGUSR1 has it believe that this machine has just slept for a minute."""

from __future__ import annotations

import asyncio
import signal
from dataclasses import replace

from mitmproxy import ctx

from addons.wake import Moment, Wake, moment

MINUTE = 60.0


class Asleep:
    """Sets the clocks of flowpool's own addon forward."""

    def __init__(self) -> None:
        self._slept = 0.0

    def running(self) -> None:
        """Wait for the signal."""
        asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, self._sleep)

    def _sleep(self) -> None:
        wake = ctx.master.addons.get("flowpool_wake")
        assert isinstance(wake, Wake)
        wake.clocks = self._clocks
        wake.look()  # what has passed so far is no sleep
        self._slept += MINUTE
        wake.look()

    def _clocks(self) -> Moment:
        now = moment()
        return replace(now, wall=now.wall + self._slept)


addons = [Asleep()]
