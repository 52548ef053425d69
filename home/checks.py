"""What one setting's value must be; what is told of a wrong one never quotes it, since it may be a secret by mistake."""

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from credentials.loopback import is_loopback

if TYPE_CHECKING:
    from urllib.parse import SplitResult

LONGEST = 366 * 86400.0  # seconds; longer is a slip, and far longer ends past the last year of datetime
LONGEST_BEAT = 120.0  # seconds; clients give up streams that are silent for some minutes
MOST_TRIES = 20  # of one list of waits
MOST = 1_000_000_000  # ms or KiB; as good as endless
MOST_MIB = 1_000_000

_HOST = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9.-]{0,252}[A-Za-z0-9])?")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._\[\]-]{0,99}")
_ADDRESS = re.compile(r"(?:\[(?P<six>[0-9A-Fa-f:.]+)\]|(?P<host>[^\[\]:]+)):(?P<port>[0-9]{1,5})")


def _no_hint(_: Any) -> str:
    return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """What a value must be.

    wanted: type, unit and range, as they follow "must be". read: returns the value to use; the words of its ValueError are
    dropped, as they may quote the value. hint: what else to say to this value.
    """

    wanted: str
    read: Callable[[Any], Any]
    hint: Callable[[Any], str] = _no_hint

    def __call__(self, value: Any) -> Any:
        """Return the value to use; raise ValueError, which says what is wanted."""
        try:
            return self.read(value)
        except ValueError:
            raise ValueError(self.wanted + self.hint(value)) from None


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
            raise ValueError("no address, or a port over 65535")
        if match["six"]:
            import ipaddress  # noqa: PLC0415  # each of these costs some of the 150 ms that `status` may take

            return cls(host=str(ipaddress.IPv6Address(match["six"])), port=int(match["port"]))
        if not _HOST.fullmatch(match["host"]):
            raise ValueError("the host is neither a name nor a number")
        return cls(host=match["host"], port=int(match["port"]))

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"


def nearest(word: str, valid: Iterable[str]) -> str | None:
    """Return the valid word that was most likely meant."""
    import difflib  # noqa: PLC0415

    found = difflib.get_close_matches(word, tuple(valid), n=1, cutoff=0.5)
    return found[0] if found else None


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError  # noqa: TRY004
    return value


def number(low: float, high: float, wanted: str) -> Check:
    """Accept a finite number between two bounds; whole ones too, never true or false."""

    def read(value: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
            raise ValueError
        return float(value)

    return Check(wanted=wanted, read=read, hint=_plain)


def _plain(value: Any) -> str:
    return ": a number without quotes and without a unit" if isinstance(value, str) else ""


def one_of(*names: str) -> Check:
    """Accept one of a few names; an unknown one is answered with the nearest."""

    def read(value: Any) -> str:
        if isinstance(value, str) and value in names:
            return value
        raise ValueError

    def hint(value: Any) -> str:
        near = nearest(value, names) if isinstance(value, str) and len(names) > 1 else None
        return f'; did you mean "{near}"?' if near else ""

    return Check(wanted=" or ".join(f'"{name}"' for name in names), read=read, hint=hint)


def _waits(value: Any) -> tuple[float, ...]:
    if not isinstance(value, list) or len(value) > MOST_TRIES:
        raise ValueError
    return tuple(seconds(item) for item in value)


def _address(value: Any) -> Address:
    if not isinstance(value, str):
        raise ValueError  # noqa: TRY004
    return Address.parse(value)


def _address_or_none(value: Any) -> Address | None:
    return None if value == "" else _address(value)


def _name(value: Any) -> str:
    if not isinstance(value, str) or not (value == "" or _NAME.fullmatch(value)):
        raise ValueError
    return value


def _path(value: Any) -> str:
    if not isinstance(value, str) or not value.isprintable():
        raise ValueError
    if value and not value.startswith("~"):
        from pathlib import Path  # noqa: PLC0415  # few have one

        if not Path(value).is_absolute():
            raise ValueError
    return value


def _proxy(value: Any) -> str:
    """Read http://host:port; who needs a password sets it up in a proxy of this machine."""
    if value == "":
        return ""
    if not isinstance(value, str) or not value.startswith("http://"):
        raise ValueError
    address = _address(value.removeprefix("http://").removesuffix("/"))
    if address.port == 0:
        raise ValueError
    return f"http://{address}"


def _upstream(value: Any) -> str:
    parts = _url(value)
    if parts.path not in ("", "/"):
        raise ValueError
    return f"{parts.scheme}://{parts.netloc.lower()}"


def _endpoint(value: Any) -> str:
    parts = _url(value)
    return f"{parts.scheme}://{parts.netloc.lower()}{parts.path}"


def _url(value: Any) -> "SplitResult":
    """Read the address of a service; raise ValueError."""
    if not isinstance(value, str) or not value.isascii() or not value.isprintable() or " " in value:
        raise ValueError
    from urllib.parse import urlsplit  # noqa: PLC0415

    parts = urlsplit(value)
    host, port = parts.hostname or "", parts.port  # raises ValueError too
    if "@" in parts.netloc or "?" in value or "#" in value:
        raise ValueError
    if not _is_host(host) or port == 0 or parts.netloc.endswith(":"):
        raise ValueError
    if parts.scheme != "https" and not (parts.scheme == "http" and is_loopback(host)):
        raise ValueError
    return parts


def _day(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError  # noqa: TRY004
    text = value.strip()
    if text:
        from routing.priming import Day  # noqa: PLC0415  # few have one

        Day.parse(text)
    return text


def _zone(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError  # noqa: TRY004
    text = value.strip()
    if text:
        import zoneinfo  # noqa: PLC0415  # few have one

        try:
            zoneinfo.ZoneInfo(text)
        except (zoneinfo.ZoneInfoNotFoundError, OSError) as error:  # a folder's name is no zone either
            raise ValueError("no such zone") from error
    return text


flag = Check(wanted="true or false", read=_flag)
fraction = number(0, 1, "a number from 0 to 1")
seconds = number(0, LONGEST, "seconds, from 0 to a year")
beats = number(0, LONGEST_BEAT, f"seconds, from 0 to {LONGEST_BEAT:g}")
some_seconds = number(math.ulp(0), LONGEST, "seconds, more than 0 and at most a year")
milliseconds = number(0, MOST, f"a number of milliseconds from 0 to {MOST}")
kib = number(0, MOST, f"a number of KiB from 0 to {MOST}")
some_mib = number(math.ulp(0), MOST_MIB, f"a number of MiB, more than 0 and at most {MOST_MIB}")
days = number(math.ulp(0), LONGEST / 86400, f"a number of days, more than 0 and at most {LONGEST / 86400:g}")
waits = Check(wanted=f"a list of at most {MOST_TRIES} numbers, each of seconds from 0 to a year", read=_waits)
day = Check(wanted='two times that differ, such as "08:00-23:00" or "22:00-06:00", or "" for none', read=_day)
zone = Check(wanted='the name of a time zone, such as "Europe/Berlin", or "" for this machine\'s', read=_zone)
address = Check(wanted='an address such as "127.0.0.1:3456" or "[::1]:3456", port 0 to 65535', read=_address)
address_or_none = Check(
    wanted='an address such as "127.0.0.1:3458", port 0 to 65535, or "" for none', read=_address_or_none
)
name = Check(wanted='a name such as "opus" or "claude-opus-5-5", or "" for none', read=_name)
path = Check(wanted='a whole path, from the root or from "~", or "" for none', read=_path)
proxy = Check(wanted='a proxy such as "http://127.0.0.1:3128", without credentials, or "" for none', read=_proxy)
upstream = Check(
    wanted="a URL such as https://api.anthropic.com, without path, query or credentials, with http only to this machine"
    " (127.0.0.1, localhost, [::1])",
    read=_upstream,
)
endpoint = Check(
    wanted="a URL such as https://platform.claude.com/v1/oauth/token, without query or credentials, with http only to this"
    " machine (127.0.0.1, localhost, [::1])",
    read=_endpoint,
)


def _is_host(host: str) -> bool:
    return ":" in host or _HOST.fullmatch(host) is not None
