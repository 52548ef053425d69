"""The token of a Claude Code that has no login of its own: with it Claude Code speaks as a subscription's client, and nobody else takes it."""

import base64
import binascii
from urllib.parse import unquote_to_bytes

PLACEHOLDER = "sk-ant-oat01-flowpool-placeholder"
_BYTES = PLACEHOLDER.encode()
_DISGUISES = (b"%", b"basic ")
_TIMES = 3  # decoded as often as anybody behind us might


def holds(value: bytes) -> bool:
    """Whether a header's name or value has the placeholder in it, whatever stands around it, in whatever case and writing."""
    if _BYTES in value.lower():
        return True
    return (b"%" in value and _BYTES in unquote_to_bytes(value).lower()) or _BYTES in _coded(value)


def without(fields: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """A head's fields but those that hold it; of most heads one look at the whole tells that none does."""
    text = b"\n".join([part for field in fields for part in field]).lower()
    if _BYTES not in text and not any(mark in text for mark in _DISGUISES):
        return fields
    return [field for field in fields if not any(map(holds, field))]


def is_in_address(path: str) -> bool:
    """Whether a path or its query has it in it, however it is written."""
    plain = path.encode("utf-8", "surrogateescape")
    for _ in range(_TIMES):
        if holds(plain):
            return True
        if b"%" not in plain:
            return False
        plain = unquote_to_bytes(plain)
    return holds(plain)


def _coded(value: bytes) -> bytes:
    """What is behind the scheme Basic, read; nothing where there is nothing."""
    if value[:6].lower() != b"basic ":
        return b""
    try:
        return base64.b64decode(value[6:], validate=False).lower()
    except (ValueError, binascii.Error):
        return b""
