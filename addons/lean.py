"""Lean: a mitmproxy master with only what a reverse proxy needs, and the same addons as mitmdump loads."""

import asyncio
import logging
import os
import signal
import sys

from mitmproxy import master
from mitmproxy.addons import core, disable_h2c, errorcheck, next_layer, proxyserver, tlsconfig
from mitmproxy.options import Options

from addons import authority, follow, predecessors
from addons.handed import Handed, taken
from addons.handover import Handover
from addons.life import Life, on
from addons.listeners import Listeners
from addons.notify import Notify
from addons.options import keep, modes_of
from addons.refusing import StartError, refuse_all_taken, refuse_second
from home.paths import Home
from home.settings import Settings

QUIET = ("asyncio", "hpack", "quic")
"""Loggers that speak below warnings of nothing that concerns a reader of the log."""
SERVICE = "FLOWPOOL_SERVICE"
KNOWS_ONE_PROCESS = "launchd"
"""A service manager that takes the end of the process that it started for the end of the service."""
BLOCK, UNBLOCK = getattr(signal, "SIG_BLOCK", 0), getattr(signal, "SIG_UNBLOCK", 0)  # Windows has neither
CAN_HAND_ON = sys.platform != "win32"


class Begun:
    """Says that this proxy serves, to the one before and to the service manager."""

    name = "flowpool_begun"

    def __init__(self, handed: Handed, notify: Notify) -> None:
        self._handed, self._notify = handed, notify

    def running(self) -> None:
        """Say it when the other addons have started, too."""
        asyncio.get_running_loop().call_soon(self._say)

    def _say(self) -> None:
        self._handed.say_ready()
        if self._handed.follows is None:  # else the one before says who serves
            self._notify.ready()


def run(home: Home, settings: Settings, *, has_screen: bool = True) -> None:
    """Serve until a signal says stop; SystemExit when it cannot start. has_screen: whether anybody reads what mitmproxy says."""
    handed, notify = taken(), Notify.take(os.environ)
    listeners = _listeners(home, settings, handed)
    handover = Handover(
        listeners,
        notify,
        command=(sys.executable, "-P", "-m", "flowpool", "serve", *([] if has_screen else ["--no-screen"])),
        environ=dict(os.environ),
        before=predecessors.known(),
        in_place=os.environ.get(SERVICE) == KNOWS_ONE_PROCESS,
    )
    life = asyncio.run(_serve(home, settings, handover, has_screen=has_screen))
    if life.becomes:
        _hear(UNBLOCK)
        handover.become()
    if life.successor is not None and follow.is_at_terminal():
        follow.become(life.successor)


def _hear(how: int) -> None:
    """Be deaf to signals from when all is done to the end: who presses Ctrl-C once more would see a trace."""
    if hasattr(signal, "pthread_sigmask"):
        others = [one for one in (predecessors.ENDS, predecessors.ENDS_NOW) if one is not None]
        signal.pthread_sigmask(how, (signal.SIGINT, signal.SIGTERM, *others))


def _listeners(home: Home, settings: Settings, handed: Handed) -> Listeners:
    listeners = Listeners(handed.sockets)
    try:
        authority.prepare(home.state_folder)
        refuse_second(home)
        refuse_all_taken(settings, settings.listen.claude, listeners.has)
        for address in filter(None, (settings.listen.claude, settings.listen.forward)):
            listeners.open(address)
    except (StartError, OSError) as e:
        print(f"flowpool: {e}", file=sys.stderr)  # noqa: T201 - before there is a log
        raise SystemExit(2) from e
    listeners.drop_rest()
    listeners.serve()
    return listeners


async def _serve(home: Home, settings: Settings, handover: Handover, *, has_screen: bool) -> Life:
    logging.getLogger().setLevel(logging.INFO)
    for name in QUIET:
        logging.getLogger(name).setLevel(logging.WARNING)
    options = Options()
    lean = master.Master(options, with_termlog=has_screen)
    options.update(confdir=str(authority.prepare(home.state_folder)))
    # As in mitmdump, what chooses layers comes first: the proxyserver warns when it gets its mode and nobody does.
    lean.addons.add(core.Core(), disable_h2c.DisableH2C(), next_layer.NextLayer(), proxyserver.Proxyserver())
    options.update(mode=modes_of(settings, settings.listen.claude))
    keep(home, settings)
    from addons import pool  # noqa: PLC0415 - it is built when it is loaded, for the master that is there by then

    pool.life.handover = handover if CAN_HAND_ON else None
    begun = Begun(taken(), handover.notify)
    lean.addons.add(*pool.addons, tlsconfig.TlsConfig(), errorcheck.ErrorCheck(), begun)
    for number in (signal.SIGINT, signal.SIGTERM):
        on(number, lean.shutdown)  # until it serves; from then on they are the life's
    await lean.run()
    _hear(BLOCK)
    return pool.life
