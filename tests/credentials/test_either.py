"""Two stores as one: nothing is lost, nothing old comes back, and the newer copy wins."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from credentials.either import EitherStore
from credentials.errors import FileFault, KeyringBroken, KeyringFault, NotStored, Unreadable
from credentials.file import FileStore
from credentials.keyring import SERVICE, KeyringStore
from credentials.patience import Patience
from credentials.store import Dated, Store
from tests.credentials.contract import LOGIN, TOKEN, StoreContract
from tests.credentials.rings import Clock, FailingRing, HangingRing, MemoryRing, secret_service, short


class Home:
    """A file and a keyring of one pool; ids are those of its accounts.toml."""

    def __init__(self, folder: Path) -> None:
        self.ring = HangingRing(hangs=False)
        self.clock = Clock()
        self.path = folder / "secrets.json"
        self.file = FileStore(self.path)
        self.keyring = KeyringStore(self.ring, folder / "keyring", lambda: ["a1", "a2"], short(self.clock))
        self.by_keyring = EitherStore(self.keyring, self.file)
        self.by_file = EitherStore(self.file, self.keyring)


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    """A pool whose file and keyring are empty."""
    home = Home(tmp_path)
    yield home
    home.ring.release.set()


class TestKeyringFirst(StoreContract):
    """A keyring, with what the file still holds."""

    @pytest.fixture
    def store(self, tmp_path: Path) -> Store:
        """An empty store."""
        return Home(tmp_path).by_keyring


class TestFileFirst(StoreContract):
    """The file, with what a keyring still holds."""

    @pytest.fixture
    def store(self, tmp_path: Path) -> Store:
        """An empty store."""
        return Home(tmp_path).by_file


@pytest.fixture(scope="module")
def session() -> Iterator[None]:
    """A gnome-keyring of our own."""
    with secret_service():
        yield


@pytest.mark.secretservice
class TestSecretServiceFirst(StoreContract):
    """A real SecretService, with what the file still holds."""

    @pytest.fixture
    def store(self, session: None, tmp_path: Path) -> Iterator[Store]:  # noqa: ARG002
        """An empty store."""
        from keyring.backends.SecretService import Keyring  # noqa: PLC0415  # not there without its system

        ring = Keyring()  # type: ignore[no-untyped-call]
        keyring = KeyringStore(ring, tmp_path / "keyring", patience=Patience(30))
        store = EitherStore(keyring, FileStore(tmp_path / "secrets.json"))
        yield store
        for account_id in ("a", "b", "c", "a1"):
            store.delete(account_id)


type Order = Callable[[Home], tuple[Store, Dated, Dated]]

ORDERS: list[Order] = [
    lambda home: (home.by_keyring, home.keyring, home.file),
    lambda home: (home.by_file, home.file, home.keyring),
]


@pytest.mark.parametrize("order", ORDERS, ids=["keyring first", "file first"])
def test_what_is_elsewhere_is_read_there_and_moves_when_it_is_saved(home: Home, order: Order) -> None:
    """A credential in the second store is found and announced; saving puts it into the first and removes the old copy."""
    both, first, second = order(home)
    second.put("a1", TOKEN)

    assert both.get("a1") == TOKEN
    assert both.ids() == ("a1",)
    assert "; that of 1 account is still in the " in both.describe()
    both.put("a1", LOGIN)
    assert first.get("a1") == both.get("a1") == LOGIN
    assert second.ids() == ()
    assert both.describe() == first.describe()


@pytest.mark.parametrize("order", ORDERS, ids=["keyring first", "file first"])
def test_of_two_copies_the_newer_is_read_and_both_are_deleted(home: Home, order: Order) -> None:
    """Whichever store was written last is right, and a delete leaves no copy to come back."""
    both, first, second = order(home)
    second.put("a1", TOKEN)
    first.put("a1", LOGIN)
    assert both.get("a1") == LOGIN
    second.put("a1", TOKEN)
    assert both.get("a1") == TOKEN

    both.delete("a1")
    assert first.ids() == second.ids() == both.ids() == ()


def test_the_number_of_those_elsewhere_is_said(home: Home) -> None:
    """More than one is announced in the plural."""
    for account_id in ("a1", "a2"):
        home.file.put(account_id, TOKEN)

    assert f"; those of 2 accounts are still in the file {home.path}" in home.by_keyring.describe()


def test_an_old_copy_outlives_a_failed_move(tmp_path: Path) -> None:
    """For every n, when the keyring's n-th call fails while a credential moves there, the old or the new one is read."""
    for fail_at in range(1, 30):
        folder = tmp_path / str(fail_at)
        folder.mkdir()
        file = FileStore(folder / "secrets.json")
        file.put("a1", TOKEN)
        ring = FailingRing({}, fail_at, dead=True)
        moved = False
        try:
            EitherStore(KeyringStore(ring, folder / "keyring"), file).put("a1", LOGIN)
            moved = True
        except KeyringFault:
            pass

        well = EitherStore(KeyringStore(MemoryRing(ring.kept), folder / "keyring"), file)
        assert well.get("a1") in ([LOGIN] if moved else [TOKEN, LOGIN])
        assert file.ids() == ("a1",) or KeyringStore(MemoryRing(ring.kept), folder / "keyring").get("a1") == LOGIN


def test_no_file_is_written_while_the_keyring_hangs(home: Home) -> None:
    """A keyring that hangs once is tried again after 60 s, and nothing goes to the file in between (X106)."""
    home.by_keyring.put("a1", TOKEN)
    home.ring.hangs = True
    for _ in range(3):
        with pytest.raises(KeyringBroken):
            home.by_keyring.put("a1", LOGIN)
    assert not home.path.exists()

    home.ring.hangs = False
    home.clock.rest()
    home.by_keyring.put("a1", LOGIN)
    assert home.by_keyring.get("a1") == LOGIN
    assert not home.path.exists()


def test_the_file_serves_alone_while_its_keyring_is_out_of_reach(home: Home) -> None:
    """What the file has is read, written and deleted; what it has not may be in the keyring, and that is said."""
    home.file.put("a1", TOKEN)
    home.keyring.put("a2", TOKEN)
    home.ring.hangs = True

    assert home.by_file.get("a1") == TOKEN
    assert home.by_file.ids() == ("a1",)
    assert home.by_file.describe() == home.file.describe()
    home.by_file.put("a1", LOGIN)
    home.by_file.delete("a1")
    for verb in (home.by_file.get, home.by_file.delete):
        with pytest.raises(KeyringBroken):
            verb("a2")

    home.by_file.put("a2", LOGIN)
    home.ring.hangs = False
    home.clock.rest()
    assert home.by_keyring.get("a2") == home.by_file.get("a2") == LOGIN  # the keyring's older copy does not win
    home.by_keyring.put("a2", LOGIN)
    assert not home.file.ids()
    home.by_keyring.delete("a2")
    assert home.ring.kept == {}


def test_a_keyring_that_was_tampered_with_is_no_match_for_a_whole_copy(home: Home) -> None:
    """A head that makes no sense counts as the older copy; where it is the only one, that is said."""
    home.file.put("a1", TOKEN)
    home.ring.kept[SERVICE, "a1/meta"] = "junk"
    assert home.by_keyring.get("a1") == TOKEN

    home.file.delete("a1")
    with pytest.raises(KeyringFault, match="--replace"):
        home.by_keyring.get("a1")


def test_a_file_that_cannot_be_read_is_said(home: Home) -> None:
    """With an unreadable file beside it nothing is guessed: the file may hold the newer copy."""
    home.keyring.put("a1", TOKEN)
    home.path.touch(0o600)

    for verb in (lambda: home.by_keyring.get("a1"), home.by_keyring.ids, lambda: home.by_keyring.delete("a1")):
        with pytest.raises(Unreadable):
            verb()
    assert "keyring" in home.by_keyring.describe()
    with pytest.raises(FileFault):
        home.by_file.put("a1", TOKEN)


def test_what_is_in_neither_is_not_stored(home: Home) -> None:
    """An id that no store knows is NotStored."""
    with pytest.raises(NotStored):
        home.by_file.get("a3")
