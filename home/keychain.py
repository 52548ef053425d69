"""The item of the macOS keychain in which Claude Code keeps a login, through the system's own program `security`."""

import hashlib
import subprocess
import unicodedata
from pathlib import Path

from credentials.secret import Secret
from home.errors import HomeError

SERVICE = "Claude Code-credentials"
PROGRAM = "security"
PATIENCE = 60.0  # seconds; a person may have to allow it
MISSING = 44  # what it ends with when there is no such item


class KeychainError(HomeError):
    """The keychain item cannot be read."""

    def __init__(self, service: str, why: str) -> None:
        super().__init__(
            f'the keychain item "{service}" cannot be read: {why}; '
            f'run: {PROGRAM} unlock-keychain, or see whether it is there: {PROGRAM} find-generic-password -s "{service}"'
        )


def service(folder: Path | None = None) -> str:
    """Return what the item is called; folder: what CLAUDE_CONFIG_DIR is set to, None when it is not."""
    if folder is None:
        return SERVICE
    return f"{SERVICE}-{hashlib.sha256(unicodedata.normalize('NFC', str(folder)).encode()).hexdigest()[:8]}"


def read(name: str, patience: float = PATIENCE) -> Secret | None:
    """Return what the item holds, None when there is none. Raises KeychainError."""
    code, out = _run(name, "find-generic-password", "-s", name, "-w", patience=patience)
    if code == MISSING:
        return None
    if code:
        raise KeychainError(name, f"{PROGRAM} ended with code {code}")
    return Secret(_text(out.strip()))


def has(name: str, patience: float = PATIENCE) -> bool:
    """Tell whether there is such an item, without a look into it, for which a person may have to be asked. Raises KeychainError."""
    code, _ = _run(name, "find-generic-password", "-s", name, patience=patience)
    if code not in (0, MISSING):
        raise KeychainError(name, f"{PROGRAM} ended with code {code}")
    return code == 0


def forget(name: str, patience: float = PATIENCE) -> None:
    """Delete the item; nothing happens when there is none. Raises KeychainError."""
    code, _ = _run(name, "delete-generic-password", "-s", name, patience=patience)
    if code not in (0, MISSING):
        raise KeychainError(name, f"{PROGRAM} ended with code {code}")


def _run(name: str, *arguments: str, patience: float) -> tuple[int, bytes]:
    try:
        done = subprocess.run(  # noqa: S603  # its arguments are our own
            (PROGRAM, *arguments), stdin=subprocess.DEVNULL, capture_output=True, timeout=patience, check=False
        )
    except subprocess.TimeoutExpired:
        raise KeychainError(name, f"no answer within {patience:g} s") from None  # the cause holds what it wrote
    except OSError as error:
        raise KeychainError(name, error.strerror or type(error).__name__) from error
    return done.returncode, done.stdout


def _text(out: bytes) -> str:
    """Read what it wrote: the text, or its bytes as hex digits when some are not ASCII."""
    try:
        return bytes.fromhex(out.decode("ascii")).decode()
    except ValueError:
        return out.decode(errors="replace")
