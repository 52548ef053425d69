"""What one setting's value must be: each check returns the value to use or raises ValueError with what is expected."""

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

type Check = Callable[[Any], Any]

LONGEST = 366 * 86400.0  # seconds; longer is a slip, and far longer ends past the last year of datetime
MOST_TRIES = 20  # of one list of waits

_HOST = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9.-]{0,252}[A-Za-z0-9])?")
_ADDRESS = re.compile(r"(?:\[(?P<six>[0-9A-Fa-f:.]+)\]|(?P<host>[^\[\]:]+)):(?P<port>[0-9]{1,5})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """Where to listen.

    host: a name or a number, IPv6 without brackets. port: 0 lets the system choose.
    """

    host: str
    port: int

    @classmethod
    def parse(cls, text: str) -> "Address":
        """Read host:port or [IPv6]:port; raise ValueError."""
        match = _ADDRESS.fullmatch(text)
        if match is None or int(match["port"]) > 65535:  # noqa: PLR2004
            raise ValueError('an address such as "127.0.0.1:3456" or "[::1]:3456", port 0 to 65535')
        if match["six"]:
            import ipaddress  # noqa: PLC0415  # each of these costs some of the 150 ms that `status` may take

            return cls(host=str(ipaddress.IPv6Address(match["six"])), port=int(match["port"]))
        if not _HOST.fullmatch(match["host"]):
            raise ValueError("an address whose host is a name or a number")
        return cls(host=match["host"], port=int(match["port"]))

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"


def nearest(word: str, valid: Iterable[str]) -> str | None:
    """Return the valid word that was most likely meant."""
    import difflib  # noqa: PLC0415

    found = difflib.get_close_matches(word, tuple(valid), n=1, cutoff=0.5)
    return found[0] if found else None


def flag(value: Any) -> bool:
    """Accept true and false alone."""
    if not isinstance(value, bool):
        raise ValueError("true or false")  # noqa: TRY004
    return value


def number(low: float, high: float, what: str) -> Check:
    """Accept a finite number between two bounds; whole ones too, never true or false."""

    def check(value: Any) -> float:
        if isinstance(value, str):
            raise ValueError(f"{what}: a number without quotes and without a unit")  # noqa: TRY004
        if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
            raise ValueError(what)
        return float(value)

    return check


fraction = number(0, 1, "a number from 0 to 1")
seconds = number(0, LONGEST, "seconds, from 0 to a year")
some_seconds = number(math.ulp(0), LONGEST, "seconds, more than 0 and at most a year")
amount = number(0, 1e9, "a number, 0 or more")
some_amount = number(math.ulp(0), 1e6, "a number, more than 0")


def waits(value: Any) -> tuple[float, ...]:
    """Accept a list of seconds, which may be empty."""
    if not isinstance(value, list) or len(value) > MOST_TRIES:
        raise ValueError(f"a list of at most {MOST_TRIES} numbers, in seconds")
    try:
        return tuple(seconds(item) for item in value)
    except ValueError:
        raise ValueError("a list of seconds, each from 0 to a year") from None


def one_of(*names: str) -> Check:
    """Accept one of a few names; an unknown one is answered with the nearest."""
    valid = " or ".join(f'"{name}"' for name in names)

    def check(value: Any) -> str:
        if isinstance(value, str) and value in names:
            return value
        near = nearest(value, names) if isinstance(value, str) else None
        raise ValueError(f'{valid}; did you mean "{near}"?' if near and len(names) > 1 else valid)

    return check


def address(value: Any) -> Address:
    """Accept host:port."""
    if not isinstance(value, str):
        raise ValueError('an address such as "127.0.0.1:3456"')  # noqa: TRY004
    return Address.parse(value)


def upstream(value: Any) -> str:
    """Accept the root of a service: https, or http to this machine. The message never quotes it: it may hold a password."""
    wanted = "a URL such as https://api.anthropic.com"
    if not isinstance(value, str) or not value.isascii() or not value.isprintable() or " " in value:
        raise ValueError(wanted)
    from urllib.parse import urlsplit  # noqa: PLC0415

    parts = urlsplit(value)
    host, port = parts.hostname or "", parts.port  # raises ValueError too
    if "@" in parts.netloc or "?" in value or "#" in value or parts.path not in ("", "/"):
        raise ValueError(f"{wanted}, without path, query or credentials")
    if not _is_host(host) or port == 0 or parts.netloc.endswith(":"):
        raise ValueError(wanted)
    if parts.scheme == "http" and not is_loopback(host):
        raise ValueError("https, or http only to this machine (127.0.0.1, localhost, [::1])")
    if parts.scheme not in ("http", "https"):
        raise ValueError(wanted)
    return f"{parts.scheme}://{parts.netloc.lower()}"


def is_loopback(host: str) -> bool:
    """Tell whether a host is this machine by its name alone."""
    import ipaddress  # noqa: PLC0415

    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _is_host(host: str) -> bool:
    return ":" in host or _HOST.fullmatch(host) is not None
