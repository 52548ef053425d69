"""Loaded into the proxy beside flowpool: SIGUSR1 has it say what is alive of the requests that it served."""

from __future__ import annotations

import asyncio
import gc
import logging
import signal
from collections import Counter

from mitmproxy.http import HTTPFlow

from addons.exchange import EXCHANGES, Exchange
from addons.replay import ReplayStream

COUNTED = (HTTPFlow, Exchange, ReplayStream)


class Census:
    """Counts objects."""

    def running(self) -> None:
        """Wait for the signal."""
        asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, self._count)

    def _count(self) -> None:
        gc.collect()
        alive = Counter(type(one) for one in gc.get_objects() if isinstance(one, COUNTED))
        said = " ".join(f"{kind.__name__}={alive[kind]}" for kind in COUNTED)
        logging.getLogger(__name__).warning("census: %s known=%d.", said, len(EXCHANGES))


addons = [Census()]
