"""One question to a running proxy, over plain HTTP.

The standard library's client costs 25 of the 150 ms that `status` may take, and limits each wait but not the whole.
"""

import re
import socket
import time
from collections.abc import Mapping

from home.checks import Address

LARGEST = 16 * 2**20  # bytes of an answer

_STATUS = re.compile(rb"HTTP/1\.[01] ([0-9]{3})[ \r]")
_LENGTH = re.compile(rb"\r\ncontent-length:[ \t]*([0-9]{1,9})[ \t]*\r\n", re.IGNORECASE)


def get(address: Address, path: str, headers: Mapping[str, str], patience: float) -> tuple[int, bytes]:
    """Return an answer's status and body; patience is for all of it, in seconds.

    Raises ConnectionRefusedError, TimeoutError, another OSError, or ValueError when the answer is not whole HTTP.
    """
    return _exchange(f"GET {path}", address, headers, b"", patience)


def post(address: Address, path: str, headers: Mapping[str, str], body: bytes, patience: float) -> tuple[int, bytes]:
    """Send a JSON body; otherwise like get."""
    framed = {**headers, "Content-Type": "application/json", "Content-Length": str(len(body))}
    return _exchange(f"POST {path}", address, framed, body, patience)


def _exchange(
    what: str, address: Address, headers: Mapping[str, str], body: bytes, patience: float
) -> tuple[int, bytes]:
    deadline = time.monotonic() + patience
    lines = [f"{what} HTTP/1.1", f"Host: {address}", "Accept: application/json", "Connection: close"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    with socket.create_connection((address.host, address.port), timeout=patience) as connection:
        connection.sendall("\r\n".join([*lines, "", ""]).encode("ascii") + body)
        head, body = _receive(connection, deadline)
    status, length = _STATUS.match(head), _LENGTH.search(head)
    if status is None or (length and len(body) < int(length[1])):
        raise ValueError("not whole HTTP")
    return int(status[1]), body[: int(length[1])] if length else body


def _receive(connection: socket.socket, deadline: float) -> tuple[bytes, bytes]:
    """Read until the announced length is there, or else until the other side closes."""
    data = bytearray()
    while True:
        head, end, body = bytes(data).partition(b"\r\n\r\n")
        head += b"\r\n"
        length = _LENGTH.search(head) if end else None
        if length and len(body) >= int(length[1]):
            return head, body
        left = deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        connection.settimeout(left)
        chunk = connection.recv(2**16)
        if not chunk:
            return head, body
        data += chunk
        if len(data) > LARGEST:
            raise ValueError("too long")
