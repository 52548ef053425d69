"""Life: how the proxy ends, and how another one takes its place.

What a restart leaves to this process may take as long as an answer may, for the next one serves already. See
docs/decisions/0013-no-supervisor.md.
"""

import asyncio
import logging
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path as File
from typing import Any

from mitmproxy import http

from addons import clients
from addons.aside import aside
from addons.drain import Drain
from addons.follow import is_at_terminal
from addons.handover import Handover, NoSuccessorError
from addons.predecessors import ENDS, ENDS_NOW, Predecessors
from home.errors import HomeError
from home.tables import Limits

logger = logging.getLogger(__name__)


class CannotRestartError(Exception):
    """No other process can follow now; the message says why."""


class Life:
    """One drain, after a signal, an instruction or a restart.

    turn_away: has requests that wait inside the proxy answered, now and from here on. rest: end what is done in the background. flush:
    what was learned is on the disk once it has returned. check: raises HomeError where a next proxy could not start; it blocks.
    again: lets this process be found, where one that was to follow said already that it serves. before: those that end when this one does.
    """

    name = "flowpool_life"

    def __init__(
        self,
        limits: Limits,
        *,
        turn_away: Callable[[], None],
        rest: Iterable[Callable[[], None]],
        flush: Callable[[], Awaitable[object]],
        check: Callable[[], object],
        again: Callable[[], None] = lambda: None,
        before: Predecessors | None = None,
    ) -> None:
        self.handover: Handover | None = None
        self.becomes = False  # whether this process is to start anew when it has ended
        self.successor: int | None = None  # the process id of the one that serves instead
        self._limits = limits
        self._turn_away, self._rest, self._flush, self._check = turn_away, tuple(rest), flush, check
        self._again, self._before = again, before or Predecessors()
        self._drain = Drain(limits, self._before.at_work)
        self._spawning: asyncio.Task[int] | None = None

    def running(self) -> None:
        """Take the signals from mitmproxy, which would end at once."""
        for number in (signal.SIGINT, signal.SIGTERM):
            on(number, self.signalled)
        if self.handover is None:
            return
        for told, now in ((ENDS, False), (ENDS_NOW, True)):  # by the process that came after this one
            if told is not None:
                on(told, partial(self.stop, now=now))
        if hasattr(signal, "SIGHUP"):
            # At a terminal it says that the terminal has gone.
            on(signal.SIGHUP, self.signalled if is_at_terminal() else self._hung_up)

    def responseheaders(self, flow: http.HTTPFlow) -> None:
        """Have the connection closed after this answer, if we are about to end."""
        if self._drain.is_on:
            self._drain.close_after(flow)

    def response(self, flow: http.HTTPFlow) -> None:
        """The same of an answer of our own."""
        if self._drain.is_on:
            self._drain.close_after(flow)

    @property
    def is_ending(self) -> bool:
        """Whether this process takes nothing new."""
        return self._drain.is_on

    def health(self) -> tuple[int, dict[str, Any]]:
        """Status and document of who asks whether we are well."""
        if not self._drain.is_on:
            return 200, {"status": "ok", "pid": os.getpid()}
        return 503, {"status": "draining", "pid": os.getpid(), **self._left()}

    def signalled(self) -> None:
        """End; at once, when it was said before."""
        self.stop(now=self._drain.is_last and not self.becomes)

    def _hung_up(self) -> None:
        asyncio.get_running_loop().create_task(self._restarted(), name="flowpool-restart")

    async def _restarted(self) -> None:
        with suppress(CannotRestartError):  # it was logged
            await self.restart()

    def stop(self, *, now: bool = False) -> Mapping[str, Any]:
        """End when what is in flight has; now: without waiting for it. Tells for how many seconds that may last, and of how many requests."""
        self.becomes = False
        if self._spawning is not None:
            self._spawning.cancel()
        if self.successor is None and (now or not self._drain.is_last):  # else that one tells them
            self._before.end(now=now)
        if now:
            self._drain.at_once()
        if not self._drain.is_last:
            self._drain.is_last = True
            if self.handover is not None and not self._drain.is_on:
                self.handover.notify.stopping("answering what is in flight")
            self._end(self._limits.drain_s)
            self._turn_away()
        return {"stopping": True, "pid": os.getpid(), **self._left(), "within": self._limits.drain_s}

    def _left(self) -> dict[str, Any]:
        """What is waited for."""
        earlier = self._before.pids() if self.successor is None else []
        return {"in_flight": clients.in_flight()} | ({"earlier": earlier} if earlier else {})

    async def restart(self) -> Mapping[str, Any]:
        """Let another process take over; who it is. Raises CannotRestartError, which is logged, too."""
        try:
            return await self._restart()
        except CannotRestartError as error:
            logger.warning("flowpool: no restart: %s", error)
            raise

    async def _restart(self) -> Mapping[str, Any]:
        handover = self.handover
        if handover is None:
            raise CannotRestartError(_why_not())
        self._refuse_at_the_end()
        try:
            await aside(self._check)
        except HomeError as error:
            raise CannotRestartError(" / ".join(str(error).splitlines())) from error
        self._refuse_at_the_end()  # which may have begun meanwhile
        if handover.in_place:
            self._become()
            return {"pid": os.getpid(), "in_place": True, "within": self._limits.drain_s}
        return {"pid": await self._succeeded(handover), "in_place": False}

    def _refuse_at_the_end(self) -> None:
        if self._drain.is_on:
            raise CannotRestartError("this proxy is about to end")

    def _become(self) -> None:
        """Start anew in this process; whoever comes meanwhile waits in the socket's backlog, so nothing else may."""
        logger.info("flowpool: starting anew in this process")
        self.becomes = self._drain.is_last = True
        self._end(self._limits.drain_s)
        self._turn_away()

    async def _succeeded(self, handover: Handover) -> int:
        if self._spawning is None:
            self._spawning = asyncio.create_task(self._spawn(handover), name="flowpool-handover")
        try:
            return await asyncio.shield(self._spawning)
        except NoSuccessorError as error:
            raise CannotRestartError(str(error)) from error
        except asyncio.CancelledError:
            raise CannotRestartError("this proxy is about to end") from None

    async def _spawn(self, handover: Handover) -> int:
        try:
            await self._flush()
            pid = await handover.spawn()
        except BaseException:
            self._again()
            raise
        finally:
            self._spawning = None
        self.successor = pid
        logger.info("flowpool: process %d serves from now on", pid)
        handover.notify.handed_over(pid)
        self._end(self._limits.stream_total_s)
        return pid

    def _end(self, patience: float) -> None:
        """Begin to end, or end sooner than was meant at first."""
        if not self._drain.is_on:
            for rest in self._rest:
                rest()
        self._drain.begin(patience, self._release)

    def _release(self) -> None:
        if self.handover is not None and not self.becomes:
            self.handover.listeners.close()


def _why_not() -> str:
    if sys.platform == "win32":
        return "this system cannot hand a listening socket on; run: flowpool stop, then flowpool start"
    program = File(sys.argv[0]).stem
    return f"it runs in {program}; stop it there and start it again"


def on(number: signal.Signals, call: Callable[[], object]) -> None:
    """Have a signal call something on the event loop."""
    loop = asyncio.get_running_loop()
    try:
        loop.add_signal_handler(number, call)
    except NotImplementedError:  # Windows
        signal.signal(number, lambda *_: loop.call_soon_threadsafe(call))
