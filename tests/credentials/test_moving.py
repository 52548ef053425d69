"""Secrets move all or none, and whoever fails or dies in between has lost nothing."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import override

import pytest

from credentials import moving
from credentials.credential import Credential
from credentials.either import EitherStore
from credentials.errors import CredentialError, NotStored, Torn
from credentials.file import FileStore
from credentials.keyring import SERVICE, KeyringStore
from credentials.patience import Patience
from credentials.store import Dated
from tests.credentials.contract import LOGIN, TOKEN
from tests.credentials.disks import FailingDisk
from tests.credentials.rings import FailingRing, Kept, MemoryRing, secret_service

NAMES = {"a1": "work", "a2": "home"}
SECRETS = {"a1": TOKEN, "a2": LOGIN}


@dataclass
class Places:
    """A file and a keyring, each of which may fail at its n-th call."""

    folder: Path
    kept: Kept

    def file(self, fail_at: int = 0) -> FileStore:
        """The file."""
        return FileStore(self.folder / "secrets.json", FailingDisk(fail_at))

    def ring(self, fail_at: int = 0, **how: bool) -> KeyringStore:
        """The keyring."""
        return KeyringStore(FailingRing(self.kept, fail_at, **how), self.folder / "keyring", lambda: NAMES)

    def all(self) -> dict[str, Credential]:
        """What both together give, as whoever looks into either sees it."""
        both = EitherStore(self.ring(), self.file())
        return {account_id: both.get(account_id) for account_id in both.ids()}

    def fill(self, store: Dated) -> None:
        """Put the secrets there."""
        for account_id, credential in SECRETS.items():
            store.put(account_id, credential)


@pytest.fixture
def places(tmp_path: Path) -> Places:
    """Both, empty."""
    return Places(tmp_path, {})


type Way = Callable[[Places], tuple[Dated, Dated]]
WAYS: dict[str, Way] = {
    "to the keyring": lambda places: (places.file(), places.ring()),
    "to the file": lambda places: (places.ring(), places.file()),
}


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest) -> Way:
    """One of the two directions."""
    return WAYS[request.param]


def test_all_are_there_and_none_is_left(places: Places, way: Way) -> None:
    """Each is in the new place, equal in all its parts, and nothing of it in the old one; once more is no fault."""
    source, target = way(places)
    places.fill(source)

    assert moving.move(NAMES, source, target) == moving.Moved(copied=("a1", "a2"), there=(), missing=())
    assert {one: target.get(one) for one in target.ids()} == SECRETS
    assert source.ids() == ()
    assert moving.move(NAMES, source, target) == moving.Moved(copied=(), there=("a1", "a2"), missing=())


def test_copying_leaves_both(places: Places, way: Way) -> None:
    """What is only copied is in both places, and the move that follows copies nothing again."""
    source, target = way(places)
    places.fill(source)
    moving.copy(NAMES, source, target)
    assert source.ids() == target.ids() == ("a1", "a2")

    assert moving.move(NAMES, source, target).there == ("a1", "a2")
    assert source.ids() == ()


def test_of_two_copies_the_newer_moves(places: Places, way: Way) -> None:
    """An old copy in the new place is replaced; a newer one stays, and the old place's goes."""
    source, target = way(places)
    target.put("a1", LOGIN)
    source.put("a1", TOKEN)
    source.put("a2", TOKEN)
    target.put("a2", LOGIN)
    moving.move(NAMES, source, target)

    assert (target.get("a1"), target.get("a2")) == (TOKEN, LOGIN)
    assert source.ids() == ()


def test_a_missing_one_is_named_and_stops_nobody(places: Places, way: Way) -> None:
    """An account without any secret has none afterwards."""
    source, target = way(places)
    source.put("a1", TOKEN)

    assert moving.move(NAMES, source, target).missing == ("a2",)
    with pytest.raises(NotStored):
        target.get("a2")


def test_one_that_cannot_be_read_moves_none(places: Places) -> None:
    """The message names the account, and the new place is as it was."""
    places.fill(places.ring())
    del places.kept[SERVICE, "a2/refresh"]
    with pytest.raises(Torn, match="flowpool add home --replace"):
        moving.move(NAMES, places.ring(), places.file())

    assert places.file().ids() == ()
    assert places.ring().get("a1") == TOKEN


HOW: dict[str, dict[str, bool]] = {"once": {}, "from then on": {"dead": True}, "though it was done": {"landed": True}}


@pytest.mark.parametrize("how", HOW.values(), ids=HOW)
@pytest.mark.parametrize("to_ring", [True, False], ids=["to the keyring", "to the file"])
def test_a_failing_keyring_loses_nothing(tmp_path: Path, how: dict[str, bool], to_ring: bool) -> None:
    """For every n, when its n-th call fails, each secret is readable, and where it was unless all arrived; again finishes."""
    for fail_at in range(1, 70):
        places = Places(tmp_path / str(fail_at), {})
        places.folder.mkdir()
        places.fill(places.file() if to_ring else places.ring())
        failing = places.ring(fail_at, **how)
        source, target = (places.file(), failing) if to_ring else (failing, places.file())
        _fails_without_loss(places, source, target, to_ring=to_ring)
        shutil.rmtree(places.folder)


@pytest.mark.parametrize("to_ring", [True, False], ids=["to the keyring", "to the file"])
def test_a_failing_disk_loses_nothing(tmp_path: Path, to_ring: bool) -> None:
    """The same for the n-th call of the disk."""
    for fail_at in range(1, 130, 3):
        places = Places(tmp_path / str(fail_at), {})
        places.folder.mkdir()
        places.fill(FileStore(places.folder / "secrets.json") if to_ring else places.ring())
        failing = places.file(fail_at)
        source, target = (failing, places.ring()) if to_ring else (places.ring(), failing)
        _fails_without_loss(places, source, target, to_ring=to_ring)


def _fails_without_loss(places: Places, source: Dated, target: Dated, *, to_ring: bool) -> None:
    try:
        moved = moving.move(NAMES, source, target)
    except CredentialError:
        moved = None
    old, new = (places.file(), places.ring()) if to_ring else (places.ring(), places.file())
    assert places.all() == SECRETS
    if moved is None:
        assert {one: old.get(one) for one in old.ids()} == SECRETS
    else:
        assert {one: new.get(one) for one in new.ids()} == SECRETS
        assert set(old.ids()) <= set(moved.left)
    moving.move(NAMES, old, new)
    assert {one: new.get(one) for one in new.ids()} == SECRETS
    assert old.ids() == ()


class DyingRing(MemoryRing):
    """A backend whose process is killed at the n-th call: nothing after it is done, not even the tidying up."""

    def __init__(self, kept: Kept, dies_at: int) -> None:
        super().__init__(kept)
        self.dies_at = dies_at

    @override
    def called(self, verb: str, text: str = "") -> None:
        super().called(verb, text)
        if len(self.calls) >= self.dies_at:
            raise RuntimeError("dead")


class DyingFile(FileStore):
    """A file to which the same process writes nothing more once it is dead."""

    def __init__(self, path: Path, ring: DyingRing) -> None:
        super().__init__(path)
        self.ring = ring

    @override
    def put(self, account_id: str, credential: Credential) -> None:
        self._live()
        super().put(account_id, credential)

    @override
    def delete(self, account_id: str) -> None:
        self._live()
        super().delete(account_id)

    @override
    def drop(self, account_id: str, saved_at: int) -> bool:
        self._live()
        return super().drop(account_id, saved_at)

    def _live(self) -> None:
        if len(self.ring.calls) >= self.ring.dies_at:
            raise CredentialError("dead", "it again")


@pytest.mark.parametrize("to_ring", [True, False], ids=["to the keyring", "to the file"])
def test_a_killed_move_is_finished_by_the_next(tmp_path: Path, to_ring: bool) -> None:
    """Killed at any call, each secret is readable by whoever looks into both places, and running it again finishes."""
    for dies_at in range(1, 70):
        places = Places(tmp_path / str(dies_at), {})
        places.folder.mkdir()
        places.fill(places.file() if to_ring else places.ring())
        ring = DyingRing(places.kept, dies_at)
        file = DyingFile(places.folder / "secrets.json", ring)
        keyring = KeyringStore(ring, places.folder / "keyring", lambda: NAMES)
        with suppress(CredentialError):
            moving.move(NAMES, *((file, keyring) if to_ring else (keyring, file)))
        assert places.all() == SECRETS
        old, new = (places.file(), places.ring()) if to_ring else (places.ring(), places.file())
        moving.move(NAMES, old, new)
        assert {one: new.get(one) for one in new.ids()} == SECRETS
        assert old.ids() == ()
        assert bool(places.kept) is to_ring  # not even an entry that nothing points to


class ReplacedFile(FileStore):
    """A file in which another process saves a new secret just before ours erases the old one."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.came = False

    @override
    def drop(self, account_id: str, saved_at: int) -> bool:
        if not self.came:
            self.came = True
            FileStore(self._path).put(account_id, LOGIN)
        return super().drop(account_id, saved_at)


def test_what_is_saved_meanwhile_moves_too(places: Places) -> None:
    """A secret that was renewed between copying and erasing is copied again, never erased."""
    places.file().put("a1", TOKEN)
    source, target = ReplacedFile(places.folder / "secrets.json"), places.ring()
    moving.move({"a1": "work"}, source, target)

    assert target.get("a1") == LOGIN
    assert source.ids() == ()


class ForgettingFile(FileStore):
    """A file that loses the refresh token."""

    @override
    def get(self, account_id: str) -> Credential:
        return replace(super().get(account_id), refresh=None)


def test_a_copy_that_reads_otherwise_is_no_copy(places: Places) -> None:
    """The old one stays, and the other is taken away."""
    places.ring().put("a1", LOGIN)
    with pytest.raises(CredentialError, match="what was copied of a1 reads otherwise"):
        moving.move({"a1": "work"}, places.ring(), ForgettingFile(places.folder / "secrets.json"))

    assert places.ring().get("a1") == LOGIN
    assert places.file().ids() == ()


@pytest.fixture
def session() -> Iterator[None]:
    """A gnome-keyring of this test's own."""
    with secret_service():
        yield


@pytest.mark.secretservice
@pytest.mark.usefixtures("session")
def test_there_and_back_on_a_real_one(places: Places) -> None:
    """Into a real SecretService and out again: equal, and nothing is left in either."""
    from keyring.backends.SecretService import Keyring  # noqa: PLC0415  # not there without its system

    ring = Keyring()  # type: ignore[no-untyped-call]
    keyring = KeyringStore(ring, places.folder / "keyring", lambda: NAMES, Patience(30))
    places.fill(places.file())
    moving.move(NAMES, places.file(), keyring)
    assert {one: keyring.get(one) for one in keyring.ids()} == SECRETS
    assert places.file().ids() == ()
    moving.move(NAMES, keyring, places.file())

    assert {one: places.file().get(one) for one in places.file().ids()} == SECRETS
    assert keyring.ids() == ()
    assert ring.get_password(SERVICE, "a1/access") is None  # type: ignore[no-untyped-call]
