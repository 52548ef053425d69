"""The replaying layer: the streams of one client connection, and the one clock that they share.

Like addons/replay.py, whose streams it holds, this file knows mitmproxy's internals; tests/addons/test_replay.py pins what it uses.
"""

import time
from collections import deque

from mitmproxy import ctx
from mitmproxy.proxy import commands, events, layer

from addons import way as ways
from addons.events import Beat, Cut, Nudge, Overdue, Woke
from addons.http1 import make_tolerant
from addons.replay import ReplayStream
from addons.servers import ServersLayer, has_ours
from addons.table import TabledAddons
from addons.writes import joined

type Commands = layer.CommandGenerator[None]

TICK = 5.0
"""The clock of a connection wakes at least so often, in seconds, while a stream has a deadline."""


class ReplayLayer(ServersLayer):
    """The streams of one client connection, their server connections, and the one clock that they share.

    One clock, because mitmproxy keeps stream, flow and body alive until a requested wakeup fires.
    """

    clock: commands.RequestWakeup | None = None
    clock_at = 0.0

    def _handle_event(self, event: events.Event) -> Commands:
        yield from joined(self.hooked(event))

    def hooked(self, event: events.Event) -> Commands:
        """Take an event, and run the hooks that can be run on the spot; what they let go on follows as it would have."""
        addons = ctx.master.addons
        coming = deque([event])
        while coming:
            for command in self.handled(coming.popleft()):
                if (
                    isinstance(command, commands.StartHook)
                    and command.blocking
                    and isinstance(addons, TabledAddons)
                    and addons.ran(command)
                ):
                    coming.append(events.HookCompleted(command))
                else:
                    yield command

    def handled(self, event: events.Event) -> Commands:
        """Take an event; afterwards see when the clock must wake."""
        if isinstance(event, events.Wakeup) and event.command not in self.command_sources:
            if event.command is self.clock:
                self.clock = None
                yield from self.tick()
        elif isinstance(event, Nudge | Woke):
            yield from self.woke() if isinstance(event, Woke) else self.tick()
            yield from self.pass_down(event)
        elif isinstance(event, Cut):
            for stream in list(self.streams.values()):
                yield from self.event_to_child(stream, event)
        else:
            yield from super()._handle_event(event)
            if isinstance(event, events.Start):
                make_tolerant(self.connections[self.context.client])
        yield from self.wind()

    def pass_down(self, event: events.Event) -> Commands:
        """Tell the layers inside tunnels, which are ours too."""
        for stream in list(self.streams.values()):
            if has_ours(stream.child_layer):
                yield from self.event_to_child(stream, event)

    def woke(self) -> Commands:
        """Close what was idle: it may lead nowhere. What is on its way is left alone, and if it fails, that was the sleep."""
        used = set(self.waiting_for_establishment)
        for stream in self.streams.values():
            if not isinstance(stream, ReplayStream) or stream.exchange is None:
                used.add(stream.context.server)
            elif stream.is_busy:
                stream.has_slept = True
                used.add(stream.context.server)
        for connection in [one for one in self.connections if one not in used]:
            if self.is_kept(connection):
                yield from self.let_go(connection)

    def tick(self) -> Commands:
        """Tell each stream whose deadline has passed."""
        now = time.monotonic()
        for stream in list(self.streams.values()):
            if not isinstance(stream, ReplayStream):
                continue
            if stream.due is not None and stream.due <= now:
                yield from self.too_late(stream)
            if stream.beat_at is not None and stream.beat_at <= now:
                stream.beat_at = None
                yield from self.event_to_child(stream, Beat())  # where it awaits a connection, just after

    def too_late(self, stream: ReplayStream) -> Commands:
        """A stream's deadline passed: tell it, or end what it awaits."""
        if stream._paused is None:  # noqa: SLF001
            yield from self.event_to_child(stream, Overdue())
        else:
            stream.due = None
            yield from self.stop_connecting(stream)

    def stop_connecting(self, stream: ReplayStream) -> Commands:
        """Cancel a connection attempt that takes too long; it then fails like a refused one."""
        paused = stream._paused  # noqa: SLF001
        if paused is not None and isinstance(paused.command, commands.OpenConnection):
            yield commands.CloseConnection(paused.command.connection)
        for connection, waiting in list(self.waiting_for_establishment.items()):
            if paused is not None and paused.command in waiting:
                yield commands.CloseConnection(ways.socket_of(connection, self.connections))

    def wind(self) -> Commands:
        """Ask to be woken at the earliest deadline."""
        ours = [stream for stream in self.streams.values() if isinstance(stream, ReplayStream)]
        dues = [at for stream in ours for at in (stream.due, stream.beat_at) if at is not None]
        if not dues:
            return
        now = time.monotonic()
        at = min(*dues, now + TICK)
        if self.clock is None or at < self.clock_at - 0.001:
            self.clock, self.clock_at = commands.RequestWakeup(max(at - now, 0)), at
            yield self.clock

    def make_stream(self, stream_id: int) -> Commands:
        """Give each request a stream of ours."""
        stream = ReplayStream(self.context.fork(), stream_id)
        stream.signer = self.signer
        self.streams[stream_id] = stream
        yield from self.event_to_child(stream, events.Start())
