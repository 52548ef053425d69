"""Connections through a network's proxy: what failed of the way, which connection has the socket, and what is pinned of mitmproxy."""

import inspect
from pathlib import Path

import certifi
import pytest
from mitmproxy import connection, ctx, options
from mitmproxy.connection import Client, Server
from mitmproxy.net.server_spec import ServerSpec
from mitmproxy.proxy import context, events, layer, tunnel
from mitmproxy.proxy.layers import TCPLayer, http, modes, tls
from mitmproxy.proxy.layers.http import _upstream_proxy
from mitmproxy.proxy.layers.http._upstream_proxy import HttpUpstreamProxy

from addons import way as ways
from credentials.way import DIRECT, Way
from home.errors import SettingsError
from home.paths import Home
from home.tables import Outbound, Settings
from tests.upstream.authority import Authority

PROXY = Way(proxy="http://127.0.0.1:3128")
VIA: ServerSpec = ("http", ("127.0.0.1", 3128))
TLS = "Certificate verify failed: self-signed certificate"


def made(host: str = "api.anthropic.com") -> context.Context:
    """The context of a connection that has not been opened."""
    found = context.Context(Client(peername=("", 0), sockname=("", 0)), options.Options())
    found.server.address = (host, 443)
    return found


def failed(error: str, *, via: bool) -> Server:
    """A server connection that failed with that error."""
    server = Server(address=("api.anthropic.com", 443), via=VIA if via else None)
    server.error = error
    return server


@pytest.mark.parametrize(
    ("way", "via"), [(DIRECT, None), (PROXY, VIA), (Way(proxy="http://[::1]:8080"), ("http", ("::1", 8080)))]
)
def test_the_proxy_is_told_as_mitmproxy_takes_it(way: Way, via: object) -> None:
    """Scheme, host without brackets, port."""
    assert ways.via_of(way) == via


@pytest.mark.parametrize(
    ("error", "via", "servers", "says"),
    [
        ("[Errno 111] Connect call failed", None, (), "[Errno 111] Connect call failed"),
        ("connection closed", None, (), "connection closed"),
        (TLS, None, (), f"{TLS}; where your network opens TLS, see [outbound] ca_bundle"),
        (TLS, VIA, (failed(TLS, via=True),), f"{TLS}; where your network opens TLS, see [outbound] ca_bundle"),
        ("wrong version number", VIA, (failed("wrong version number", via=True),), "wrong version number"),
        (
            "Upstream proxy 127.0.0.1:3128 refused HTTP CONNECT request: 403 Forbidden sk-ant-x",
            VIA,
            (),
            "your network's proxy at 127.0.0.1:3128 refused with 403; see [outbound] proxy",
        ),
        (
            "Connect call failed",
            VIA,
            (failed("Connect call failed", via=False), failed("other", via=True)),
            "your network's proxy at 127.0.0.1:3128 gave no connection (Connect call failed); see [outbound] proxy",
        ),
        (
            "connection closed",
            ("http", ("::1", 80)),
            (),
            "your network's proxy at [::1]:80 gave no connection (connection closed); see [outbound] proxy",
        ),
    ],
)
def test_what_failed_is_said_of_its_part_of_the_way(
    error: str, via: object, servers: tuple[Server, ...], says: str
) -> None:
    """The proxy, the upstream's TLS, or the way itself."""
    assert ways.told(error, via, servers) == says  # type: ignore[arg-type]


def test_the_socket_of_a_tunnelled_connection_is_the_proxys() -> None:
    """Of a plain one it is its own."""
    found = made()
    found.server.via = VIA
    stack = HttpUpstreamProxy.make(found, send_connect=True)
    outer = stack[0].tunnel_connection  # type: ignore[attr-defined]
    handlers: dict[connection.Connection, layer.Layer] = {found.server: stack[0], outer: stack[0]}
    plain = Server(address=("h", 1))

    assert ways.socket_of(found.server, handlers) is outer
    assert ways.socket_of(plain, handlers) is plain
    assert [ways.is_outer(one, handlers) for one in (found.server, outer, plain)] == [False, True, False]


def test_a_blind_tunnel_takes_the_proxy() -> None:
    """But to this machine, which no proxy leads to."""
    found = made()
    layers = ways.layers_below(ways.blind(found, PROXY))
    assert [type(one) for one in layers] == [HttpUpstreamProxy, TCPLayer]
    assert found.server.via == VIA
    assert layers[1].flow is None  # type: ignore[attr-defined]  # it is ignored: nothing of it is kept
    for near, way in ((made("127.0.0.1"), PROXY), (made("localhost"), PROXY), (made(), DIRECT)):
        assert [type(one) for one in ways.layers_below(ways.blind(near, way))] == [TCPLayer]
        assert near.server.via is None


def test_the_layers_of_a_stack_are_found() -> None:
    """Also behind a layer that was chosen late."""
    outer = layer.NextLayer(made())
    assert ways.layers_below(outer) == [outer]
    inner = http.HttpLayer(made(), http.HTTPMode.regular)
    outer.layer = inner
    assert ways.layers_below(outer) == [outer, inner]
    assert ways.layers_below(None) == []
    first = modes.HttpProxy(made())
    assert ways.layers_below(first) == [first]
    list(first.handle_event(events.Start()))
    assert [type(one) for one in ways.layers_below(first)] == [modes.HttpProxy, layer.NextLayer]


def test_mitmproxy_trusts_both(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The usual authorities, or the user's own choice of them, and the bundle; without a bundle nothing changes."""
    authority = Authority(tmp_path)
    home = Home(config_folder=tmp_path, state_folder=tmp_path)
    chosen = options.Options()
    monkeypatch.setattr(ctx, "options", chosen, raising=False)
    ways.trust(home, Settings())
    assert chosen.ssl_verify_upstream_trusted_ca is None
    settings = Settings(outbound=Outbound(ca_bundle=str(authority.bundle)))
    ways.trust(home, settings)
    both = Path(chosen.ssl_verify_upstream_trusted_ca or "")
    assert both.read_bytes() == Path(certifi.where()).read_bytes() + b"\n" + authority.bundle.read_bytes()
    assert both.stat().st_mode & 0o777 == 0o600
    own = tmp_path / "own.pem"
    own.write_text("theirs")
    chosen.update(ssl_verify_upstream_trusted_ca=str(own))
    ways.trust(home, settings)
    assert both.read_bytes().startswith(b"theirs\n-----BEGIN")
    with pytest.raises(SettingsError, match=r"outbound\.ca_bundle"):
        ways.trust(home, Settings(outbound=Outbound(ca_bundle="/nowhere.pem")))


def test_what_is_used_of_mitmproxy_is_as_it_was() -> None:
    """The tunnel's layer, its two connections, how it is made, and what it says of a refusal."""
    assert issubclass(HttpUpstreamProxy, tunnel.TunnelLayer)
    assert list(inspect.signature(HttpUpstreamProxy.make).parameters) == ["ctx", "send_connect"]
    assert {"conn", "tunnel_connection"} <= tunnel.TunnelLayer.__annotations__.keys()
    assert "refused HTTP CONNECT request: {response.status_code}" in inspect.getsource(_upstream_proxy)
    assert "via" in Server.__annotations__
    assert list(inspect.signature(TCPLayer.__init__).parameters)[1:] == ["context", "ignore"]
    source = inspect.getsource(http.HttpStream.make_server_connection)
    assert "self.flow.server_conn.via" in source
    assert ways.UNTRUSTED in inspect.getsource(tls)
