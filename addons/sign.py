"""Signing: the only place where a choice of account and its secret meet.

The flow never holds a live credential. What is sent is a copy of its head, made at the moment of sending.
"""

import copy
from collections.abc import Iterator, Mapping
from functools import lru_cache

from mitmproxy import http
from mitmproxy.net.http import url

from addons.exchange import CLIENT, Exchange
from credentials.credential import Credential
from providers.anthropic import placeholder
from providers.contract import Ride
from providers.known import KNOWN
from routing.words import Account, AccountId

MASK = b"[masked]"
SECRET_HEADERS = frozenset(name.encode() for provider in KNOWN for name in provider.secret_headers)
"""Masked whoever is asked: a client may show one service what is meant for another."""
HOP_BY_HOP = frozenset({b"host", b"connection"})
"""What is said anew on every hop, as far as it concerns us."""

SETS_COOKIE = "set-cookie"

_BREAKS = (b"\r", b"\n", b"\0")

type Fields = list[tuple[bytes, bytes]]


class Signer:
    """Puts the payer's credential on what is sent."""

    def __init__(self, accounts: Mapping[AccountId, Account], credentials: Mapping[AccountId, Credential]) -> None:
        self._accounts = accounts
        self._credentials = credentials

    def has(self, account: AccountId) -> bool:
        """Whether the account's secret is at hand; the client brings its own."""
        return account == CLIENT or account in self._credentials

    def signed(self, request: http.Request, exchange: Exchange | None) -> http.Request:
        """A copy of the request's head as the upstream gets it; without an exchange it carries no credential at all."""
        head = copy.copy(request)
        head.data = copy.copy(request.data)
        head.data.content = None  # the head only: mitmproxy keeps it until the stream ends
        head.data.authority = b""  # whatever form the client's target had, the upstream gets a path
        fields = [
            (name, _hop_by_hop(name, value, request) if name.lower() in HOP_BY_HOP else value)
            for name, value in request.headers.fields
        ]
        if exchange is None:
            fields = _without_secrets(fields)
        elif exchange.is_pooled:
            fields = _with_identity(self._on_account(fields, exchange))
        elif exchange.is_on_primary:
            fields = self._on_account(fields, exchange)
        elif exchange.lacks_login:
            fields = _without_secrets(fields)
        else:
            fields = list(_with_own(fields, list(exchange.own)))
        head.data.headers = http.Headers(placeholder.without(fields))
        return head

    def _on_account(self, fields: Fields, exchange: Exchange) -> Fields:
        if exchange.account is None or exchange.provider is None:
            raise AssertionError("a request is signed only on a chosen account")
        ride = exchange.provider.ride(self._accounts[exchange.account].kind)
        exchange.signed = self._credentials[exchange.account].access
        place = next((i for i, (name, _) in enumerate(fields) if is_secret(name)), len(fields))
        kept_before = len(_without_secrets(fields[:place]))
        fields = _without_secrets(fields)
        fields.insert(kept_before, (ride.header.encode(), ride.value.format(exchange.signed.reveal()).encode()))
        return _with_list(fields, ride)


def mask(request: http.Request) -> tuple[tuple[bytes, bytes], ...]:
    """Mask every secret header of the request in place; returns the fields that were there, in order.

    A value that hides further lines is masked too, and lost: such a request is never sent.
    """
    fields = request.headers.fields
    own = tuple((name, value) for name, value in fields if is_secret(name))
    is_torn = hides_lines(request)
    if own or is_torn:
        request.headers.fields = tuple(
            (name, MASK if is_secret(name) or (is_torn and _breaks(value)) else value) for name, value in fields
        )
    return own


def forget_cookies(answer: http.Response) -> None:
    """Drop what an answer would have its client keep: it was set for the account that paid, and would go out with another's."""
    answer.headers.pop(SETS_COOKIE, None)


@lru_cache(maxsize=512)  # a client sends the same names with every request
def is_secret(name: bytes) -> bool:
    """Whether a field of that name may hold a credential, however the name is written."""
    return name.strip().lower().replace(b"_", b"-") in SECRET_HEADERS


def hides_lines(request: http.Request) -> bool:
    """Whether a field holds a line break or NUL, which other servers may take for the beginning of another field."""
    return _breaks(b" ".join([part for field in request.headers.fields for part in field]))


def _breaks(text: bytes) -> bool:
    return any(mark in text for mark in _BREAKS)


def _hop_by_hop(name: bytes, value: bytes, request: http.Request) -> bytes:
    """The value for the next hop: its own Host, and no Connection header that would make it drop the credential."""
    if name.lower() == b"host":
        return _host(request)
    tokens = value.split(b",")
    kept = [token for token in tokens if not is_secret(token)]
    return value if len(kept) == len(tokens) else b",".join(kept)


def _host(request: http.Request) -> bytes:
    host = f"[{request.host}]" if ":" in request.host else request.host
    return url.hostport(request.scheme, host, request.port).encode()


def _without_secrets(fields: Fields) -> Fields:
    return [(name, value) for name, value in fields if not is_secret(name)]


def _with_own(fields: Fields, own: Fields) -> Iterator[tuple[bytes, bytes]]:
    """Put the client's own values where they were masked; what another addon added or took since is its business."""
    left = list(own)
    for name, value in fields:
        if value != MASK or not is_secret(name):
            yield name, value
            continue
        mine = next((field for field in left if field[0].lower() == name.lower()), None)
        if mine is not None:
            left.remove(mine)
            yield name, mine[1]


def _with_identity(fields: Fields) -> Fields:
    """Ask for an uncompressed answer, so that a stream can be read as it passes."""
    if any(name.lower() == b"accept-encoding" for name, _ in fields):
        return [(name, b"identity" if name.lower() == b"accept-encoding" else value) for name, value in fields]
    return [*fields, (b"accept-encoding", b"identity")]


def _with_list(fields: Fields, ride: Ride) -> Fields:
    """Add to and take from a comma list what the credential's kind demands; a list that is right stays byte for byte."""
    name = ride.list_header.encode()
    held = [value.decode("latin-1") for key, value in fields if key.lower() == name]
    members = [member.strip() for value in held for member in value.split(",") if member.strip()]
    missing = ride.gains.difference(members)
    if not missing and not ride.loses.intersection(members):
        return fields
    wanted = ",".join([m for m in members if m not in ride.loses] + sorted(missing)).encode("latin-1")
    result: Fields = []
    for key, value in fields:
        if key.lower() != name:
            result.append((key, value))
        elif wanted:
            result.append((key, wanted))
            wanted = b""
    if wanted:
        result.append((name, wanted))
    return result
