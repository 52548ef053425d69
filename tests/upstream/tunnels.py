"""A network's proxy on loopback: opens tunnels by CONNECT, or refuses them as it is told."""

from __future__ import annotations

import socket
import threading
from collections import deque
from contextlib import suppress
from types import TracebackType
from typing import Self

PATIENCE = 20.0
LARGEST = 65_536


class Tunnels:
    """heads: the head of each request, as it came. leads_to: where every name leads; None: where it says."""

    def __init__(self, leads_to: tuple[str, int] | None = None) -> None:
        self.heads: list[bytes] = []
        self._news = threading.Condition()
        self.leads_to = leads_to
        self._answers: deque[bytes | None] = deque()
        self._default: bytes | None = b""
        self._sockets: list[socket.socket] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]

    @property
    def url(self) -> str:
        """As `[outbound] proxy` has it."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def targets(self) -> list[str]:
        """Where tunnels were asked to, as host:port."""
        return [head.split()[1].decode() for head in self.heads if head.startswith(b"CONNECT ")]

    def answer(self, *heads: bytes | None) -> None:
        """Answer the next requests so instead, and hang up; None: say nothing, and stay."""
        self._answers.extend(heads)

    def wait_for(self, count: int) -> None:
        """Return once so many requests have come."""
        with self._news:
            if not self._news.wait_for(lambda: len(self.heads) >= count, PATIENCE):
                raise TimeoutError(f"{len(self.heads)} requests came, not {count}")

    def always(self, head: bytes | None) -> None:
        """Answer every request so from now on; empty: open tunnels again."""
        self._default = head

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.cut()

    def cut(self) -> None:
        """End every tunnel."""
        for one in self._sockets:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()
        self._sockets.clear()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                self._sockets.append(client)
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with suppress(OSError):
            head = b""
            while b"\r\n\r\n" not in head:
                got = client.recv(LARGEST)
                if not got:
                    return
                head += got
            with self._news:
                self.heads.append(head)
                self._news.notify_all()
            answer = self._answers.popleft() if self._answers else self._default
            if answer is None:
                return
            if answer:
                client.sendall(answer)
                client.shutdown(socket.SHUT_RDWR)
                return
            host, _, port = head.split()[1].decode().rpartition(":")
            server = socket.create_connection(self.leads_to or (host.strip("[]"), int(port)), PATIENCE)
            server.settimeout(None)
            self._sockets.append(server)
            client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
            threading.Thread(target=_pump, args=(server, client), daemon=True).start()
            _pump(client, server)


def _pump(source: socket.socket, target: socket.socket) -> None:
    """Carry one direction to its end, and end the other side's with it."""
    with suppress(OSError):
        while data := source.recv(LARGEST):
            target.sendall(data)
    with suppress(OSError):
        target.shutdown(socket.SHUT_WR)
