"""Admission key: what a program shows to be let in where `[admit] key` is on."""

import base64
import binascii
import hmac
from collections.abc import Mapping

from credentials.secret import Secret

HEADER = "x-flowpool-key"
TUNNEL_HEADER = "proxy-authorization"
"""Where what asks for a tunnel shows it: as the password, whatever the user's name is. Fact: RFC 9110, 11.7.1."""


def shown(headers: Mapping[str, str], *keys: Secret) -> bool:
    """Whether the headers hold one of the keys, whichever of the two fields it is in.

    For a tunnel's headers as they came, or for those of a request by its own field alone: a request's Proxy-Authorization is the
    client's own secret and has left the headers before. Each key is compared in full, so that time tells nothing of it.
    """
    given = [headers.get(HEADER, ""), _password(headers.get(TUNNEL_HEADER, ""))]
    return sum(is_one_of(text, *keys) for text in given) > 0


def is_one_of(text: str, *keys: Secret) -> bool:
    """Whether a text is one of the keys."""
    data = text.encode("utf-8", "surrogateescape")
    return sum(hmac.compare_digest(data, key.reveal().encode()) for key in keys) > 0  # all of them are compared


def _password(value: str) -> str:
    """The password of Basic credentials; nothing where there is none."""
    scheme, _, coded = value.strip().partition(" ")
    if scheme.lower() != "basic":
        return ""
    try:
        return base64.b64decode(coded.strip(), validate=True).partition(b":")[2].decode("utf-8", "surrogateescape")
    except (ValueError, binascii.Error):
        return ""
