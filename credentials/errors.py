"""What can go wrong with secrets and the private files that hold them.

CredentialError
  BadSecret      the text given is not what was asked for
  NotStored      no secret is kept for this account
  UnknownBackend no such place to keep secrets
  FileFault      a private file cannot be used
    Exposed        other users of the machine can read it
    Unreadable     it cannot be read or understood
    NotWritten     it could not be written; what was there before still is
    Busy           another process keeps it locked

Every message ends with the command that mends it, and none quotes a secret.
"""

from pathlib import Path


class CredentialError(Exception):
    """A secret cannot be used; the message ends with the command that mends it."""

    def __init__(self, problem: str, mend: str) -> None:
        super().__init__(f"{problem}; run: {mend}")


class BadSecret(CredentialError):  # noqa: N818  # reads as the fact it states
    """The text given is not a secret of the kind asked for."""


class NotStored(CredentialError):  # noqa: N818
    """No secret is kept for this account."""

    def __init__(self, account_id: str) -> None:
        super().__init__(f"no secret is stored for account {account_id}", "flowpool add NAME --replace")


class UnknownBackend(CredentialError):  # noqa: N818
    """No such place to keep secrets."""


class FileFault(CredentialError):  # noqa: N818
    """A private file cannot be used."""


class Exposed(FileFault):
    """Other users of the machine can read a private file."""

    def __init__(self, path: Path) -> None:
        super().__init__(f"{path} can be read or changed by other users", f"chmod 600 '{path}'")


class Unreadable(FileFault):
    """A private file cannot be read or understood; it is left in place."""

    def __init__(self, path: Path, what: str, mend: str | None = None) -> None:
        super().__init__(f"{path}: {what} (left in place)", mend or f"ls -l '{path}'")
        self.what = what


class NotWritten(FileFault):
    """A private file could not be written; what was there before still is."""

    def __init__(self, path: Path, what: str) -> None:
        super().__init__(f"{path} was not written: {what}", f"df -h '{path.parent}'")


class Busy(FileFault):
    """Another process keeps a private file locked."""

    def __init__(self, path: Path, waited: float) -> None:
        super().__init__(f"{path} has been locked by another process for {waited:g} s", f"fuser -v '{path}'")
