"""A stand-in for the running proxy: it answers one prepared text on loopback."""

import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from home import controlkey, running
from home.checks import Address
from home.running import Running

EMPTY = (
    b'{"version": "1", "running": true, "pid": 7, "listen": {"claude": "127.0.0.1:3456"}, "strategy": "perishing",'
    b' "next": {"opus": "work"}, "accounts": [], "conversations": 0}'
)


def reply(body: bytes, status: str = "200 OK", *, length: bool = True) -> bytes:
    """Return a whole answer; without its length it ends when the connection does."""
    head = f"HTTP/1.1 {status}\r\n" + (f"Content-Length: {len(body)}\r\n" if length else "")
    return head.encode() + b"\r\n" + body


@contextmanager
def listening(answer: bytes | None, heard: list[bytes]) -> Iterator[Address]:
    """Answer each connection with these bytes and close it; None never answers."""
    over = threading.Event()

    def serve() -> None:
        with suppress(OSError):
            while True:
                connection, _ = server.accept()
                with connection:
                    heard.append(connection.recv(65536))
                    if answer is None:
                        over.wait(30)
                    else:
                        connection.sendall(answer)

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        try:
            yield Address(host="127.0.0.1", port=server.getsockname()[1])
        finally:
            over.set()
            server.shutdown(socket.SHUT_RDWR)
    thread.join(10)


def announce(home: Path, address: Address) -> str:
    """Say in a home that this process is its proxy; return the key."""
    home.mkdir(exist_ok=True)
    running.write(
        home / "running.json", Running(pid=os.getpid(), listen={"claude": address}, started=datetime.now(UTC))
    )
    return controlkey.ensure(home / "control.key").reveal()
