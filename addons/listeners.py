"""Listeners: the listening sockets are ours, so that the next proxy can have them without anybody being refused meanwhile.

mitmproxy would bind its own; its server instances are taught to accept on ours. tests/addons/test_listeners.py pins what this uses.
"""

import asyncio
import socket
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any

from mitmproxy.proxy import mode_servers
from mitmproxy.proxy.mode_servers import AsyncioServerInstance, ServerInstance
from mitmproxy.proxy.mode_specs import ProxyMode, ReverseMode

from home.checks import Address

BACKLOG = 1024
"""Connections that may wait while nobody accepts, as between the end of one process and the start of the next."""


UDP = "udp"


class Listeners:
    """One socket for each address, more where a name leads to several."""

    def __init__(self, handed: Iterable[tuple[str, int]] = ()) -> None:
        """handed: sockets of the proxy before, each with the address that it was asked for."""
        self._handed: list[tuple[str, socket.socket]] = []
        self._open: dict[Address, list[socket.socket]] = {}
        for asked, number in handed:
            with suppress(OSError, ValueError):  # it is none
                self._handed.append((asked, socket.socket(fileno=number)))

    def has(self, address: Address) -> bool:
        """Whether a socket for it was handed over."""
        return any(_fits(asked, one, address) for asked, one in self._handed)

    def open(self, address: Address) -> None:
        """Have sockets for an address: those that were handed over, else new ones. Raises OSError."""
        found = [one for asked, one in self._handed if _fits(asked, one, address)]
        self._handed = [pair for pair in self._handed if pair[1] not in found]
        self._open[address] = found or list(_bound(address))
        for one in self._open[address]:
            one.setblocking(False)
            one.set_inheritable(False)

    def of(self, host: str, port: int) -> list[socket.socket]:
        """The sockets for what mitmproxy is asked to listen on; none where that is not ours."""
        return self._open.get(Address(host=host, port=port), [])

    def passed(self) -> Iterator[tuple[str, int]]:
        """What the next proxy is to be given."""
        for address, found in self._open.items():
            for one in found:
                yield str(address), one.fileno()

    def drop_rest(self) -> None:
        """Close what was handed over and is not wanted any more."""
        for _, one in self._handed:
            one.close()
        self._handed = []

    def close(self) -> None:
        """Close all of them; for another process that has them they stay open."""
        self.drop_rest()
        for found in self._open.values():
            for one in found:
                one.close()
        self._open = {}

    def serve(self) -> None:
        """Have mitmproxy accept on these sockets."""
        theirs = AsyncioServerInstance.listen
        ours = self

        async def listen(self: "AsyncioServerInstance[Any]", host: str, port: int) -> list[Any]:
            found = ours.of(host, port) if self.mode.transport_protocol != UDP else []
            if not found:
                return await theirs(self, host, port)
            return [await asyncio.start_server(self.handle_stream, sock=one.dup(), backlog=BACKLOG) for one in found]

        AsyncioServerInstance.listen = listen  # type: ignore[method-assign]


def without_quic(begun: Iterable[ServerInstance[Any]]) -> None:
    """Keep mitmproxy from HTTP/3 as a reverse proxy: it would be one more door, by UDP, at which no client of ours knocks.

    It opens that beside the other one where the upstream is https; for `reverse:http3://`, which somebody chose, it still does.
    begun: those that listen already, as they do when mitmdump has loaded scripts.
    """
    for instance in begun:
        if isinstance(instance, AsyncioServerInstance) and _is_https(instance.mode):
            for server in [one for one in instance._servers if not isinstance(one, asyncio.Server)]:  # noqa: SLF001
                instance._servers.remove(server)  # noqa: SLF001
                server.close()
    if AsyncioServerInstance.listen.__module__ != mode_servers.__name__:  # ours already
        return
    theirs = AsyncioServerInstance.listen

    async def listen(self: "AsyncioServerInstance[Any]", host: str, port: int) -> list[Any]:
        if not _is_https(self.mode):
            return await theirs(self, host, port)
        return [await asyncio.start_server(self.handle_stream, host, port)]

    AsyncioServerInstance.listen = listen  # type: ignore[method-assign]


def _is_https(mode: ProxyMode) -> bool:
    return isinstance(mode, ReverseMode) and mode.scheme == "https"


def _fits(asked: str, one: socket.socket, address: Address) -> bool:
    if asked == str(address):
        return True
    host, port = one.getsockname()[:2]
    return Address(host=host, port=port) == address


def _bound(address: Address) -> Iterator[socket.socket]:
    """Listen on each number that the host has, all on one port."""
    made: list[socket.socket] = []
    try:
        for family, kind, protocol, _, where in _numbers(address):
            one = socket.socket(family, kind, protocol)
            made.append(one)
            port = made[0].getsockname()[1] if address.port == 0 and len(made) > 1 else where[1]
            _bind(one, (where[0], port, *where[2:]))
    except OSError:
        for one in made:
            one.close()
        raise
    yield from made


def _numbers(address: Address) -> list[Any]:
    found = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    return list(dict.fromkeys(found))


def _bind(one: socket.socket, where: tuple[Any, ...]) -> None:
    if sys.platform != "win32":  # there it would let two programs have the same address
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if one.family == socket.AF_INET6:
        one.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
    one.bind(where)
    one.listen(BACKLOG)
