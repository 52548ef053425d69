"""What a keyring's own exceptions mean; their texts may hold a secret and are never shown."""

from collections.abc import Iterator

from credentials.errors import KeyringBroken, KeyringDenied, KeyringFault, KeyringLocked, NoKeyring

DENIED = 5  # Windows' ERROR_ACCESS_DENIED
_NONE = {"NoKeyringError"}
_LOCKED = {"KeyringLocked", "LockedException", "PromptDismissedException"}
_DENIED = {"PermissionError", "KeychainDenied"}


def translate(error: BaseException) -> KeyringFault:
    """Return what an exception of any backend means.

    The classes are told by their names: importing each backend's own would need its system.
    """
    if isinstance(error, KeyringFault):
        return error
    names = {kind.__name__ for one in _causes(error) for kind in type(one).__mro__}
    if names & _NONE:
        return NoKeyring("no keyring runs here")
    if names & _DENIED or getattr(error, "winerror", None) == DENIED:
        return KeyringDenied()
    if names & _LOCKED:
        return KeyringLocked()
    return KeyringBroken(f"the keyring failed with {type(error).__name__}")


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield the exception and the one that it was raised from: macOS calls a refusal "locked"."""
    yield error
    if error.__cause__ is not None:
        yield error.__cause__
