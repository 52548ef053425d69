"""A WebSocket that broke looks broken."""

import inspect
from typing import Any

import pytest
from mitmproxy import connection, options
from mitmproxy.proxy import commands, context, events, layer
from mitmproxy.proxy.layers import http as layers
from mitmproxy.proxy.layers.websocket import WebsocketEndHook, WebsocketLayer, WebsocketStartHook
from mitmproxy.test import tflow

from addons.sockets import HonestSocket

CLOSE = b"\x88\x82\x00\x00\x00\x00\x03\xe8"
"""A client's close frame: 1000, masked with nothing."""


def socket() -> HonestSocket:
    """One that stands."""
    flow = tflow.twebsocketflow(messages=False)
    flow.live = True
    made = context.Context(flow.client_conn, options.Options())
    made.server = flow.server_conn
    for one in (made.client, made.server):
        one.state = connection.ConnectionState.OPEN
    found = WebsocketLayer(made, flow)
    (hook,) = list(found.handle_event(events.Start()))
    assert isinstance(hook, WebsocketStartHook)
    HonestSocket.take_over(found)
    list(found.handle_event(events.HookCompleted(hook, None)))
    assert isinstance(found, HonestSocket)
    return found


def told(made: layer.Layer, event: events.Event) -> list[commands.Command]:
    """What it does, hooks answered at once."""
    found: list[commands.Command] = []
    coming = [event]
    while coming:
        for command in made.handle_event(coming.pop()):
            found.append(command)
            if isinstance(command, commands.StartHook):
                coming.append(events.HookCompleted(command, None))
    return found


@pytest.mark.parametrize("by_client", [False, True])
def test_an_end_without_a_word_is_passed_on_as_one(by_client: bool) -> None:
    """Both connections are closed, and neither peer gets a close frame that says all was well."""
    made = socket()
    gone = made.context.client if by_client else made.context.server
    done = told(made, events.ConnectionClosed(gone))
    closed = [one.connection for one in done if isinstance(one, commands.CloseConnection)]
    assert closed == [made.context.server, made.context.client]
    assert not [one for one in done if isinstance(one, commands.SendData)]
    assert len([one for one in done if isinstance(one, WebsocketEndHook)]) == 1
    assert made.flow.websocket is not None
    assert (made.flow.websocket.close_code, made.flow.websocket.closed_by_client) == (1006, by_client)
    assert not made.flow.live
    assert told(made, events.ConnectionClosed(made.context.client)) == []


def test_a_close_that_was_said_is_relayed() -> None:
    """As mitmproxy does, whoever ends the connection then."""
    made = socket()
    done = told(made, events.DataReceived(made.context.client, CLOSE))
    to_server = b"".join(
        one.data for one in done if isinstance(one, commands.SendData) and one.connection == made.context.server
    )
    assert to_server[0] == 0x88
    assert made.flow.websocket is not None
    assert made.flow.websocket.close_code == 1000
    assert told(made, events.ConnectionClosed(made.context.server)) == []


def test_nothing_else_is_taken_over() -> None:
    """Only mitmproxy's layer itself."""
    other = layer.NextLayer(context.Context(connection.Client(peername=("", 0), sockname=("", 0)), options.Options()))
    for made in (None, other):
        HonestSocket.take_over(made)
    assert type(other) is layer.NextLayer


METHODS: list[tuple[Any, str, list[str]]] = [
    (WebsocketLayer, "relay_messages", ["self", "event"]),
    (WebsocketLayer, "done", ["self", "_"]),
    (layers.HttpStream, "flow_done", ["self"]),
]


@pytest.mark.parametrize(("owner", "name", "wanted"), METHODS)
def test_what_is_used_of_mitmproxy_is_as_it_was(owner: Any, name: str, wanted: list[str]) -> None:
    """The layer is made where the stream is done, and relays by the method that is replaced."""
    assert list(inspect.signature(getattr(owner, name)).parameters) == wanted
    assert "websocket.WebsocketLayer(self.context, self.flow)" in inspect.getsource(layers.HttpStream.flow_done)
    assert "self.relay_messages" in inspect.getsource(WebsocketLayer.start)
