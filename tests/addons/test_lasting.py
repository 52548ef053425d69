"""Connections that may be silent for hours."""

import asyncio
import inspect
import socket
from collections.abc import Iterator
from types import SimpleNamespace
from unittest import mock

import pytest
from mitmproxy import ctx, http
from mitmproxy.proxy import server
from mitmproxy.test import tflow
from mitmproxy.websocket import WebSocketMessage
from wsproto.frame_protocol import Opcode

from addons.lasting import LAST, LAST_SHOWN, SILENT_S, Lasting
from addons.tunnels import TUNNELS, Blind, Opened
from credentials.way import DIRECT
from providers.anthropic import ANTHROPIC
from tests.addons.made import UPSTREAM


@pytest.fixture
def handler(monkeypatch: pytest.MonkeyPatch) -> Iterator[SimpleNamespace]:
    """The client connection's handler, as far as it is asked, and a mitmproxy that knows it."""
    with socket.socket() as sock:
        transports = {
            "client": SimpleNamespace(writer=mock.Mock(spec=asyncio.StreamWriter)),
            "dialling": SimpleNamespace(writer=None),
        }
        transports["client"].writer.get_extra_info.side_effect = {"socket": sock}.get
        made = SimpleNamespace(timeout_watchdog=SimpleNamespace(timeout=600), transports=transports, sock=sock)
        addons = {"proxyserver": SimpleNamespace(connections={"one": made})}
        monkeypatch.setattr(ctx, "master", SimpleNamespace(addons=SimpleNamespace(get=addons.get)), raising=False)
        monkeypatch.setattr(ctx, "options", SimpleNamespace(save_stream_file=None), raising=False)
        made.addons = addons
        yield made


def flow(tunnel: Opened | Blind | None = None) -> http.HTTPFlow:
    """A WebSocket's flow, or a CONNECT's."""
    made = tflow.twebsocketflow(messages=False)
    made.client_conn.id = "one"
    if tunnel is not None:
        TUNNELS[made.client_conn] = tunnel
    return made


BLIND = Blind(host="a.example", port=443, way=DIRECT, astray=lambda _server: None)
OPENED = Opened(host="api.anthropic.com", port=443, provider=ANTHROPIC, upstream=UPSTREAM)


def test_a_blind_tunnel_may_be_silent(handler: SimpleNamespace) -> None:
    """The limit on silence is put off, and the system looks whether the other side lives."""
    Lasting().http_connected(flow(BLIND))
    assert handler.timeout_watchdog.timeout == SILENT_S
    assert handler.sock.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) != 0


def test_an_opened_tunnel_is_like_any_client_connection(handler: SimpleNamespace) -> None:
    """It ends when it was idle for as long as those that come to the reverse proxy."""
    Lasting().http_connected(flow(OPENED))
    assert handler.timeout_watchdog.timeout == 600


def test_a_websocket_may_be_silent(handler: SimpleNamespace) -> None:
    """Also one whose connection has just gone."""
    Lasting().websocket_start(flow())
    assert handler.timeout_watchdog.timeout == SILENT_S
    handler.addons["proxyserver"].connections.clear()
    Lasting().websocket_start(flow())


@pytest.mark.parametrize(("shown", "wanted"), [("", LAST), ("view", LAST_SHOWN), ("file", LAST_SHOWN)])
def test_messages_that_have_passed_are_forgotten(handler: SimpleNamespace, shown: str, wanted: int) -> None:
    """However long a socket lives, few of them stay, and the newest does; some more where somebody looks."""
    if shown == "view":
        handler.addons["view"] = object()
    if shown == "file":
        ctx.options.save_stream_file = "flows"
    made, lasting = flow(), Lasting()
    assert made.websocket is not None
    for number in range(1_000):
        made.websocket.messages.append(WebSocketMessage(Opcode.TEXT, True, b"%d" % number))
        lasting.websocket_message(made)
        assert made.websocket.messages[-1].content == b"%d" % number
    assert len(made.websocket.messages) == wanted


def test_a_request_without_a_websocket_has_no_messages(handler: SimpleNamespace) -> None:  # noqa: ARG001 - for ctx
    """Nothing happens."""
    Lasting().websocket_message(tflow.tflow())


def test_what_is_used_of_mitmproxy_is_as_it_was() -> None:
    """The watchdog reads its limit anew each time it wakes, so that a longer one counts at once."""
    watchdog = server.TimeoutWatchdog(600, lambda: None)  # type: ignore[arg-type, return-value]
    assert watchdog.timeout == 600
    assert "self.timeout" in inspect.getsource(server.TimeoutWatchdog.watch)
    assert {"handler", "reader", "writer"} <= set(server.ConnectionIO.__dataclass_fields__)
    assert "timeout_watchdog" in server.ConnectionHandler.__annotations__
