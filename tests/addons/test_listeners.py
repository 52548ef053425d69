"""The listening sockets are ours, mitmproxy accepts on them, and the next process can have them."""

import asyncio
import inspect
import os
import socket
from collections.abc import Iterator
from typing import Any

import pytest
from mitmproxy.proxy import mode_servers
from mitmproxy.proxy.mode_servers import AsyncioServerInstance
from mitmproxy.proxy.mode_specs import ProxyMode

from addons.listeners import Listeners, without_quic
from home.checks import Address

LOOPBACK = Address(host="127.0.0.1", port=0)


@pytest.fixture
def listeners() -> Iterator[Listeners]:
    """Sockets that are closed afterwards."""
    made = Listeners()
    yield made
    made.close()


def where(of: Listeners, address: Address) -> tuple[Any, ...]:
    """What the first socket for an address is bound to."""
    found: tuple[Any, ...] = of.of(address.host, address.port)[0].getsockname()
    return found


def test_what_is_used_of_mitmproxy_is_as_it_was() -> None:
    """Its instances listen by this method, in a mode that tells its transport, and hand connections to that one."""
    assert list(inspect.signature(AsyncioServerInstance.listen).parameters) == ["self", "host", "port"]
    assert inspect.iscoroutinefunction(AsyncioServerInstance.listen)
    assert hasattr(AsyncioServerInstance, "handle_stream")
    assert ProxyMode.parse("reverse:http://127.0.0.1:1@127.0.0.1:0").transport_protocol == "tcp"


def test_a_socket_is_opened_for_an_address_and_for_no_other(listeners: Listeners) -> None:
    """Port 0 takes any free one; what mitmproxy is asked to listen on is compared as it is written."""
    listeners.open(LOOPBACK)

    host, port = where(listeners, LOOPBACK)
    assert (host, port > 0) == ("127.0.0.1", True)
    assert listeners.of("127.0.0.1", port) == []
    socket.create_connection((host, port)).close()


def test_a_name_is_listened_on_wherever_it_leads(listeners: Listeners) -> None:
    """All its numbers share one port."""
    name = Address(host="localhost", port=0)
    listeners.open(name)

    ports = {one.getsockname()[1] for one in listeners.of("localhost", 0)}
    assert len(ports) == 1


def test_a_taken_address_is_told_and_leaves_nothing_open(listeners: Listeners) -> None:
    """Nobody else's place is taken."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        taken = Address(host="127.0.0.1", port=other.getsockname()[1])
        with pytest.raises(OSError, match="in use"):
            listeners.open(taken)
        assert listeners.of(taken.host, taken.port) == []


def handed_on(listeners: Listeners) -> list[tuple[str, int]]:
    """What the next one would inherit."""
    return [(asked, os.dup(number)) for asked, number in listeners.passed()]


def test_a_handed_socket_is_used_again(listeners: Listeners) -> None:
    """For the address as it was asked for, port 0 included, and for the one that it has; it is the same socket."""
    listeners.open(LOOPBACK)
    bound = Address(host="127.0.0.1", port=where(listeners, LOOPBACK)[1])
    for wanted in (LOOPBACK, bound):
        next_one = Listeners(handed_on(listeners))
        assert next_one.has(wanted)
        assert not next_one.has(Address(host="127.0.0.2", port=wanted.port))
        next_one.open(wanted)
        assert where(next_one, wanted) == where(listeners, LOOPBACK)
        assert not next_one.has(wanted)
        next_one.close()
    socket.create_connection((bound.host, bound.port)).close()


def test_a_handed_socket_that_nobody_wants_is_closed(listeners: Listeners) -> None:
    """Another address was asked for since."""
    listeners.open(LOOPBACK)
    handed = handed_on(listeners)
    next_one = Listeners(handed)
    next_one.drop_rest()

    assert not next_one.has(LOOPBACK)
    with pytest.raises(OSError, match="Bad file"):
        os.fstat(handed[0][1])


def test_what_is_no_socket_is_passed_over() -> None:
    """A number that nobody opened."""
    assert not Listeners([("127.0.0.1:0", 99_999)]).has(LOOPBACK)


def test_mitmproxy_accepts_on_our_socket(listeners: Listeners, monkeypatch: pytest.MonkeyPatch) -> None:
    """And binds its own where an address is none of ours; closing its server leaves the socket to us."""
    monkeypatch.setattr(AsyncioServerInstance, "listen", AsyncioServerInstance.listen)
    listeners.open(LOOPBACK)
    listeners.serve()
    seen: list[Any] = []

    async def play() -> None:
        mode = ProxyMode.parse("reverse:http://127.0.0.1:1@127.0.0.1:0")
        instance: Any = mode_servers.ServerInstance.make(mode, None)  # type: ignore[arg-type]

        async def note(_reader: object, writer: asyncio.StreamWriter) -> None:
            seen.append(writer.get_extra_info("sockname"))
            writer.close()

        instance.handle_stream = note
        (server,) = await instance.listen("127.0.0.1", 0)
        reader, writer = await asyncio.open_connection(*where(listeners, LOOPBACK))
        assert await reader.read() == b""
        writer.close()
        server.close()
        (own,) = await instance.listen("127.0.0.2", 0)
        assert own.sockets[0].getsockname()[0] == "127.0.0.2"
        own.close()

    asyncio.run(play())
    assert seen == [where(listeners, LOOPBACK)]
    assert listeners.of("127.0.0.1", 0)[0].fileno() >= 0


@pytest.mark.parametrize("found", [True, False], ids=["on our socket", "on its own"])
def test_an_upstream_of_https_opens_no_listener_of_udp(
    listeners: Listeners, monkeypatch: pytest.MonkeyPatch, found: bool
) -> None:
    """Beside the other one mitmproxy offers HTTP/3, where the upstream is https, as the provider's own is; no client of ours asks by it."""
    monkeypatch.setattr(AsyncioServerInstance, "listen", AsyncioServerInstance.listen)
    if found:
        listeners.open(LOOPBACK)
        listeners.serve()
    without_quic([])
    once = AsyncioServerInstance.listen
    without_quic([])
    assert AsyncioServerInstance.listen is once

    async def play() -> None:
        mode = ProxyMode.parse("reverse:https://127.0.0.1:1@127.0.0.1:0")
        assert mode.transport_protocol == "both"
        instance: Any = mode_servers.ServerInstance.make(mode, None)  # type: ignore[arg-type]
        (server,) = await instance.listen("127.0.0.1", 0)
        assert isinstance(server, asyncio.Server)
        assert not found or server.sockets[0].getsockname() == where(listeners, LOOPBACK)
        server.close()
        chosen: Any = mode_servers.ServerInstance.make(ProxyMode.parse("reverse:http3://127.0.0.1:1"), None)  # type: ignore[arg-type]
        (quic,) = await chosen.listen("127.0.0.1", 0)
        assert not isinstance(quic, asyncio.Server)
        quic.close()

    asyncio.run(play())


def test_what_is_no_number_of_a_descriptor_is_passed_over() -> None:
    """Below nothing."""
    assert not Listeners([("127.0.0.1:0", -1)]).has(LOOPBACK)


def test_a_listener_of_udp_that_is_open_already_is_closed() -> None:
    """A program of mitmproxy listens before it loads scripts; what somebody chose for HTTP/3 alone is left."""

    async def play() -> None:
        made: list[Any] = [
            mode_servers.ServerInstance.make(ProxyMode.parse(mode), None)  # type: ignore[arg-type]
            for mode in ("reverse:https://127.0.0.1:1@127.0.0.1:0", "reverse:http3://127.0.0.1:1@127.0.0.1:0")
        ]
        for instance in made:
            instance._servers = await instance.listen("127.0.0.1", 0)
        tcp, udp = made[0]._servers
        without_quic(made)
        assert made[0]._servers == [tcp]
        assert len(made[1]._servers) == 1
        await udp.wait_closed()
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
            free.bind(udp.getsockname())
        for instance in made:
            instance._servers.pop().close()

    before = AsyncioServerInstance.listen
    try:
        asyncio.run(play())
    finally:
        AsyncioServerInstance.listen = before  # type: ignore[method-assign]
