"""Drain: stops accepting, answers what is in flight to its end, closes each connection after its answer, and ends the program."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from weakref import WeakSet

from mitmproxy import ctx, http
from mitmproxy.connection import Client

from addons import clients
from addons.exchange import EXCHANGES, Path
from home.tables import Limits

EVERY = 0.05  # seconds between two looks at what is still open
QUIET = 0.1  # seconds without a byte after which an idle connection is closed: its client may be about to ask
QUIET_BESIDE = 1.0  # the same where another proxy serves: a client that is closed on then may be one that is refused
STALE = (
    2.0  # seconds without a byte after which a tunnel that we cannot see into counts as idle, and a head that has begun
)
FAREWELL = 2.0  # seconds for those that end beside this process, and were told to do so at once
LAST_WORDS = 0.05  # seconds for what was said last to go out
SWITCHING = 101

logger = logging.getLogger(__name__)


class Drain:
    """One drain. is_on: whether it has begun. is_last: whether nobody serves in this process's place."""

    def __init__(self, limits: Limits, others: Callable[[], Sequence[object]] = tuple) -> None:
        """others: those that end beside this process, for whom it waits where it is the last one."""
        self.is_on = self.is_last = False
        self._others = others
        self._limits = limits
        self._asking: WeakSet[Client] = WeakSet()
        self._hurry = asyncio.Event()
        self._began = self._deadline = 0.0
        self._task: asyncio.Task[None] | None = None

    def begin(self, patience: float, release: Callable[[], None]) -> None:
        """Begin, or end sooner than was meant at first; patience: seconds. release: gives up the listening sockets."""
        now = asyncio.get_running_loop().time()
        if self.is_on:
            self._deadline = min(self._deadline, now + patience)
            return
        self.is_on, self._began, self._deadline = True, now, now + patience
        self._task = asyncio.get_running_loop().create_task(self._end(release), name="flowpool-drain")

    def at_once(self) -> None:
        """Wait for nothing, from the beginning or from now on."""
        self._hurry.set()

    def close_after(self, flow: http.HTTPFlow) -> None:
        """Have the connection closed after this answer; who asks how far we are may go on asking."""
        exchange = EXCHANGES.get(flow)
        if exchange is not None and exchange.path is Path.LOCAL:
            self._asking.add(flow.client_conn)
        elif flow.response is not None and flow.response.status_code != SWITCHING and not flow.request.is_http2:
            flow.response.headers["connection"] = "close"

    async def _end(self, release: Callable[[], None]) -> None:
        try:
            for instance in list(ctx.master.addons.get("proxyserver").servers):
                if instance.is_running:
                    await instance.stop()
            release()
            await self._wait()
            await _cut()
            await self._part()
            logger.info("flowpool: ended")
        except Exception:
            logger.exception("flowpool: a fault of flowpool's own (drain)")
        finally:  # whatever went wrong, nobody would end this process otherwise
            ctx.master.shutdown()

    async def _wait(self) -> None:
        """Wait for what is in flight, here and beside us."""
        if count := clients.in_flight():
            logger.info("flowpool: %d in flight; to end within %g s", count, self._deadline - self._began)
        while not self._hurry.is_set() and asyncio.get_running_loop().time() < self._deadline:
            if not await self._is_open() and not (self.is_last and self._others()):
                return
            with suppress(TimeoutError):
                await asyncio.wait_for(self._hurry.wait(), EVERY)

    async def _part(self) -> None:
        """Let those beside us say their last words, too."""
        for _ in range(int(FAREWELL / EVERY)):
            if not (self.is_last and self._others()):
                return
            await asyncio.sleep(EVERY)

    async def _is_open(self) -> bool:
        """Close what is idle; whether anything is left that must be waited for."""
        found = False
        is_late = asyncio.get_running_loop().time() - self._began > self._limits.drain_s
        for handler in clients.connected():
            if is_late:
                await _close_sockets(handler)
            if clients.is_at_work(handler) or clients.sockets(handler):
                found = True
            elif handler.client not in self._asking:
                found = True
                if clients.is_quiet(handler, self._patience_with(handler)):
                    clients.close(handler)
        return found

    def _patience_with(self, handler: clients.Handler) -> float:
        """For how long a connection without a request must have been silent to be closed."""
        if clients.is_tunnel(handler):  # where another proxy serves nobody waits for us, so that silence there may last
            return STALE if self.is_last else max(STALE, self._limits.drain_s)
        if clients.is_reading(handler):
            return STALE
        return QUIET if self.is_last else QUIET_BESIDE


async def _cut() -> None:
    """Tell those who still wait that no more comes."""
    handlers = clients.connected()
    for handler in handlers:
        await _close_sockets(handler)
        await clients.cut(handler)
    if handlers:
        await asyncio.sleep(LAST_WORDS)


async def _close_sockets(handler: clients.Handler) -> None:
    for socket in clients.sockets(handler):
        await clients.close_socket(handler, socket)
