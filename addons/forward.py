"""Forward: whom clients that come by HTTPS_PROXY may ask, and what is opened there.

Only the vendors' hosts are opened, for only there is something to sign; see docs/decisions/0014-forward-mode.md.
"""

from collections.abc import Mapping

from mitmproxy import ctx, http, tls
from mitmproxy.connection import Server
from mitmproxy.proxy.mode_specs import ProxyMode

from addons.destinations import Listeners, led_astray, unfit
from addons.options import is_forward
from addons.tunnels import TUNNELS, Blind, Opened, Tunnel, Upstream, opened
from credentials.way import DIRECT, Way
from home.checks import Address
from providers.contract import Provider

HTTPS_PORT = 443
ALPN = (b"http/1.1",)
PLAIN = "plain http is not served here: set HTTPS_PROXY to this address, and nothing else"
SPEAK_PLAINLY = "a tunnel is asked for in plain http here: let HTTPS_PROXY begin with http://"


class Forward:
    """The rules of the forward mode: for admission, which asks them, and for TLS towards the upstream."""

    name = "flowpool_forward"

    def __init__(self, listen: Address | None, providers: Mapping[Upstream, Provider], way: Way = DIRECT) -> None:
        """listen: where such clients come; None: nowhere. way: how blind tunnels reach other machines."""
        self._listen, self._way = listen, way
        self._hosts = dict(_opened(providers))
        self._ours: set[tuple[str, int]] = set()

    def running(self) -> None:
        """Learn where we listen: while the proxy ends mitmproxy does not know it any more, and the next one listens there."""
        self._listeners()

    def owns(self, mode: ProxyMode) -> bool:
        """Whether a mode of mitmproxy's is this one."""
        return is_forward(mode, self._listen)

    def connect(self, flow: http.HTTPFlow) -> str | None:
        """Note the tunnel that a CONNECT asks for; else why there is none."""
        host, port = flow.request.host, flow.request.port
        TUNNELS.pop(flow.client_conn, None)  # of one that did not stand
        if why := unfit(host, port, self._listeners()):
            return f"no tunnel to {host}: {why}"
        TUNNELS[flow.client_conn] = self._tunnel(host, port)
        return None

    def _tunnel(self, host: str, port: int) -> Tunnel:
        name = _plain(host)
        found = self._hosts.get((name, port))
        if found is None:
            return Blind(host=host, port=port, way=self._way, astray=self._astray)
        provider, upstream = found
        return Opened(host=name, port=port, provider=provider, upstream=upstream)

    def unfit(self, flow: http.HTTPFlow, tunnel: Opened, *, is_ours: bool) -> str | None:
        """Why a request that came through an opened tunnel is not let in; who may connect was asked before.

        is_ours: whether an account of ours would sign it, be it the primary.
        """
        client, headers, request = flow.client_conn, flow.request.headers, flow.request
        if (request.scheme, request.host, request.port) != tunnel.upstream:  # beside the tunnel, not through it
            return PLAIN
        if not client.tls_established:
            return f"plain http in a tunnel to {tunnel.host} is not served: ask by https"
        if client.sni is not None and _plain(client.sni) != tunnel.host:
            return f"the tunnel leads to {tunnel.host}, but TLS names another host: ask for one of them"
        if headers.get("host", "").lower() not in _names(tunnel):
            return f"the tunnel leads to {tunnel.host}, but the Host header names another: ask for one of them"
        if is_ours and _is_from_elsewhere(flow.request, tunnel):
            return "requests from web pages are not served on the pool's accounts: use a browser without this proxy"
        return None

    def _listeners(self) -> Listeners:
        """Where we listen, or did, in whatever mode."""
        self._ours.update((address[0], address[1]) for address in ctx.master.addons.get("proxyserver").listen_addrs())
        return self._ours

    def _astray(self, server: Server) -> str | None:
        """Why a blind tunnel's connection must not be used."""
        if server.peername is None or server.sockname is None:
            return "it is not known where it leads; try again"
        return led_astray(server.peername[:2], server.sockname[:2], self._listeners())

    def tls_clienthello(self, data: tls.ClientHelloData) -> None:
        """Agree on HTTP/1.1 with the client, too, whatever the user's options say."""
        if opened(data.context.client) is not None:
            data.context.client.alpn = ALPN[0]

    def tls_start_server(self, data: tls.TlsData) -> None:
        """Offer the upstream HTTP/1.1 alone, whatever the client offered us: its requests are sent one by one."""
        if opened(data.context.client) is not None:
            data.conn.alpn_offers = ALPN


def _opened(providers: Mapping[Upstream, Provider]) -> list[tuple[tuple[str, int], tuple[Provider, Upstream]]]:
    """Host and port of each tunnel that is opened: the vendors' own, and their upstreams' where they speak TLS."""
    found = []
    for upstream, provider in providers.items():
        scheme, host, port = upstream
        ends = {(name, HTTPS_PORT) for name in provider.hosts} | (
            {(_plain(host), port)} if scheme == "https" else set()
        )
        found += [(end, (provider, upstream)) for end in ends]
    return found


def _is_from_elsewhere(request: http.Request, tunnel: Opened) -> bool:
    """Whether another site's page asks; what it may ask of the vendor on its own is not our business."""
    origin, site = request.headers.get("origin", "").lower(), request.headers.get("sec-fetch-site", "none").lower()
    return origin not in {"", f"https://{tunnel.host}"} or site not in {"none", "same-origin"}


def _names(tunnel: Opened) -> set[str]:
    name = f"[{tunnel.host}]" if ":" in tunnel.host else tunnel.host
    return {f"{name}:{tunnel.port}"} | ({name} if tunnel.port == HTTPS_PORT else set())


def _plain(host: str) -> str:
    return host.strip("[]").rstrip(".").lower()
