"""The keyring is judged, the store is opened, and each secret is read once."""

from pathlib import Path

import pytest

from credentials.credential import Credential
from credentials.errors import CredentialError, KeyringLocked, NoKeyring, NotStored
from credentials.file import FileStore
from credentials.keyring import Ring
from flowpool.findings import keeping
from flowpool.findings.finding import Level
from routing.words import Account, AccountId, Kind
from tests.credentials.contract import TOKEN
from tests.credentials.rings import MemoryRing

KNOWN = tuple(Account(id=AccountId(one), name=one, provider="anthropic", kind=Kind.SETUP_TOKEN) for one in ("a1", "a2"))


def none() -> Ring:
    """Find no keyring."""
    raise NoKeyring("x.Ring keeps secrets as plain text")


def locked() -> Ring:
    """Find one that is locked."""
    raise KeyringLocked


JUDGED = [  # backend, how one is found, the level, what is said
    ("auto", MemoryRing, Level.OK, "tests.credentials.rings.MemoryRing"),
    ("keyring", MemoryRing, Level.OK, "tests.credentials.rings.MemoryRing"),
    ("auto", none, Level.WARN, "x.Ring keeps secrets as plain text"),
    ("keyring", none, Level.FAIL, "x.Ring keeps secrets as plain text"),
    ("auto", locked, Level.WARN, "the keyring is locked"),
    ("keyring", locked, Level.FAIL, "the keyring is locked"),
    ("file", none, Level.SKIP, 'not looked for: credentials.backend is "file"'),
]


@pytest.mark.parametrize(("backend", "find", "level", "says"), JUDGED, ids=range(len(JUDGED)))
def test_a_keyring_is_judged(backend: str, find: type[Ring], level: Level, says: str) -> None:
    """Where only a keyring will do, a missing one fails; elsewhere it is a warning, with what mends it."""
    again, found = keeping.keyring(backend, find)

    assert (found.level, found.message) == (level, says)
    assert bool(found.mend) is (level in (Level.WARN, Level.FAIL))
    if level is Level.OK:
        assert again() is again()


def test_the_store_follows_what_was_found(tmp_path: Path) -> None:
    """A keyring that was found is not looked for again; without one the file is said, or the failure."""
    ring = MemoryRing()
    for find, backend, says in (
        (lambda: ring, "auto", "kept in the system's keyring ("),
        (none, "auto", "kept in the file "),
        (none, "file", "kept in the file "),
    ):
        store, found = keeping.secrets(backend, tmp_path, KNOWN, find)
        assert store is not None
        assert (found.level, found.message.startswith(says)) == (Level.OK, True)
    store, found = keeping.secrets("keyring", tmp_path, KNOWN, none)

    assert (store, found.level) == (None, Level.FAIL)
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_others_can_read_fails(tmp_path: Path) -> None:
    """It is refused as everywhere else, with what mends it."""
    FileStore(tmp_path / "secrets.json").put("a1", TOKEN)
    (tmp_path / "secrets.json").chmod(0o644)
    _, found = keeping.secrets("file", tmp_path, KNOWN, none)

    assert (found.level, found.mend) == (Level.FAIL, f"chmod 600 '{tmp_path}/secrets.json'")


def test_each_secret_is_read_or_says_why_not(tmp_path: Path) -> None:
    """One that is missing hides none of the others."""
    store = FileStore(tmp_path / "secrets.json")
    store.put("a1", TOKEN)
    kept = keeping.read(store, KNOWN)

    assert isinstance(kept["a1"], Credential)
    assert isinstance(kept["a2"], NotStored)
    assert isinstance(kept["a2"], CredentialError)
