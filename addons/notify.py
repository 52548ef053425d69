"""Notify: tells systemd how this service stands, where it asks for that. Fact: sd_notify(3), seen 2026-01-05.

One datagram for each word, without the library: a name that begins with @ is an abstract socket's.
"""

import logging
import socket
from collections.abc import Mapping, MutableMapping

VARIABLE = "NOTIFY_SOCKET"

logger = logging.getLogger(__name__)


class Notify:
    """Says words to who looks after this process; to nobody where the address is empty."""

    def __init__(self, address: str = "") -> None:
        self._address = address

    @classmethod
    def take(cls, environ: MutableMapping[str, str]) -> "Notify":
        """Read the address; programs that are started from here on have no word to say."""
        return cls(environ.pop(VARIABLE, ""))

    def told(self) -> Mapping[str, str]:
        """What goes into the environment of a successor, which has."""
        return {VARIABLE: self._address} if self._address else {}

    def ready(self) -> None:
        """Say that this process serves."""
        self._say("READY=1\nSTATUS=serving")

    def handed_over(self, pid: int) -> None:
        """Say that another process serves in this one's place, and is the service from now on."""
        self._say(f"MAINPID={pid}\nREADY=1\nSTATUS=serving")

    def stopping(self, status: str) -> None:
        """Say that the service ends."""
        self._say(f"STOPPING=1\nSTATUS={status}")

    def _say(self, words: str) -> None:
        if not self._address:
            return
        address = f"\0{self._address[1:]}" if self._address.startswith("@") else self._address
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
                sender.setblocking(False)
                sender.sendto(words.encode(), address)
        except (OSError, AttributeError) as error:  # a service manager that does not listen must not end the service
            logger.info("flowpool: the service manager at %s was not told: %s", self._address, error)
