"""A client of WebSockets over any connection of tests/e2e/client.py, so through the reverse proxy or in a tunnel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from wsproto import ConnectionType, WSConnection
from wsproto.events import (
    AcceptConnection,
    BytesMessage,
    CloseConnection,
    Event,
    Message,
    Ping,
    RejectConnection,
    RejectData,
    Request,
    TextMessage,
)
from wsproto.extensions import PerMessageDeflate

from tests.e2e.client import PATIENCE, Client

_LARGEST = 65_536


class Rejected(Exception):  # noqa: N818
    """The handshake was refused."""

    def __init__(self, status: int, headers: dict[str, str], body: bytes) -> None:
        super().__init__(f"{status} {body[:300]!r}")
        self.status, self.headers, self.body = status, headers, body


class WebSocket:
    """One socket; headers are the handshake's besides its own. raises Rejected. deflate: offer to compress."""

    def __init__(
        self,
        client: Client,
        path: str,
        *,
        host: str = "",
        headers: Sequence[tuple[str, str]] = (),
        deflate: bool = False,
    ) -> None:
        self._client = client
        client.socket.settimeout(PATIENCE)
        self.ws = WSConnection(ConnectionType.CLIENT)
        self._coming: list[Event] = []
        offered = [PerMessageDeflate()] if deflate else []
        fields = [(name.encode(), value.encode()) for name, value in headers]
        asked = Request(host=host or client._name, target=path, extra_headers=fields, extensions=offered)
        client.write(self.ws.send(asked))
        self.accepted = self._shake()

    def _shake(self) -> AcceptConnection:
        status, headers, body = 0, dict[str, str](), b""
        while True:
            match self.next():
                case AcceptConnection() as accepted:
                    return accepted
                case RejectConnection() as rejected:
                    status = rejected.status_code
                    headers = {n.decode().lower(): v.decode() for n, v in rejected.headers}
                    if not rejected.has_body:
                        raise Rejected(status, headers, body)
                case RejectData() as more:
                    body += more.data
                    if more.body_finished:
                        raise Rejected(status, headers, body)
                case _:
                    pass

    def send(self, *events: Event) -> Self:
        """Send each of them."""
        self._client.write(b"".join(self.ws.send(event) for event in events))
        return self

    def next(self) -> Event:
        """The next event, as soon as it comes; the connection's end is a CloseConnection."""
        while not self._coming:
            try:
                data = self._client.socket.recv(_LARGEST)
            except ConnectionError:
                data = b""
            self.ws.receive_data(data or None)
            self._coming += self.ws.events()
        return self._coming.pop(0)

    def message(self) -> tuple[str | bytes, int]:
        """The next message whole, and of how many frames it was made; pings are answered meanwhile."""
        parts: list[str | bytes] = []
        frames = 0
        while True:
            match self.next():
                case Message() as part:
                    parts.append(part.data if isinstance(part, TextMessage) else bytes(part.data))
                    frames += part.frame_finished
                    if part.message_finished:
                        return (parts[0][:0].join(parts), frames)  # type: ignore[arg-type]
                case Ping() as ping:
                    self.send(ping.response())
                case CloseConnection(code=code):
                    raise AssertionError(f"the socket was closed with {code} where a message was due")
                case _:
                    pass

    def says(self, text: str | bytes) -> str | bytes:
        """What comes back for a message."""
        self.send(TextMessage(data=text) if isinstance(text, str) else BytesMessage(data=text))
        return self.message()[0]

    def closed(self) -> int:
        """The code with which the socket ends, as soon as it does."""
        while True:
            if isinstance(event := self.next(), CloseConnection):
                return int(event.code)
