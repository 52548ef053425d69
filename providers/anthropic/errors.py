"""The vendor's error shape: reading it out of bodies and events, and writing our own."""

import re
from dataclasses import dataclass

import msgspec

_CUT = 4096  # bytes of a body that is no JSON in which a phrase is looked for
_TYPE = re.compile(r'"type"\s*:\s*"([a-z_]+_error)"')
_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    408: "timeout_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}
_SERVER_ERROR = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """What an error says; every part is empty when it was not said."""

    type: str = ""
    message: str = ""
    code: str = ""


def read_fault(body: bytes) -> Fault:
    """The error in a body or an event's data, never failing; of a body that was cut, what can still be told."""
    if not body:
        return Fault()
    try:
        tree: object = msgspec.json.decode(body)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return _cut_fault(body)
    error = dig(tree, "error")
    message = error if isinstance(error, str) else dig(error, "message")
    return Fault(type=text(dig(error, "type")), message=text(message), code=text(dig(error, "details", "error_code")))


def _cut_fault(body: bytes) -> Fault:
    if body.lstrip()[:1] == b"<":
        return Fault()
    start = body[:_CUT].decode("utf-8", "replace")
    match = _TYPE.search(start)
    return Fault(type=match[1] if match else "", message=start)


def dig(tree: object, *keys: str) -> object:
    """The value under a path of keys; None where there is no such path."""
    for key in keys:
        if not isinstance(tree, dict):
            return None
        tree = tree.get(key)
    return tree


def text(value: object) -> str:
    """The value if it is a text, else an empty one."""
    return value if isinstance(value, str) else ""


def type_of(status: int) -> str:
    """The vendor's error type for a status."""
    return _TYPES.get(status, "api_error" if status >= _SERVER_ERROR else "invalid_request_error")


def fault_body(fault_type: str, message: str) -> bytes:
    """An error as the vendor writes it, in one line."""
    return msgspec.json.encode({"type": "error", "error": {"type": fault_type, "message": message}})
