"""A client that comes by HTTPS_PROXY: the same requests, inside TLS, inside a tunnel."""

from __future__ import annotations

import base64
import ssl
from collections.abc import Sequence
from pathlib import Path
from socket import IPPROTO_TCP, TCP_NODELAY, create_connection
from socket import socket as Socket  # noqa: N812 - the property below has its name

from tests.e2e.client import PATIENCE, Client, Reply

VENDOR = "api.anthropic.com"
_ENOUGH = 65_536


class NoTunnelError(Exception):
    """The proxy opened none; reply is what it said instead."""

    def __init__(self, reply: Reply) -> None:
        super().__init__(f"{reply.status} {reply.body[:200]!r}")
        self.reply = reply


class Tunnelled(Client):
    """One connection to a host through a proxy's CONNECT.

    ca: whom to trust for the TLS inside; None: speak plainly. name: the host that TLS asks for, if it is another. alpn: what it offers.
    key: the password shown for the tunnel.
    """

    def __init__(
        self,
        proxy: str,
        ca: Path | None,
        host: str = VENDOR,
        port: int = 443,
        *,
        name: str = "",
        alpn: Sequence[str] = (),
        key: str = "",
    ) -> None:
        super().__init__(f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}")
        self.port = port
        self._proxy, self._ca, self._alpn, self._key = Client(proxy), ca, alpn, key
        self._sni = name or host

    @property
    def socket(self) -> Socket:
        """The connection to the host, opened when first needed; raises NoTunnelError."""
        if self._socket is None:
            raw = create_connection((self._proxy.host, self._proxy.port), PATIENCE)
            raw.setsockopt(IPPROTO_TCP, TCP_NODELAY, 1)
            self._connect(raw)
            self._socket = (
                raw if self._ca is None else self._context(self._ca).wrap_socket(raw, server_hostname=self._sni)
            )
            self._buffer = b""
        return self._socket

    @property
    def tls(self) -> ssl.SSLSocket:
        """The same, to ask what was agreed on."""
        assert isinstance(self.socket, ssl.SSLSocket)
        return self.socket

    def _context(self, ca: Path) -> ssl.SSLContext:
        context = ssl.create_default_context(cafile=ca)
        context.verify_flags &= ~ssl.VERIFY_X509_STRICT  # tests' own authorities leave out what that asks for
        if self._alpn:
            context.set_alpn_protocols(list(self._alpn))
        return context

    def _connect(self, raw: Socket) -> None:
        at = f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"
        shown = base64.b64encode(f"flowpool:{self._key}".encode()).decode()
        field = f"Proxy-Authorization: Basic {shown}\r\n" if self._key else ""
        raw.sendall(f"CONNECT {at} HTTP/1.1\r\nHost: {at}\r\n{field}\r\n".encode())
        head = b""
        while not head.endswith(b"\r\n\r\n"):  # byte by byte, for what follows is another's
            got = raw.recv(1)
            if not got:
                break
            head += got
        if not head.startswith((b"HTTP/1.1 200 ", b"HTTP/1.0 200 ")):
            raise NoTunnelError(_told(raw, head))

    @property
    def _name(self) -> str:
        name = f"[{self.host}]" if ":" in self.host else self.host
        return name if self.port == 443 else f"{name}:{self.port}"


def _told(raw: Socket, head: bytes) -> Reply:
    """What a proxy said that opened no tunnel."""
    lines = head.decode("latin-1").split("\r\n")
    pairs = (line.partition(":") for line in lines[1:] if line)
    reply = Reply(client=Client("http://127.0.0.1"), status=int(lines[0].split()[1]) if head else 0, head=head)
    reply.headers = tuple((name, value.strip()) for name, _, value in pairs)
    length = int(reply.header("content-length") or 0)
    while len(reply.body) < length and (got := raw.recv(_ENOUGH)):
        reply.body += got
    raw.close()
    return reply
