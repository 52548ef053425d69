"""Pauses: which requests wait inside the proxy, and how they are woken: by what may let them go on, or after this machine slept."""

from weakref import WeakSet

from mitmproxy import ctx
from mitmproxy.utils import asyncio_utils

from addons.events import Nudge, Woke
from addons.servers import has_ours
from addons.tunnels import TunnelStream

PAUSED: WeakSet[TunnelStream] = WeakSet()


def woke() -> None:
    """Tell every connection that this machine slept, and let paused streams look at the clock, which went on."""
    server = ctx.master.addons.get("proxyserver")
    for handler in list(server.connections.values()):
        if has_ours(handler.layer):
            asyncio_utils.create_task(handler.server_event(Woke()), name="tell a connection of a sleep", keep_ref=True)
    wake_paused()


def wake_paused() -> None:
    """Let every paused stream ask again, in its own connection's task."""
    server = ctx.master.addons.get("proxyserver") if PAUSED else None
    handlers = {} if server is None else server.connections
    for stream in list(PAUSED):
        handler = handlers.get(stream.context.client.id)
        # Waking one may have woken others already, who are dialling by now.
        if handler is not None and stream in PAUSED:
            stream.due = 0.0
            asyncio_utils.create_task(handler.server_event(Nudge()), name="wake a paused request", keep_ref=True)
