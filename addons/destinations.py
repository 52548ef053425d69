"""Destinations: where a tunnel may not lead, by its name alone and by where it led once connected.

The second look is the one that counts: names may point anywhere, and to another place than when they were looked up.
"""

import ipaddress
import socket
from collections.abc import Iterable

type Ip = ipaddress.IPv4Address | ipaddress.IPv6Address
type Listeners = Iterable[tuple[str, int]]

METADATA = frozenset(map(ipaddress.ip_address, ("fd00:ec2::254", "fd20:ce::254", "100.100.100.200")))
"""Where clouds hand out credentials to who asks from the machine itself, besides the link-local addresses."""

OURSELVES = "it is flowpool itself: set NO_PROXY=127.0.0.1,localhost for programs that ask it directly"
NEIGHBOUR = "link-local, multicast and metadata addresses are not served: ask them without a proxy, by NO_PROXY"


def literal(host: str) -> Ip | None:
    """The address that a host is by its text alone, however it is spelt; None of a name that must be looked up."""
    name = host.strip("[]").rstrip(".").lower()
    if name == "localhost" or name.endswith(".localhost"):
        return ipaddress.IPv4Address("127.0.0.1")
    try:
        return _plain(ipaddress.ip_address(name.partition("%")[0]))
    except ValueError:
        pass
    try:  # 127.1, 0x7f000001, 2130706433: what the system's own resolver takes for an address
        return ipaddress.IPv4Address(socket.inet_aton(name))
    except (OSError, ValueError):
        return None


def unfit(host: str, port: int, listeners: Listeners) -> str | None:
    """Why nothing is connected to that host, as far as its text tells; listeners are where we listen."""
    ip = literal(host)
    return None if ip is None else _unfit(ip, port, listeners, is_local=False)


def led_astray(peer: tuple[str, int], own: tuple[str, int], listeners: Listeners) -> str | None:
    """Why a connection that stands must not be used; own: the address on our side of it."""
    ip, ours = literal(peer[0]), literal(own[0])
    return NEIGHBOUR if ip is None else _unfit(ip, peer[1], listeners, is_local=ip == ours)


def _unfit(ip: Ip, port: int, listeners: Listeners, *, is_local: bool) -> str | None:
    if any(port == at and _meets(ip, literal(host), is_local=is_local) for host, at in listeners):
        return OURSELVES
    if ip.is_link_local or ip.is_multicast or ip in METADATA:
        return NEIGHBOUR
    return None


def _meets(ip: Ip, listens: Ip | None, *, is_local: bool) -> bool:
    """Whether who asks there meets who listens here; all of loopback counts as one, and a name as everywhere."""
    is_here = is_local or ip.is_loopback or ip.is_unspecified
    return ip == listens or (is_here and (listens is None or listens.is_unspecified or listens.is_loopback))


def _plain(ip: Ip) -> Ip:
    """An IPv4 address that is written as IPv6, as what it is."""
    return getattr(ip, "ipv4_mapped", None) or ip
