"""Admit: who may speak, in which mode, on which path; and no secret header stays on any flow."""

import ipaddress
import posixpath
import re
from collections.abc import Mapping
from functools import lru_cache
from urllib.parse import unquote

from mitmproxy import http
from mitmproxy.proxy.mode_specs import ReverseMode

from addons.exchange import EXCHANGES, Exchange, Path
from addons.guard import fail_closed
from addons.limits import request_head
from addons.replies import refusal
from addons.sign import hides_lines, mask
from home.checks import Address
from home.settings import Settings
from providers.contract import Head, Provider

PREFIX = "/_flowpool"
HTTP_PORT = 80
KEY_HEADER = "x-flowpool-key"
PIN_HEADER = "x-flowpool-pin"
_OURS = re.compile(re.escape(PREFIX) + r"(?![a-z0-9_-])")
_FROM_A_PAGE = frozenset({"origin", "sec-fetch-site"})
"""Headers that browsers send, and programs do not."""
_OUR_HEADERS = b"x-flowpool-"

type Upstream = tuple[str, str, int]


class Admit:
    """Opens an exchange for every request, and answers at once those that may go no further."""

    name = "flowpool_admit"

    def __init__(self, settings: Settings, providers: Mapping[Upstream, Provider]) -> None:
        self._settings = settings
        self._providers = providers
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
            exchange.path = Path.LOCAL
        elif exchange.provider is not None:
            self._sort(flow, exchange, exchange.provider, head)

    @fail_closed
    def http_connect(self, flow: http.HTTPFlow) -> None:
        """No tunnels: what is asked through one could not be signed."""
        exchange = self._open(flow)
        message = "flowpool opens no tunnels: set ANTHROPIC_BASE_URL instead"
        flow.response = refusal(exchange, "E", 400, message, retry=False)

    def _open(self, flow: http.HTTPFlow) -> Exchange:
        """Begin the exchange: from here nothing secret is on the flow."""
        request = flow.request
        key = pin = ""
        if any(map(_is_our_header, request.headers.fields)):
            key, pin = request.headers.get(KEY_HEADER, ""), request.headers.get(PIN_HEADER, "")
            request.headers.fields = tuple(f for f in request.headers.fields if not _is_our_header(f))
        is_torn = hides_lines(request)
        exchange = Exchange(limits=self._settings.limits, rules=self._settings.rules, own=mask(request), key=key)
        exchange.is_torn, exchange.pin = is_torn, pin
        EXCHANGES[flow] = exchange
        return exchange

    def _provider(self, flow: http.HTTPFlow) -> Provider | None:
        mode = flow.client_conn.proxy_mode
        if not isinstance(mode, ReverseMode):
            return None
        return self._providers.get((mode.scheme, mode.address[0], mode.address[1]))

    def _sort(self, flow: http.HTTPFlow, exchange: Exchange, provider: Provider, head: Head) -> None:
        if provider.is_misplaced(head):
            base = f"http://{flow.request.headers.get('host', self._listen)}"
            message = f"this path is not served: set ANTHROPIC_BASE_URL={base}"
            flow.response = refusal(exchange, "F", 404, message, retry=False)
        else:
            exchange.path = Path.POOLED if provider.is_pooled(head) else Path.PASSED

    def _refusal(self, flow: http.HTTPFlow, exchange: Exchange, head: Head) -> str | None:
        """Why the request is not let in, saying what to set; None when it is."""
        if exchange.is_torn:
            return "a header holds a line break: send each header on a line of its own"
        if exchange.provider is None:
            return "this mitmproxy mode is not flowpool's: start it without --mode, or as a reverse proxy to a provider"
        if not flow.client_conn.peername or not _is_loopback(flow.client_conn.peername[0]):
            return "only programs on this machine are served: ask on 127.0.0.1"
        allowed = _names(self._settings.listen.claude.host, flow.client_conn.sockname[1])
        if flow.request.headers.get("host", "").lower() not in allowed:
            base = f"http://{Address(host=flow.client_conn.sockname[0], port=flow.client_conn.sockname[1])}"
            return f"the Host header is not one of flowpool's: set ANTHROPIC_BASE_URL={base}"
        return _from_elsewhere(flow.request, allowed) if _FROM_A_PAGE & head.headers.keys() else None


@lru_cache(maxsize=16)
def _names(host: str, port: int) -> frozenset[str]:
    """The names under which a listener may be asked."""
    names = {f"{name}:{port}" for name in ("127.0.0.1", "localhost", "[::1]")}
    names.add(str(Address(host=host, port=port)).lower())
    if port == HTTP_PORT:  # clients leave the default port out
        names |= {"127.0.0.1", "localhost", "[::1]"}
    return frozenset(names)


def _from_elsewhere(request: http.Request, allowed: frozenset[str]) -> str | None:
    """Why a web page may not ask."""
    origin = request.headers.get("origin", "").lower()
    if origin and origin not in {f"http://{name}" for name in allowed}:
        return "requests from web pages of another origin are not served: use flowpool's own address"
    if request.headers.get("sec-fetch-site", "none").lower() not in {"none", "same-origin"}:
        return "requests from other web sites are not served: use flowpool's own address"
    return None


def _is_our_header(field: tuple[bytes, bytes]) -> bool:
    return field[0].lower().startswith(_OUR_HEADERS)


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
