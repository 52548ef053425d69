"""Masking in whole messages: no secret that is known, and nothing of a login's shape, in heads or bodies that are written down."""

import json
import re
from collections.abc import Iterable, Iterator

from addons.sign import MASK, SETS_COOKIE, is_secret

SHORTEST = 8
"""Letters; what is shorter is no secret worth the name, and would be found in every text."""
DELETE = 0x7F

_USUAL = b"sk-ant-"
_SHAPE = re.compile(rb"sk-ant-[A-Za-z0-9_-]{8,}")
_SETS = SETS_COOKIE.encode()
_PARTS = re.compile(rb"[^\s;,]+")
_DELTA = re.compile(rb'"(?:text|thinking|partial_json)":\s?"((?:[^"\\]|\\.)*)"')
_STEERING_TOO = re.compile(rb"\xc2[\x80-\x9f]")
"""What does so as one character beyond ASCII, in UTF-8."""
_STEERING = bytes(
    byte if byte in b"\t\n\r" or (byte >= ord(" ") and byte != DELETE) else ord(".") for byte in range(256)
)


def secrets_of(fields: Iterable[tuple[bytes, bytes]]) -> set[bytes]:
    """The secrets that a client's own fields hold: whole values, and what stands in them behind a scheme or a name."""
    found: set[bytes] = set()
    for _, value in fields:
        found.add(value.strip())
        for part in _PARTS.findall(value):
            found |= {part, part.partition(b"=")[2]}
    return {secret for secret in found if len(secret) >= SHORTEST}


def masked_fields(fields: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """A head's fields, those that hold credentials by their name masked."""
    return [(name, MASK if is_secret(name) or name.lower() == _SETS else value) for name, value in fields]


def masked(data: bytes, secrets: Iterable[bytes]) -> bytes:
    """The bytes without those secrets, as they are or as JSON writes them, without logins' shapes, and without what steers terminals."""
    usual = _USUAL in data  # all of a pool's secrets begin so, and looking for each takes a request's time
    for secret in _written(secrets):
        if usual or _USUAL not in secret:
            data = data.replace(secret, MASK)
    return _STEERING_TOO.sub(b".", _SHAPE.sub(MASK, data)).translate(_STEERING)


def masked_deltas(data: bytes, secrets: Iterable[bytes]) -> bytes:
    """An event stream without the secrets that stand in it piecemeal, as a model that repeats one sends it: a few letters an event."""
    pieces = [found.span(1) for found in _DELTA.finditer(data)]
    text = b"".join([data[start:end] for start, end in pieces])
    hidden = bytearray(len(text))
    for start, end in _places(text, secrets):
        hidden[start:end] = b"\1" * (end - start)
    if not any(hidden):
        return data
    parts, done, at = [], 0, 0
    for start, end in pieces:
        parts += [data[done:start], _shown(text, hidden, at, at + end - start)]
        done, at = end, at + end - start
    return b"".join([*parts, data[done:]])


def _places(text: bytes, secrets: Iterable[bytes]) -> Iterator[tuple[int, int]]:
    for secret in _written(secrets):
        at = text.find(secret)
        while at >= 0:
            yield at, at + len(secret)
            at = text.find(secret, at + 1)
    for found in _SHAPE.finditer(text):
        yield found.span()


def _shown(text: bytes, hidden: bytearray, start: int, end: int) -> bytes:
    """A part of the text; what is hidden is masked where it begins."""
    if not any(hidden[start:end]):
        return text[start:end]
    shown = bytearray()
    for at in range(start, end):
        if not hidden[at]:
            shown.append(text[at])
        elif at == 0 or not hidden[at - 1]:
            shown += MASK
    return bytes(shown)


def _written(secrets: Iterable[bytes]) -> list[bytes]:
    """Secrets as they are and as JSON writes them, the longest first."""
    ways = {*secrets, *map(_as_json, secrets)}
    return sorted((way for way in ways if len(way) >= SHORTEST), key=len, reverse=True)


def _as_json(secret: bytes) -> bytes:
    return json.dumps(secret.decode("latin-1"))[1:-1].encode()
