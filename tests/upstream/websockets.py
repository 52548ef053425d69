"""A server of WebSockets on loopback that says back what it is told, and what its clients shook hands with."""

from __future__ import annotations

import socket
import struct
import threading
from contextlib import suppress
from types import TracebackType
from typing import Self

from wsproto import ConnectionType, WSConnection
from wsproto.events import (
    AcceptConnection,
    BytesMessage,
    CloseConnection,
    Event,
    Ping,
    Pong,
    Request,
    TextMessage,
)
from wsproto.extensions import PerMessageDeflate
from wsproto.frame_protocol import CloseReason
from wsproto.utilities import LocalProtocolError

PATIENCE = 20.0
LARGEST = 65_536


class WebSockets:
    """An echo, frame by frame; the text "reset" is answered with a TCP reset, "close" with 1000, "ping" with a ping.

    heads: each client's handshake, as it came. deflate: take the client's offer to compress. pongs: what pings were answered with.
    ends: each socket's close code, None where it ended without one.
    """

    def __init__(self, *, deflate: bool = False) -> None:
        self.heads: list[bytes] = []
        self.pongs: list[bytes] = []
        self.ends: list[int | None] = []
        self._deflate = deflate
        self._changed = threading.Condition()
        self._sockets: list[socket.socket] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for one in self._sockets:
            one.close()

    def wait_ended(self, count: int) -> list[int | None]:
        """The close codes once so many sockets have ended."""
        with self._changed:
            assert self._changed.wait_for(lambda: len(self.ends) >= count, PATIENCE), f"{self.ends} of {count} ended"
            return list(self.ends)

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                self._sockets.append(client)
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        end = None
        try:
            end = self._talk(client, WSConnection(ConnectionType.SERVER))
        except OSError:
            pass
        finally:
            client.close()
            with self._changed:
                self.ends.append(end)
                self._changed.notify_all()

    def _talk(self, client: socket.socket, ws: WSConnection) -> int | None:
        """Serve one socket; its close code."""
        head = b""
        while b"\r\n\r\n" not in head:
            if not (got := client.recv(LARGEST)):
                return None
            head += got
        self.heads.append(head)
        ws.receive_data(head)
        while True:
            for event in ws.events():
                if isinstance(event, CloseConnection):
                    with suppress(LocalProtocolError):  # who closed first needs no answer
                        client.sendall(ws.send(event.response()))
                    return int(event.code)
                if isinstance(event, TextMessage) and event.data == "reset":
                    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    return None
                if isinstance(event, Pong):
                    self.pongs.append(bytes(event.payload))
                elif (answer := self._answer(event)) is not None:
                    client.sendall(ws.send(answer))
            ws.receive_data(client.recv(LARGEST) or None)

    def _answer(self, event: Event) -> Event | None:
        """What is said to a handshake, a ping, or a message."""
        answer: Event | None = None
        match event:
            case Request():
                answer = AcceptConnection(extensions=[PerMessageDeflate()] if self._deflate else [])
            case TextMessage(data="close"):
                answer = CloseConnection(code=CloseReason.NORMAL_CLOSURE)
            case TextMessage(data="ping"):
                answer = Ping(payload=b"are you there")
            case TextMessage(data=text, message_finished=finished):
                answer = TextMessage(data=text, message_finished=finished)
            case BytesMessage(data=data, message_finished=finished):
                answer = BytesMessage(data=data, message_finished=finished)
            case Ping():
                answer = event.response()
            case _:
                pass
        return answer
