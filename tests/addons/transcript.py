r"""Drives the replaying layer without sockets, in the manner of mitmproxy's Playbook: events in, commands out.

t = Transcript(addon).client(POST).upstream(b"HTTP/1.1 200 OK\r\n\r\n")
assert t.got == b"HTTP/1.1 200 OK\r\n\r\n"
"""

from collections import deque
from collections.abc import Callable
from typing import Any, Self

import pytest
from mitmproxy import options
from mitmproxy.addons.proxyserver import Proxyserver
from mitmproxy.connection import Client, ConnectionState, Server
from mitmproxy.proxy import commands, events, layer
from mitmproxy.proxy.context import Context
from mitmproxy.proxy.layers.http import HTTPMode
from mitmproxy.proxy.mode_specs import ProxyMode

from addons import gathering, replay, replaylayer, tunnels
from addons.replaylayer import ReplayLayer
from addons.sign import Signer
from tests.addons.made import MODE

UPSTREAM = ("127.0.0.1", 9000)


class Clock:
    """Time as the layer sees it: it passes when a test says so."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def monotonic(self) -> float:
        """Seconds since some moment."""
        return self.now

    def time(self) -> float:
        """Seconds since 1970."""
        return 1_700_000_000 + self.now


def ticking(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """A new clock, by which all layers go."""
    made = Clock()
    for module in (gathering, replay, replaylayer, tunnels):
        monkeypatch.setattr(module, "time", made)
    return made


class Transcript:
    """One client connection: what went in, and all that came out of it.

    Hooks are answered at once by the addons, but for the one named in `holds`, which waits for `answer`.
    """

    def __init__(
        self, signer: Signer, *addons: object, clock: Clock, refuses: int = 0, mode: HTTPMode = HTTPMode.transparent
    ) -> None:
        """mode: regular, where clients come by HTTPS_PROXY."""
        self.addons, self.clock, self.refuses = addons, clock, refuses
        self._later: deque[events.Event] = deque()
        self._is_busy = False
        self.hooks: list[str] = []
        self.got, self.sent = b"", b""
        self.opened: list[Server] = []
        self.closed: list[object] = []
        self.holds = ""
        self.waiting: commands.StartHook | None = None
        self.dialling: deque[commands.OpenConnection] = deque()
        self.wakeups: list[tuple[float, commands.RequestWakeup]] = []
        opts = options.Options()
        Proxyserver().load(_Loader(opts))
        opts.update(connection_strategy="lazy", keep_host_header=True, http2=False)
        self.peer = Client(peername=("127.0.0.1", 50_000), sockname=("127.0.0.1", 3456), timestamp_start=1.0)
        self.peer.proxy_mode, self.peer.state = ProxyMode.parse(MODE), ConnectionState.OPEN
        context = Context(self.peer, opts)
        if mode is HTTPMode.transparent:
            context.server.address = UPSTREAM
        else:
            self.peer.proxy_mode = ProxyMode.parse("regular@127.0.0.1:3458")
        self.layer = ReplayLayer(context, mode)
        self.layer.signer = signer
        self._feed(events.Start())

    # Events in

    def client(self, data: bytes) -> Self:
        """The client sends bytes."""
        return self._feed(events.DataReceived(self.peer, data))

    def upstream(self, data: bytes, connection: int = -1) -> Self:
        """The upstream sends bytes, on its newest connection or a given one."""
        return self._feed(events.DataReceived(self.opened[connection], data))

    def upstream_ends(self, connection: int = -1) -> Self:
        """The upstream closes its connection."""
        server = self.opened[connection]
        server.state = ConnectionState.CLOSED
        return self._feed(events.ConnectionClosed(server))

    def client_leaves(self) -> Self:
        """The client closes its connection."""
        self.peer.state = ConnectionState.CLOSED
        return self._feed(events.ConnectionClosed(self.peer))

    def answer(self) -> Self:
        """The hook that was held back is done."""
        hook, self.waiting, self.holds = self.waiting, None, ""
        assert hook is not None
        self._run(hook)
        return self._feed(events.HookCompleted(hook, None))

    def dialled(self, error: str | None = None) -> Self:
        """The connection that is being opened stands, or fails."""
        return self._connected(self.dialling.popleft(), error)

    def passes(self, seconds: float) -> Self:
        """Time passes; wakeups that are due fire in order, each at its time."""
        end = self.clock.now + seconds
        while due := [wakeup for wakeup in self.wakeups if wakeup[0] <= end]:
            first = min(due, key=lambda wakeup: wakeup[0])
            self.wakeups.remove(first)
            self.clock.now = max(self.clock.now, first[0])
            self._feed(events.Wakeup(first[1]))
        self.clock.now = end
        return self

    def take(self) -> bytes:
        """What the upstreams got since the last time."""
        sent, self.sent = self.sent, b""
        return sent

    # Commands out

    def _feed(self, event: events.Event) -> Self:
        """Obey what the event leads to; what mitmproxy does in tasks of their own is answered when the layer rests."""
        self._later.append(event)
        if self._is_busy:
            return self
        self._is_busy = True
        try:
            while self._later:
                for command in self.layer.handle_event(self._later.popleft()):
                    self._obey(command)
        finally:
            self._is_busy = False
        return self

    def _obey(self, command: commands.Command) -> None:
        match command:
            case commands.StartHook():
                self._hook(command)
            case commands.SendData(connection=connection, data=data):
                if connection is self.peer:
                    self.got += data
                else:
                    self.sent += data
            case commands.OpenConnection():
                if self.holds == "dial":
                    self.dialling.append(command)
                else:
                    self._connected(command, "refused" if self.refuses else None)
            case commands.CloseConnection(connection=connection):
                self._close(connection)
            case commands.RequestWakeup(delay=delay):
                self.wakeups.append((self.clock.now + delay, command))
            case _:
                assert isinstance(command, commands.Log), command

    def _hook(self, hook: commands.StartHook) -> None:
        self.hooks.append(hook.name)
        if hook.name == self.holds:
            self.waiting = hook
            return
        self._run(hook)
        self._feed(events.HookCompleted(hook, None))

    def _run(self, hook: commands.StartHook) -> None:
        for addon in self.addons:
            called: Callable[..., Any] | None = getattr(addon, hook.name, None)
            if called is not None:
                called(*hook.args())

    def _connected(self, command: commands.OpenConnection, error: str | None) -> Self:
        server = command.connection
        self.refuses = max(0, self.refuses - 1)
        server.error, server.timestamp_start = error, 1.0
        if error is None:
            server.state = ConnectionState.OPEN
            self.opened.append(server)
        return self._feed(events.OpenConnectionCompleted(command, error))

    def _close(self, connection: Any) -> None:
        self.closed.append(connection)
        connection.state = ConnectionState.CLOSED
        opening = [command for command in self.dialling if command.connection is connection]
        for command in opening:
            self.dialling.remove(command)
            self._connected(command, "cancelled")


class _Loader:
    """What mitmproxy's loader does for options, without a master."""

    def __init__(self, opts: options.Options) -> None:
        self._options = opts

    def add_option(self, name: str, kind: type, default: Any, text: str, choices: Any = None) -> None:
        """Know one more option."""
        if name not in self._options:
            self._options.add_option(name, kind, default, text, choices)


def is_alive(made: layer.Layer) -> bool:
    """Whether a layer waits for nothing, as it must between two requests."""
    return made._paused is None and not made._paused_event_queue
