"""How the replaying layers come into place, and what that uses of mitmproxy."""

import dataclasses
import inspect
from types import SimpleNamespace

import pytest
from mitmproxy import connection, ctx
from mitmproxy.addons import default_addons
from mitmproxy.addons.proxyserver import Proxyserver
from mitmproxy.proxy import layer, server, server_hooks

from addons.events import Deaf
from addons.replacing import Replay
from addons.replaylayer import ReplayLayer
from tests.addons.made import signer
from tests.addons.scripted import plain_layer


def test_the_addons_that_replay_asks_for_are_there() -> None:
    """The addon NextLayer is found by its name, and saved flows by their option's."""
    found = {type(addon).__name__.lower(): addon for addon in default_addons()}
    assert "nextlayer" in found, "mitmproxy moved the addon nextlayer"
    assert hasattr(found["nextlayer"], "next_layer"), "mitmproxy moved NextLayer.next_layer"
    assert "def load" in inspect.getsource(type(found["savestream" if "savestream" in found else "save"]))
    assert "save_stream_file" in inspect.getsource(type(found["save"])), "mitmproxy moved the option save_stream_file"


def test_where_sockets_are_kept_is_as_it_was() -> None:
    """The tables in which mitmproxy keeps a client's open sockets are as the mending of forgotten ones takes them."""
    assert Proxyserver().connections == {}, "mitmproxy moved Proxyserver.connections"
    assert "transports" in server.ConnectionHandler.__annotations__, "mitmproxy moved ConnectionHandler.transports"
    assert "writer" in server.ConnectionIO.__annotations__, "mitmproxy moved ConnectionIO.writer"
    fields = [field.name for field in dataclasses.fields(server_hooks.ServerConnectionHookData)]
    assert fields == ["server", "client"], f"mitmproxy changed ServerConnectionHookData: {fields}"


def test_every_http_layer_becomes_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once mitmproxy has chosen, each of its HTTP layers replays; the others stay as they are."""
    asked: list[object] = []
    chooser = SimpleNamespace(next_layer=asked.append)
    master = SimpleNamespace(addons=SimpleNamespace(get={"nextlayer": chooser}.get))
    monkeypatch.setattr(ctx, "master", master, raising=False)
    plain = plain_layer()
    other = Deaf(plain.context)
    chosen = layer.NextLayer(plain.context)

    Replay(given_signer := signer({})).next_layer(chosen)
    assert asked == [chosen]
    assert [type(one) for one in (plain, other)] == [ReplayLayer, Deaf]
    assert isinstance(plain, ReplayLayer)
    assert plain.signer is given_signer


@pytest.mark.parametrize("case", ["open", "without a writer", "closed by itself", "of a client that is gone"])
def test_a_forgotten_socket_is_closed(monkeypatch: pytest.MonkeyPatch, case: str) -> None:
    """A server's socket that mitmproxy still keeps when it reports the end of the connection is closed, once."""
    closed: list[str] = []
    client = connection.Client(peername=("", 0), sockname=("", 0))
    gone = connection.Server(address=("127.0.0.1", 9))
    writer = None if case == "without a writer" else SimpleNamespace(close=lambda: closed.append("closed"))
    transports = {} if case == "closed by itself" else {gone: SimpleNamespace(writer=writer)}
    handlers = {} if case == "of a client that is gone" else {client.id: SimpleNamespace(transports=transports)}
    keeper = SimpleNamespace(connections=handlers)
    master = SimpleNamespace(addons=SimpleNamespace(get={"proxyserver": keeper}.get))
    monkeypatch.setattr(ctx, "master", master, raising=False)
    data = server_hooks.ServerConnectionHookData(gone, client)

    for _ in range(2):
        Replay(signer({})).server_disconnected(data)
    assert closed == (["closed"] if case == "open" else [])
