"""The way to the services that credentials are for: straight, or through the proxy of somebody's network."""

from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, urlsplit

from credentials.loopback import is_loopback

if TYPE_CHECKING:
    import ssl
    from http.client import HTTPConnection

LOGIN_WANTED = 407
HTTPS_PORT = 443
_REFUSED = "Tunnel connection failed: "
"""How the standard library begins to say that a proxy opened no tunnel; its status follows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """How this machine reaches services.

    proxy: of http, as "http://host:port"; empty: none. ca_bundle: a PEM file of authorities trusted besides the usual ones; empty: none.
    """

    proxy: str = ""
    ca_bundle: str = ""

    @property
    def proxy_address(self) -> tuple[str, int]:
        """Host and port of the proxy, where there is one."""
        at = urlsplit(self.proxy)
        return at.hostname or "", at.port or 0


DIRECT = Way()


def connection(at: SplitResult, way: Way, patience: float) -> "HTTPConnection":
    """Return what will connect to a service; raises OSError where certificates cannot be read.

    Without TLS only this machine is asked, and never through a proxy.
    """
    from http.client import HTTPConnection, HTTPSConnection  # noqa: PLC0415  # whoever asks nothing need not wait for it

    host = at.hostname or ""
    if at.scheme == "http" and is_loopback(host):
        return HTTPConnection(host, at.port, timeout=patience)
    context = authorities(way)
    if not way.proxy:
        return HTTPSConnection(host, at.port, timeout=patience, context=context)
    found = HTTPSConnection(*way.proxy_address, timeout=patience, context=context)
    found.set_tunnel(host, at.port or HTTPS_PORT)
    return found


def authorities(way: Way) -> "ssl.SSLContext":
    """Return whom to trust: the authorities that mitmproxy trusts, and the person's own."""
    import ssl  # noqa: PLC0415  # as above

    import certifi  # noqa: PLC0415  # as above

    context = ssl.create_default_context(cafile=certifi.where())
    if way.ca_bundle:
        context.load_verify_locations(cafile=way.ca_bundle)
        context.verify_flags &= ~ssl.VERIFY_X509_STRICT  # networks' own authorities are seldom so; mitmproxy takes them
    return context


def told(error: OSError, way: Way, *, is_connected: bool) -> str:
    """Say why nothing came back; what a proxy did is said of the proxy. is_connected: whether the service itself was reached."""
    why = getattr(error, "verify_message", "") or error.strerror or type(error).__name__
    if is_connected or not way.proxy or hasattr(error, "library"):  # as errors of TLS have: there was a tunnel
        return str(why)
    _, is_refusal, status = str(error).partition(_REFUSED)
    return refused(way.proxy, status) if is_refusal else unreached(way.proxy, str(why))


def before(why: str, way: Way) -> str:
    """Say why no connection came about, where it cannot be told how far it came: the proxy is the first that was asked."""
    return unreached(way.proxy, why) if way.proxy else why


def refused(proxy: str, status: str) -> str:
    """Say that a proxy opened no tunnel. status: how it answered; what follows the number is the proxy's own text, and is dropped."""
    code = "".join(filter(str.isdigit, status[:3]))
    wants = ": it wants a login, which flowpool does not give" if code == str(LOGIN_WANTED) else ""
    return f"your network's proxy at {_at(proxy)} refused with {code or 'nonsense'}{wants}; see [outbound] proxy"


def unreached(proxy: str, why: str) -> str:
    """Say that a proxy did not answer."""
    return f"your network's proxy at {_at(proxy)} gave no connection ({why}); see [outbound] proxy"


def _at(proxy: str) -> str:
    return proxy.removeprefix("http://")
