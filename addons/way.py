"""Way: connections to upstreams through the proxy of the person's network, where `[outbound] proxy` names one.

mitmproxy opens a tunnel where a server connection has a `via`. There are two connections then: the inner one, which speaks with the
upstream, and the outer one, which alone has a socket; tests/addons/test_way.py pins what is used of that.
"""

import re
from collections.abc import Collection, Mapping
from pathlib import Path

import certifi
from mitmproxy import ctx
from mitmproxy.connection import Connection, Server
from mitmproxy.net.server_spec import ServerSpec
from mitmproxy.proxy import layer, tunnel
from mitmproxy.proxy.context import Context
from mitmproxy.proxy.layers import TCPLayer
from mitmproxy.proxy.layers.http._upstream_proxy import HttpUpstreamProxy

from credentials import way
from credentials.loopback import is_loopback
from credentials.way import Way
from home import outbound
from home.paths import Home
from home.tables import Settings

UNTRUSTED = "Certificate verify failed"
"""How mitmproxy begins to say that it does not trust a server's certificate."""
_REFUSED = re.compile(r"Upstream proxy \S+ refused HTTP CONNECT request: (.*)", re.DOTALL)


def trust(home: Home, settings: Settings) -> None:
    """Have mitmproxy trust the authorities of `[outbound] ca_bundle` besides those that it trusts anyway; raises SettingsError.

    Also where the proxy of `[outbound]` cannot be one.
    """
    outbound.check(home.config, settings)
    if settings.outbound.ca_bundle:
        usual = Path(ctx.options.ssl_verify_upstream_trusted_ca or certifi.where())
        both = outbound.gather(home.state_folder, home.config, settings.outbound, usual)
        ctx.options.update(ssl_verify_upstream_trusted_ca=str(both))


def via_of(chosen: Way) -> ServerSpec | None:
    """How mitmproxy is told of the proxy; None where there is none."""
    return ("http", chosen.proxy_address) if chosen.proxy else None


def socket_of(connection: Connection, handlers: Mapping[Connection, layer.Layer]) -> Connection:
    """The connection that has the socket: itself, or the one to the proxy that it is tunnelled through."""
    handler = handlers.get(connection)
    return handler.tunnel_connection if isinstance(handler, HttpUpstreamProxy) else connection


def is_outer(connection: Connection, handlers: Mapping[Connection, layer.Layer]) -> bool:
    """Whether it only carries another connection."""
    handler = handlers.get(connection)
    return isinstance(handler, HttpUpstreamProxy) and handler.conn is not connection


def told(error: str, via: ServerSpec | None, connections: Collection[Connection]) -> str:
    """Say of a failed connection which part of the way failed; what a proxy did is said of the proxy.

    connections: those that there are, the failed ones among them. TLS that fails is the upstream's, or whose who opens it on the way.
    """
    if error.startswith(UNTRUSTED):
        return f"{error}; where your network opens TLS, see [outbound] ca_bundle"
    if via is None or any(isinstance(one, Server) and one.via and one.error == error for one in connections):
        return error
    host, port = via[1]
    proxy = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    refusal = _REFUSED.fullmatch(error)
    return way.unreached(proxy, error) if refusal is None else way.refused(proxy, refusal[1])


def blind(context: Context, chosen: Way) -> layer.Layer:
    """The layers that carry what a client tunnels to somebody else, unread: through the proxy where there is one."""
    assert context.server.address is not None
    via = via_of(chosen)
    if via is None or is_loopback(context.server.address[0]):
        return TCPLayer(context, ignore=True)
    context.server.via = via
    stack = tunnel.LayerStack()
    stack /= HttpUpstreamProxy.make(context, send_connect=True)
    stack /= TCPLayer(context, ignore=True)
    return stack[0]


def layers_below(top: layer.Layer | None) -> list[layer.Layer]:
    """The layers of a stack, from the top down."""
    found: list[layer.Layer] = []
    while top is not None:
        found.append(top)
        top = getattr(top, "layer", None) or getattr(top, "child_layer", None) or _stand_in(top)
    return found


def _stand_in(top: layer.Layer) -> layer.Layer | None:
    """The layer that takes another one's events, as the first one does whose only duty is to choose it."""
    taker = getattr(top._handle_event, "__self__", None)  # noqa: SLF001
    return taker if isinstance(taker, layer.Layer) and taker is not top else None
