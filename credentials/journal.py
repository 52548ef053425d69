"""The contract of what outlives a worker that renews a login."""

from typing import Protocol

from credentials.renewal import Renewal


class JournalFault(Exception):  # noqa: N818  # reads as the fact it states
    """The journal cannot be read or written; the text says why."""


class Journal(Protocol):
    """What outlives a worker: whose turn it is, how the last try went, which tokens are spent. Methods may raise JournalFault."""

    def claim(self, name: str) -> bool:
        """Take the claim of a provider; False while another holds it."""

    def extend(self, name: str) -> bool:
        """Go on holding it; False when it is another's by now."""

    def release(self, name: str) -> None:
        """Let it go, a second from now."""

    def last(self, account_id: str) -> Renewal | None:
        """Return how the last try ended."""

    def is_spent(self, fingerprint: str) -> bool:
        """Tell whether a refresh token must not be sent any more."""

    def note(self, account_id: str, renewal: Renewal, *, spent: str = "") -> None:
        """Write down a try, on the disk when this returns. spent: "spent" or "refused": never to be sent again."""
