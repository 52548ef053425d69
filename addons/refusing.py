"""Refusing: the starts that could not serve anybody, each told in one line that says what to do instead."""

import os
import urllib.request
from collections.abc import Callable, Iterable

from mitmproxy import ctx
from mitmproxy.proxy.mode_specs import ProxyMode, ReverseMode

from addons import handed
from credentials.loopback import is_loopback
from home import ports, running
from home.checks import Address
from home.paths import Home
from home.settings import Settings

EVERYWHERE = ("", "0.0.0.0", "::")  # noqa: S104 - compared, not bound
_STRAIGHT = urllib.request.build_opener(urllib.request.ProxyHandler({}))
"""What asks this machine: not through the proxy that http_proxy names."""


class StartError(Exception):
    """flowpool cannot start; the message is one line."""


def refuse_all_taken(
    settings: Settings, listen: Address, has: Callable[[Address], bool] = lambda _address: False
) -> None:
    """Refuse any address that is taken of those where we listen; listen: where [listen] claude is to be. has: whether an address is ours already."""
    if not has(listen):
        refuse_taken(listen)
    forward = settings.listen.forward
    if forward is None:
        return
    if forward == listen:  # also two of port 0: mitmproxy tells its modes apart by their text
        raise StartError(f"[listen] claude and forward are both {listen}; set another address for one: in config.toml")
    if not has(forward):
        refuse_taken(forward, "forward")


def refuse_taken(listen: Address, setting: str = "claude") -> None:
    """Say who has the address, or why nobody can; mitmproxy would only repeat the system's error."""
    if why := ports.unfit(listen):
        raise StartError(
            f"nobody can listen on {listen} here: {why}; set another address: [listen] {setting} in config.toml"
        )
    if not ports.is_taken(listen):
        return
    if (holder := ports.holder(listen.port)) and holder[1] == handed.taken().predecessor:
        raise StartError(
            f"{listen} cannot be taken over, as the proxy that runs has that port at another address;"
            " run: flowpool stop, then flowpool start"
        )
    raise StartError(
        f"{listen} is taken by {ports.owner(listen.port)}; stop it, or set another address:"
        f" [listen] {setting} in config.toml"
    )


def refuse_loop(modes: Iterable[str]) -> None:
    """Say that an upstream is where we listen ourselves: each request would come back to us."""
    for mode in map(ProxyMode.parse, modes):
        if isinstance(mode, ReverseMode):
            host, port = mode.address
            listen = mode.listen_host(ctx.options.listen_host), mode.listen_port(ctx.options.listen_port)
            if port == listen[1] and _meet(host, listen[0]):
                raise StartError(
                    f"the upstream {host}:{port} is this proxy itself; set [providers.anthropic] upstream in config.toml"
                    " to the provider's address"
                )


def _meet(host: str, listen: str) -> bool:
    """Whether who asks that host on this machine meets who listens there; no listen means everywhere."""
    return host == listen or (is_loopback(host) and (listen in EVERYWHERE or "localhost" in (host, listen)))


def refuse_second(home: Home) -> None:
    """One proxy per home: each would learn of limits alone, and hide the other from the command line."""
    other = running.read(home.running)
    if other is None or other.pid in (os.getpid(), handed.taken().predecessor):
        return
    for address in other.listen.values():
        try:
            with _STRAIGHT.open(f"http://{address}/_flowpool/health", timeout=1):
                raise StartError(
                    f"a proxy runs already on {address} (pid {other.pid}); stop it first: flowpool stop,"
                    " or give this one a FLOWPOOL_HOME of its own"
                )
        except OSError:
            continue
