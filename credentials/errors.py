"""What can go wrong with secrets and the private files that hold them.

CredentialError
  BadSecret      the text given is not what was asked for
  NotStored      no secret is kept for this account
  BadParcel      an export cannot be opened
  UnknownBackend no such place to keep secrets
  FileFault      a private file cannot be used
    Exposed        other users of the machine can read it
    Unreadable     it cannot be read or understood
    NotWritten     it could not be written; what was there before still is
    Busy           another process keeps it locked
  KeyringFault   the system's keyring cannot be used
    NoKeyring      there is none, or none that keeps secrets safe
    KeyringLocked  it waits for its password
    KeyringDenied  it does not let us in
    KeyringBroken  it failed, or did not answer in time
    Torn           what it keeps of a credential is not whole

Every message ends with the command that mends it, and none quotes a secret.
"""

import shlex
import sys
from pathlib import Path
from typing import Self

AGAIN = "flowpool add NAME --replace"


class CredentialError(Exception):
    """A secret cannot be used; the message ends with the command that mends it.

    exit_code: what a program ends with on it: 1 a failure, 2 wrong settings.
    """

    exit_code = 1

    def __init__(self, problem: str, mend: str) -> None:
        super().__init__(f"{problem}; run: {mend}")

    def naming(self, account: str) -> Self:
        """Name the account in the mending command, where that is one account's: stores know ids alone."""
        self.args = (str(self).replace(f"; run: {AGAIN}", f"; run: {AGAIN.replace('NAME', account)}"),)
        return self


class BadSecret(CredentialError):  # noqa: N818  # reads as the fact it states
    """The text given is not a secret of the kind asked for."""


class NotStored(CredentialError):  # noqa: N818
    """No secret is kept for this account."""

    def __init__(self, account_id: str) -> None:
        super().__init__(f"no secret is stored for account {account_id}", AGAIN)


class BadParcel(CredentialError):  # noqa: N818
    """An export of accounts cannot be opened."""


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


_PYTHON = shlex.quote(sys.executable)
ASK = (  # what makes a keyring ask for its password, for as long as that takes
    "security unlock-keychain" if sys.platform == "darwin" else f"{_PYTHON} -m keyring get flowpool probe"
)
LOOK = f"{_PYTHON} -m keyring diagnose"
LIST = f"{_PYTHON} -m keyring --list-backends"


class KeyringFault(CredentialError):  # noqa: N818
    """The system's keyring cannot be used."""

    def __init__(self, problem: str, mend: str = LOOK) -> None:
        super().__init__(problem, mend)
        self.problem = problem
        self.mend = mend

    def later(self, seconds: float) -> Self:
        """Return the same fault for a call that was not made: the keyring is left alone for so long."""
        return type(self)(f"{self.problem}; it is asked again in {seconds:.0f} s", self.mend)


class NoKeyring(KeyringFault):
    """There is no keyring, or none that keeps secrets safe."""

    exit_code = 2

    def __init__(self, problem: str, mend: str = LIST) -> None:
        super().__init__(problem, mend)


class KeyringLocked(KeyringFault):
    """The keyring waits for its password."""

    def __init__(self, problem: str = "the keyring is locked", mend: str = ASK) -> None:
        super().__init__(problem, mend)


class KeyringDenied(KeyringFault):
    """The keyring does not let us in."""

    def __init__(self, problem: str = "the keyring does not let this program in", mend: str = ASK) -> None:
        super().__init__(problem, mend)


class KeyringBroken(KeyringFault):
    """The keyring failed, or did not answer in time."""


class Torn(KeyringFault):
    """What the keyring keeps of a credential is not whole; saving it again mends that."""

    def __init__(self, problem: str, mend: str = AGAIN) -> None:
        super().__init__(problem, mend)
