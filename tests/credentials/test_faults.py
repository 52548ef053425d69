"""Each backend's exceptions have one meaning here, and their texts go no further."""

import keyring.errors
import pytest

from credentials.errors import KeyringBroken, KeyringDenied, KeyringFault, KeyringLocked, NoKeyring, Torn
from credentials.faults import translate


def made(name: str, *bases: type[Exception], **attributes: object) -> Exception:
    """An exception of a class so named, as a backend's own library has it."""
    error = type(name, bases or (Exception,), attributes)("PLANTED")
    assert isinstance(error, Exception)
    return error


def caused(error: Exception, cause: Exception) -> Exception:
    error.__cause__ = cause
    return error


TORN = Torn("x")
CASES = [  # what is raised, what it means
    (keyring.errors.NoKeyringError("PLANTED"), NoKeyring),
    (keyring.errors.KeyringLocked("PLANTED"), KeyringLocked),
    (made("LockedException", made("SecretStorageException").__class__), KeyringLocked),
    (made("PromptDismissedException"), KeyringLocked),
    (caused(keyring.errors.KeyringLocked("PLANTED"), made("KeychainDenied")), KeyringDenied),
    (PermissionError(13, "PLANTED"), KeyringDenied),
    (made("error", winerror=5), KeyringDenied),
    (made("error", winerror=1783), KeyringBroken),
    (keyring.errors.InitError("PLANTED"), KeyringBroken),
    (keyring.errors.PasswordSetError("PLANTED"), KeyringBroken),
    (made("DBusErrorResponse"), KeyringBroken),
    (UnicodeEncodeError("ascii", "PLANTED", 0, 1, "PLANTED"), KeyringBroken),
    (SystemExit("PLANTED"), KeyringBroken),
    (TORN, Torn),
]


@pytest.mark.parametrize(
    ("raised", "meant"), CASES, ids=[f"{number} {type(raised).__name__}" for number, (raised, _) in enumerate(CASES)]
)
def test_each_exception_has_its_meaning(raised: BaseException, meant: type[KeyringFault]) -> None:
    """Locked, denied, missing and broken are told apart, and no text of a backend is shown."""
    fault = translate(raised)

    assert type(fault) is meant
    assert "PLANTED" not in str(fault)


def test_our_own_faults_pass() -> None:
    """A fault that was translated already stays itself."""
    assert translate(TORN) is TORN
