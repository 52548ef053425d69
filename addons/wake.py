"""Wake: notices that this machine slept, so that no request goes out on a connection that the sleep has cut.

Idle connections are closed. What is on its way stays, for a short sleep does it no harm; the system is made to find out within some
seconds whether the other side is still there, which else would take a request's whole patience. What fails then blames nobody.
"""

import logging
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass

from mitmproxy import ctx
from mitmproxy.connection import Server

from addons.rounds import Rounds

EVERY = 1.0  # seconds between two looks at the clocks
AHEAD = 5.0  # seconds by which one clock must have left the other behind
_BOOT = getattr(time, "CLOCK_BOOTTIME", None)
KEEPALIVE = {  # option: seconds, a count, or milliseconds; each system has some of them
    "TCP_KEEPIDLE": 1,
    "TCP_KEEPALIVE": 1,
    "TCP_KEEPINTVL": 5,
    "TCP_KEEPCNT": 3,
    "TCP_USER_TIMEOUT": 20_000,
}

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Moment:
    """One instant by several clocks, in seconds. awake: stands still in a sleep; boot: does not; None where there is no such clock."""

    wall: float
    awake: float
    boot: float | None = None


def moment() -> Moment:
    """Look at the clocks."""
    boot = None if _BOOT is None else time.clock_gettime(_BOOT)
    return Moment(wall=time.time(), awake=time.monotonic(), boot=boot)


def slept(before: Moment, after: Moment) -> float:
    """How long this machine slept between two moments, in seconds; 0 when it did not.

    The wall clock counts beside the boot's, which stands still in a machine that somebody else paused. It may also have been set: then
    some connections are made anew for nothing.
    """
    passed = after.awake - before.awake
    ahead = [after.wall - before.wall - passed]
    if before.boot is not None and after.boot is not None:
        ahead.append(after.boot - before.boot - passed)
    longest = max(ahead)
    return longest if longest >= AHEAD else 0.0


class Wake:
    """Looks at the clocks; woke: called when they tell of a sleep."""

    name = "flowpool_wake"

    def __init__(
        self, woke: Callable[[], None], *, every: float = EVERY, clocks: Callable[[], Moment] = moment
    ) -> None:
        self._woke = woke
        self.clocks = clocks
        self._last: Moment | None = None
        self._rounds = Rounds("wake", self.look, every)

    def running(self) -> None:
        """Begin to look."""
        self._rounds.start()

    def done(self) -> None:
        """Look no more."""
        self._rounds.stop()

    def look(self) -> None:
        """Compare the clocks with how they stood at the last look."""
        last, now = self._last, self.clocks()
        self._last = now
        if last is None or not (length := slept(last, now)):
            return
        logger.info("flowpool: this machine slept for %.0f s; idle connections to providers are closed", length)
        for found in _sockets():
            doubt(found)
        self._woke()


def doubt(found: socket.socket) -> None:
    """Have the system find out soon whether the other side of a connection is still there."""
    with suppress(OSError):  # a socket of another kind, or one that has just been closed
        found.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in KEEPALIVE.items():
        if (option := getattr(socket, name, None)) is not None:
            with suppress(OSError):
                found.setsockopt(socket.IPPROTO_TCP, option, value)


def _sockets() -> Iterator[socket.socket]:
    """The sockets of all connections to servers."""
    for handler in ctx.master.addons.get("proxyserver").connections.values():
        for connection, transport in handler.transports.items():
            if isinstance(connection, Server) and transport.writer is not None:
                found = transport.writer.get_extra_info("socket")
                if found is not None:
                    yield found
