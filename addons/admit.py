"""Admit: who may speak, in which mode, on which path; and no secret header stays on any flow.

Programs on this machine are let in. With `[admit] key` they must show a key, and then those of other machines may come, too, by the
very address that they reached: a name could be made to lead here by somebody else. The page of another site never is.

Where clients come by HTTPS_PROXY, their CONNECT is asked all that; see addons/forward.py for what follows in the tunnel.
"""

import ipaddress
import logging
import posixpath
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from urllib.parse import unquote

from mitmproxy import http
from mitmproxy.proxy.mode_specs import ReverseMode

from addons.admission_key import HEADER as KEY_HEADER
from addons.admission_key import TUNNEL_HEADER, is_one_of, shown
from addons.control import HEALTH
from addons.exchange import EXCHANGES, Exchange, Path
from addons.forward import PLAIN, SPEAK_PLAINLY, Forward
from addons.guard import fail_closed
from addons.limits import request_head
from addons.replies import refusal
from addons.sign import hides_lines, mask
from addons.tunnels import opened
from credentials.secret import Secret
from home.checks import Address
from home.settings import Settings
from providers.anthropic import placeholder
from providers.contract import Head, Provider

PREFIX = "/_flowpool"
HTTP_PORT = 80
PIN_HEADER = "x-flowpool-pin"
_OURS = re.compile(re.escape(PREFIX) + r"(?![a-z0-9_-])")
_FROM_A_PAGE = frozenset({"origin", "sec-fetch-site"})
"""Headers that browsers send, and programs do not."""
_OUR_HEADERS = b"x-flowpool-"
TORN = "a header holds a line break: send each header on a line of its own"
STRANGE = "this mitmproxy mode is not flowpool's: start it without --mode, or as a reverse proxy to a provider"
FAR = "only programs on this machine are served: ask on 127.0.0.1"
KEY_WANTED = (
    "flowpool lets in only who shows its key: start Claude Code by flowpool run, or set what flowpool env prints"
)

type Upstream = tuple[str, str, int]

logger = logging.getLogger(__name__)


class Admit:
    """Opens an exchange for every request, and answers at once those that may go no further."""

    name = "flowpool_admit"

    def __init__(
        self,
        settings: Settings,
        providers: Mapping[Upstream, Provider],
        keys: Sequence[Secret] = (),
        forward: Forward | None = None,
    ) -> None:
        """keys: who shows one of them is let in; none: none is asked for. forward: None where no tunnel is opened."""
        self._settings = settings
        self._forward = forward or Forward(None, providers)
        self._providers = providers
        self._keys = tuple(keys)
        self._listen = str(settings.listen.claude)

    @fail_closed
    def requestheaders(self, flow: http.HTTPFlow) -> None:
        """Mask the secrets first; then look at who asks for what."""
        exchange = self._open(flow)
        exchange.provider = self._provider(flow)
        head = request_head(flow.request)
        unfit = self._refusal(flow, exchange, head)
        if unfit is not None:
            flow.response = refusal(exchange, "E", 400, unfit, retry=False)
        elif is_ours(flow.request.path):
            self._keep(flow, exchange)
        elif exchange.provider is not None:
            self._sort(flow, exchange, exchange.provider, head)

    @fail_closed
    def http_connect(self, flow: http.HTTPFlow) -> None:
        """A tunnel for who may have one; what it showed to get it goes nowhere."""
        headers = flow.request.headers.copy()
        exchange = self._open(flow)
        exchange.own = ()
        unfit = self._tunnel_refusal(flow, exchange, headers)
        if unfit is not None:  # clients seldom show what they are told here, and the request log has requests alone
            logger.info("flowpool: a tunnel was refused: %s", unfit)
            flow.response = refusal(exchange, "E", 400, unfit, retry=False)

    def _open(self, flow: http.HTTPFlow) -> Exchange:
        """Begin the exchange: from here nothing secret is on the flow."""
        request = flow.request
        key = pin = ""
        if any(map(_is_our_header, request.headers.fields)):
            key, pin = request.headers.get(KEY_HEADER, ""), request.headers.get(PIN_HEADER, "")
            request.headers.fields = tuple(f for f in request.headers.fields if not _is_our_header(f))
        is_torn = hides_lines(request)
        own = mask(request)
        lacks_login = any(placeholder.holds(value) for _, value in own)  # nor is anything beside it a login of its own
        own = tuple(field for field in own if not _is_for_proxies(field))  # what is shown to a proxy is for us alone
        exchange = Exchange(
            limits=self._settings.limits, rules=self._settings.rules, own=() if lacks_login else own, key=key
        )
        exchange.lacks_login = lacks_login
        exchange.is_torn, exchange.pin = is_torn, pin
        EXCHANGES[flow] = exchange
        return exchange

    def _provider(self, flow: http.HTTPFlow) -> Provider | None:
        mode = flow.client_conn.proxy_mode
        if not isinstance(mode, ReverseMode):
            tunnel = opened(flow.client_conn)
            return None if tunnel is None else tunnel.provider
        return self._providers.get((mode.scheme, mode.address[0], mode.address[1]))

    def _sort(self, flow: http.HTTPFlow, exchange: Exchange, provider: Provider, head: Head) -> None:
        if provider.is_foreign(head):
            flow.response = _not_ours(exchange, provider, head)
        elif provider.is_misplaced(head):
            scheme = "http" if opened(flow.client_conn) is None else "https"
            base = f"{scheme}://{flow.request.headers.get('host', self._listen)}"
            message = f"this path is not served: set ANTHROPIC_BASE_URL={base}"
            flow.response = refusal(exchange, "F", 404, message, retry=False)
        else:
            exchange.path = Path.POOLED if provider.is_pooled(head) else Path.PASSED

    def _refusal(self, flow: http.HTTPFlow, exchange: Exchange, head: Head) -> str | None:
        """Why the request is not let in, saying what to set; None when it is."""
        if exchange.is_torn:
            return TORN
        if placeholder.is_in_address(flow.request.path):
            return "flowpool's placeholder is no credential: leave it out of the address"
        if exchange.provider is None:
            return PLAIN if self._forward.owns(flow.client_conn.proxy_mode) else STRANGE
        if (tunnel := opened(flow.client_conn)) is not None:
            is_ours = exchange.lacks_login or exchange.provider.is_pooled(head)
            return self._forward.unfit(flow, tunnel, is_ours=is_ours)
        return self._stranger(flow, exchange, head)

    def _stranger(self, flow: http.HTTPFlow, exchange: Exchange, head: Head) -> str | None:
        """Why whoever asks is not let in; None when it is."""
        is_near = _is_near(flow)
        if not is_near and not (flow.client_conn.peername and self._keys):
            return FAR
        if not self._is_known(flow.request, exchange, is_near=is_near):
            return KEY_WANTED
        came_by = "" if is_near else _plain(flow.client_conn.sockname[0])
        allowed = _names(self._settings.listen.claude.host, flow.client_conn.sockname[1], came_by)
        if flow.request.headers.get("host", "").lower() not in allowed:
            base = f"http://{Address(host=flow.client_conn.sockname[0], port=flow.client_conn.sockname[1])}"
            return f"the Host header is not one of flowpool's: set ANTHROPIC_BASE_URL={base}"
        return _from_elsewhere(flow.request, allowed) if _FROM_A_PAGE & head.headers.keys() else None

    def _tunnel_refusal(self, flow: http.HTTPFlow, exchange: Exchange, headers: http.Headers) -> str | None:
        """Why no tunnel is opened; headers: as they came. Other machines get none, whatever they show: it leads into this one."""
        if exchange.is_torn:
            return TORN
        if not self._forward.owns(flow.client_conn.proxy_mode):
            return "flowpool opens no tunnels here: set ANTHROPIC_BASE_URL, or [listen] forward in config.toml and use that"
        if not _is_near(flow):
            return FAR
        if self._keys and not shown(headers, *self._keys):
            return KEY_WANTED
        if flow.client_conn.tls_established:  # it would look as if what follows in the tunnel came by TLS, too
            return SPEAK_PLAINLY
        return self._forward.connect(flow)

    def _keep(self, flow: http.HTTPFlow, exchange: Exchange) -> None:
        """Leave a path of ours to who answers those; in a tunnel they are nobody's."""
        if opened(flow.client_conn) is None:
            exchange.path = Path.LOCAL
        else:
            message = f"flowpool's own paths are not served in a tunnel: ask http://{self._listen}"
            flow.response = refusal(exchange, "F", 404, message, retry=False)

    def _is_known(self, request: http.Request, exchange: Exchange, *, is_near: bool) -> bool:
        """Whether the request shows a key, or need not: none is asked for, or it is this machine's question whether we are well."""
        if not self._keys or (is_near and request.path.partition("?")[0] == HEALTH):
            return True
        return is_one_of(exchange.key, *self._keys)


@lru_cache(maxsize=64)
def _names(host: str, port: int, came_by: str = "") -> frozenset[str]:
    """The names under which a listener may be asked; came_by: the number by which another machine reached it."""
    hosts = {"127.0.0.1", "localhost", "::1", host.lower(), *filter(None, [came_by])}
    names = {str(Address(host=one, port=port)) for one in hosts}
    if port == HTTP_PORT:  # clients leave the default port out
        names |= {name.removesuffix(f":{port}") for name in names}
    return frozenset(names)


def _plain(host: str) -> str:
    """A number as a client would write it: without a zone, and in IPv4 where it is mapped."""
    address = ipaddress.ip_address(host.partition("%")[0])
    return str(getattr(address, "ipv4_mapped", None) or address)


def _is_near(flow: http.HTTPFlow) -> bool:
    """Whether a program on this machine asks."""
    return bool(flow.client_conn.peername) and _is_loopback(flow.client_conn.peername[0])


def _not_ours(exchange: Exchange, provider: Provider, head: Head) -> http.Response:
    """The answer to what another vendor's program asks: of a WebSocket the one that makes it ask by HTTP at once."""
    message = f"this path is another service's, and {provider.name} is served here: point that program elsewhere"
    if "websocket" not in head.headers.get("upgrade", "").lower():
        return refusal(exchange, "F", 404, message, retry=False)
    response = refusal(exchange, "F", 426, message, retry=False)
    response.headers["upgrade"], response.headers["connection"] = "HTTP/1.1", "upgrade, close"
    return response


def _from_elsewhere(request: http.Request, allowed: frozenset[str]) -> str | None:
    """Why a web page may not ask."""
    origin = request.headers.get("origin", "").lower()
    if origin and origin not in {f"http://{name}" for name in allowed}:
        return "requests from web pages of another origin are not served: use flowpool's own address"
    if request.headers.get("sec-fetch-site", "none").lower() not in {"none", "same-origin"}:
        return "requests from other web sites are not served: use flowpool's own address"
    return None


def _is_for_proxies(field: tuple[bytes, bytes]) -> bool:
    return field[0].strip().lower().replace(b"_", b"-") == TUNNEL_HEADER.encode()


def _is_our_header(field: tuple[bytes, bytes]) -> bool:
    return _is_our_name(field[0])


@lru_cache(maxsize=512)  # a client sends the same names with every request
def _is_our_name(name: bytes) -> bool:
    return name.strip().lower().replace(b"_", b"-").startswith(_OUR_HEADERS)


def is_ours(path: str) -> bool:
    """Whether a path is flowpool's own, however it is written."""
    return _is_ours(path.partition("?")[0])


@lru_cache(maxsize=64)
def _is_ours(plain: str) -> bool:
    for _ in range(3):  # decoded as often as anybody behind us might
        plain = unquote(plain)
    plain = "/" + plain.replace("\\", "/").lstrip("/").lower()
    return any(_OURS.match(way) for way in (plain, posixpath.normpath(plain)))


@lru_cache(maxsize=16)
def _is_loopback(host: str) -> bool:
    address = ipaddress.ip_address(host.partition("%")[0])
    mapped = getattr(address, "ipv4_mapped", None)
    return (mapped or address).is_loopback
