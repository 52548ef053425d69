"""The store in a keyring keeps the contract on every kind of backend, loses nothing and never gives half a secret."""

import json
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from credentials.credential import Credential
from credentials.errors import CredentialError, KeyringBroken, KeyringFault, NotStored, Torn
from credentials.keyring import SERVICE, KeyringStore
from credentials.patience import Patience
from credentials.secret import Secret
from credentials.store import Store
from tests.credentials.contract import LOGIN, PLANTED, TOKEN, DatedContract
from tests.credentials.rings import Clock, FailingRing, HangingRing, Kept, MemoryRing, secret_service, short

NEW = replace(LOGIN, access=Secret("at-2" * 700), refresh=Secret("rt-2" * 350))
KEY = Credential(kind="api-key", access=Secret("sk-ant-api03-PLANTED"))


class TestMemoryRing(DatedContract):
    """KeyringStore on a backend that takes anything."""

    @pytest.fixture
    def store(self, tmp_path: Path) -> Store:
        """An empty store."""
        return KeyringStore(MemoryRing(), tmp_path / "keyring")


class TestShortRing(DatedContract):
    """KeyringStore on a backend that takes 1280 characters, as Windows does."""

    @pytest.fixture
    def store(self, tmp_path: Path) -> Store:
        """An empty store."""
        return KeyringStore(MemoryRing(longest=1280), tmp_path / "keyring")


@pytest.fixture(scope="module")
def session() -> Iterator[None]:
    """A gnome-keyring of our own."""
    with secret_service():
        yield


@pytest.mark.secretservice
class TestSecretService(DatedContract):
    """KeyringStore on a real SecretService, gnome-keyring."""

    @pytest.fixture
    def store(self, session: None, tmp_path: Path) -> Iterator[Store]:  # noqa: ARG002
        """An empty store."""
        from keyring.backends.SecretService import Keyring  # noqa: PLC0415  # not there without its system

        ring = Keyring()  # type: ignore[no-untyped-call]
        store = KeyringStore(ring, tmp_path / "keyring", patience=Patience(30))
        yield store
        for account_id in ("a", "b", "c", "a1"):
            store.delete(account_id)


def users(kept: Kept) -> set[str]:
    assert {service for service, _ in kept} <= {SERVICE}
    return {user for _, user in kept}


def test_the_entries_are_named_by_account_and_field(tmp_path: Path) -> None:
    """A new account's entries are ID/access or ID/api_key, ID/refresh and ID/meta, and meta holds no secret."""
    ring = MemoryRing()
    store = KeyringStore(ring, tmp_path / "keyring")
    store.put("a1", TOKEN)
    store.put("a2", KEY)
    store.put("a3", LOGIN)

    assert users(ring.kept) == {
        *("a1/access", "a1/meta", "a2/api_key", "a2/meta"),
        *("a3/access#0", "a3/access#1", "a3/access#2", "a3/refresh", "a3/meta"),
    }
    assert ring.kept[SERVICE, "a1/access"] == PLANTED
    described = json.loads(ring.kept[SERVICE, "a3/meta"])
    assert described["kind"] == "oauth"
    assert described["extras"]["subscriptionType"] == "max"
    assert not [user for user in ("a1", "a2", "a3") if "PLANTED" in ring.kept[SERVICE, f"{user}/meta"]]
    assert "rt-1" not in ring.kept[SERVICE, "a3/meta"]


def test_nothing_is_left_behind(tmp_path: Path) -> None:
    """After replacements only the last generation has entries, and after delete none has."""
    ring = MemoryRing()
    store = KeyringStore(ring, tmp_path / "keyring")
    for credential in (LOGIN, TOKEN, NEW, TOKEN):
        store.put("a1", credential)

    assert len(ring.kept) == 2
    store.delete("a1")
    assert ring.kept == {}


def test_ids_are_the_known_ones_that_have_a_credential(tmp_path: Path) -> None:
    """A keyring cannot list: of the ids of accounts.toml those with a credential are returned, asked anew each time."""
    ring, known = MemoryRing(), ["b"]
    KeyringStore(ring, tmp_path / "keyring").put("a", TOKEN)
    store = KeyringStore(ring, tmp_path / "keyring", lambda: known)

    assert store.ids() == ()
    known.append("a")
    assert store.ids() == ("a",)


def test_what_is_long_fits_all_the_same(tmp_path: Path) -> None:
    """A login with long labels and letters beyond the 16-bit plane fits into entries of 1280 UTF-16 units."""
    long = replace(LOGIN, access=Secret("😀" * 3000), extras={"scopes": ("user:inference",) * 500})
    store = KeyringStore(MemoryRing(longest=1280), tmp_path / "keyring")
    store.put("a1", long)
    store.put("a1", long)

    assert store.get("a1") == long


CALLS = 40  # more than any verb makes
HOW: tuple[dict[str, bool], ...] = ({}, {"dead": True}, {"landed": True})


@pytest.mark.parametrize("how", HOW, ids=["once", "from then on", "though it was done"])
@pytest.mark.parametrize("fail_at", range(1, CALLS))
def test_a_failed_put_leaves_the_old_or_the_new(tmp_path: Path, fail_at: int, how: dict[str, bool]) -> None:
    """For every n, when the n-th call fails, the old credential or the new one is there, whole, and nothing leaks."""
    ring = MemoryRing()
    KeyringStore(ring, tmp_path / "keyring").put("a1", LOGIN)
    failing = FailingRing(ring.kept, fail_at, **how)
    done = False
    try:
        KeyringStore(failing, tmp_path / "keyring").put("a1", NEW)
        done = True
    except KeyringFault as error:
        shown = "".join(traceback.format_exception(error))
        assert not [part for part in ("at-1", "at-2", "rt-1", "rt-2") if part in shown]

    store = KeyringStore(ring, tmp_path / "keyring")
    assert store.get("a1") in ([NEW] if done else [LOGIN, NEW])
    store.put("a1", TOKEN)
    assert store.get("a1") == TOKEN
    assert len(ring.kept) == 2
    assert (len(failing.calls) < fail_at) <= done


def test_the_calls_are_covered(tmp_path: Path) -> None:
    """No verb makes more calls than the tests let fail."""
    ring = MemoryRing()
    store = KeyringStore(ring, tmp_path / "keyring")
    verbs: tuple[Callable[[], None], ...] = (
        lambda: store.put("a1", LOGIN),
        lambda: store.put("a1", NEW),
        lambda: store.delete("a1"),
    )
    for verb in verbs:
        ring.calls.clear()
        verb()
        assert 0 < len(ring.calls) < CALLS


@pytest.mark.parametrize("how", HOW, ids=["once", "from then on", "though it was done"])
@pytest.mark.parametrize("fail_at", range(1, CALLS))
def test_a_failed_first_put_or_delete_leaves_all_or_nothing(tmp_path: Path, fail_at: int, how: dict[str, bool]) -> None:
    """A first credential is there, whole, or not at all; so after a failed delete; and a second delete leaves nothing."""
    for kept, verb in _first_and_last(tmp_path):
        with suppress(KeyringFault):
            verb(KeyringStore(FailingRing(kept, fail_at, **how), tmp_path / "keyring"))
        store = KeyringStore(MemoryRing(kept), tmp_path / "keyring", lambda: ["a1"])
        if store.ids():
            assert store.get("a1") == LOGIN
        else:
            with pytest.raises(NotStored):
                store.get("a1")
        store.delete("a1")
        assert kept == {}


@pytest.mark.parametrize("fail_at", range(1, 9))
def test_a_failed_read_is_said_and_the_next_is_whole(tmp_path: Path, fail_at: int) -> None:
    """For every n, when the n-th call fails, reading says so or gives the whole; what is there never looks absent."""
    ring = MemoryRing()
    KeyringStore(ring, tmp_path / "keyring").put("a1", LOGIN)
    failing = KeyringStore(FailingRing(ring.kept, fail_at), tmp_path / "keyring", lambda: ["a1"])
    with suppress(KeyringBroken):
        assert failing.ids() == ("a1",)
    with suppress(KeyringBroken):
        assert failing.get("a1") == LOGIN

    assert KeyringStore(ring, tmp_path / "keyring").get("a1") == LOGIN


def _first_and_last(folder: Path) -> Iterator[tuple[Kept, Callable[[KeyringStore], None]]]:
    yield {}, lambda store: store.put("a1", LOGIN)
    ring = MemoryRing()
    KeyringStore(ring, folder / "keyring").put("a1", LOGIN)
    yield ring.kept, lambda store: store.delete("a1")


def test_an_undo_right_after_a_failure_is_not_refused(tmp_path: Path) -> None:
    """A backend that failed, but answered, may be asked again at once: what was half written can be erased."""
    kept: Kept = {}
    store = KeyringStore(FailingRing(kept, fail_at=5), tmp_path / "keyring")
    with pytest.raises(KeyringBroken):
        store.put("a1", TOKEN)
    store.delete("a1")

    assert kept == {}


@pytest.mark.parametrize("lost", ["a1/access#1", "a1/refresh"])
@pytest.mark.parametrize("by", [None, "", "short"])
def test_a_lost_part_is_never_half_a_secret(tmp_path: Path, lost: str, by: str | None) -> None:
    """A piece that is gone or cut is Torn with the command that mends it, and saving again does mend it."""
    ring = MemoryRing()
    store = KeyringStore(ring, tmp_path / "keyring")
    store.put("a1", LOGIN)
    if by is None:
        del ring.kept[SERVICE, lost]
    else:
        ring.kept[SERVICE, lost] = by

    with pytest.raises(Torn, match=r"a1/.*run: flowpool add NAME --replace$"):
        store.get("a1")
    assert store.ids() == ("a1",)
    store.put("a1", TOKEN)
    assert store.get("a1") == TOKEN
    assert len(ring.kept) == 2


SIZES = '{"access":[1,1]}'
HEADS = [
    "",
    "{",
    "[]",
    "null",
    "[" * 100_000,
    "1" * 9999,
    '{"version": 1}',
    '{"version": 1, "now": 1, "saved_at": 1, "loose": []}',
    '{"version": 1, "now": ["", {"access": [0, 1]}], "saved_at": 1, "loose": []}',
    '{"version": 1, "now": ["", {"access": [9999999999, 1]}], "saved_at": 1, "loose": []}',
    f'{{"version": 1, "now": ["", {SIZES}], "saved_at": 1, "loose": [], "kind": "x"}}',
    '{"version": 1, "now": ["", {"access": [1, 1], "meta": [1, 1]}], "saved_at": 1, "loose": []}',
]


@pytest.mark.parametrize("head", HEADS, ids=lambda head: repr(head[:70]))
def test_a_head_that_makes_no_sense_is_torn_and_mended(tmp_path: Path, head: str) -> None:
    """Junk in ID/meta is Torn; put and delete put it right."""
    kept: Kept = {(SERVICE, f"a1/{name}"): "1" for name in ("access", "refresh", "meta#0")}
    kept[SERVICE, "a1/meta"] = head
    store = KeyringStore(MemoryRing(kept), tmp_path / "keyring")

    with pytest.raises(Torn):
        store.get("a1")
    store.put("a1", TOKEN)
    assert store.get("a1") == TOKEN
    store.delete("a1")
    assert users(kept) <= {"a1/refresh", "a1/meta#0"}  # a head that can be read did not list them


def test_a_newer_head_is_left_alone(tmp_path: Path) -> None:
    """What a newer flowpool wrote is neither read nor overwritten nor deleted."""
    kept: Kept = {(SERVICE, "a1/meta"): '{"version": 2}'}
    store = KeyringStore(MemoryRing(kept), tmp_path / "keyring")

    for verb in (lambda: store.get("a1"), lambda: store.put("a1", TOKEN), lambda: store.delete("a1")):
        with pytest.raises(KeyringFault, match="newer flowpool"):
            verb()
    assert kept == {(SERVICE, "a1/meta"): '{"version": 2}'}


@given(
    head=st.text(max_size=40) | st.recursive(st.none() | st.integers() | st.text(max_size=5), st.lists).map(json.dumps)
)
def test_junk_raises_only_our_errors(tmp_path_factory: pytest.TempPathFactory, head: str) -> None:
    """Whatever ID/meta holds, get returns a credential or raises a CredentialError."""
    ring = MemoryRing({(SERVICE, "a1/meta"): head})

    with suppress(CredentialError):
        KeyringStore(ring, tmp_path_factory.getbasetemp() / "keyring").get("a1")


class DroppingRing(MemoryRing):
    """A backend that keeps nothing and says nothing, as null.Keyring does."""

    def set_password(self, service: str, username: str, password: str) -> None:
        """Drop it."""


class BytesRing(MemoryRing):
    """A backend that gives back something else than text."""

    def get_password(self, service: str, username: str) -> str | None:  # noqa: ARG002
        """Return bytes."""
        return b"x"  # type: ignore[return-value]


class KeepingRing(MemoryRing):
    """A backend that cannot erase."""

    def delete_password(self, service: str, username: str) -> None:
        """Refuse."""
        raise NotImplementedError


def test_a_write_that_is_not_kept_is_said(tmp_path: Path) -> None:
    """A backend that drops what it is given is a fault at once, not when the secret is needed."""
    for ring in (DroppingRing(), BytesRing()):
        with pytest.raises(KeyringFault):
            KeyringStore(ring, tmp_path / "keyring").put("a1", TOKEN)


def test_what_cannot_be_erased_is_said(tmp_path: Path) -> None:
    """Where a backend cannot erase, delete says so, replacing goes on, and what is left over does not pile up in the head."""
    ring = KeepingRing(longest=1280)
    store = KeyringStore(ring, tmp_path / "keyring")
    for credential in (LOGIN, NEW) * 10:
        store.put("a1", credential)

    assert store.get("a1") == NEW
    with pytest.raises(KeyringBroken):
        store.delete("a1")
    with pytest.raises(NotStored):
        store.get("a1")


class ReplacingRing(MemoryRing):
    """A backend in which another process replaces a credential between two of our calls."""

    def __init__(self, lock: Path) -> None:
        super().__init__()
        self.lock = lock
        self.replace_at = 0

    def called(self, verb: str, text: str = "") -> None:
        """Replace it at one call."""
        super().called(verb, text)
        if len(self.calls) == self.replace_at:
            KeyringStore(MemoryRing(self.kept), self.lock).put("a1", NEW)


def test_reading_while_another_replaces_is_whole(tmp_path: Path) -> None:
    """Whenever another process replaces a credential, get returns the old one or the new one."""
    for replace_at in range(1, 6):
        ring = ReplacingRing(tmp_path / "keyring")
        store = KeyringStore(ring, tmp_path / "keyring")
        store.put("a1", LOGIN)
        ring.replace_at = len(ring.calls) + replace_at

        assert store.get("a1") in (LOGIN, NEW)


def test_two_writers_mix_nothing(tmp_path: Path) -> None:
    """Two threads with a store each that replace one credential leave one of the two, whole, and nothing else."""
    ring = MemoryRing()

    def write(credential: Credential) -> None:
        for _ in range(10):
            KeyringStore(ring, tmp_path / "keyring").put("a1", credential)

    threads = [threading.Thread(target=write, args=(credential,)) for credential in (LOGIN, NEW)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert KeyringStore(ring, tmp_path / "keyring").get("a1") in (LOGIN, NEW)
    assert len(ring.kept) in {4 + 1, 3 + 2 + 1}


def test_a_hanging_keyring_hangs_nobody(tmp_path: Path) -> None:
    """A call that hangs is given up in time, the keyring left alone for 60 s and then asked again (X106)."""
    clock, ring = Clock(), HangingRing(hangs=False)
    store = KeyringStore(ring, tmp_path / "keyring", lambda: ["a1"], short(clock))
    store.put("a1", LOGIN)
    ring.hangs = True

    for verb in (lambda: store.get("a1"), lambda: store.put("a1", NEW), store.ids, lambda: store.delete("a1")):
        with pytest.raises(KeyringBroken, match=r"did not answer within 0\.05 s"):
            verb()
    calls = len(ring.calls)
    clock.now += 59
    with pytest.raises(KeyringBroken, match="asked again in 1 s"):
        store.get("a1")
    assert len(ring.calls) == calls
    ring.hangs = False
    clock.now += 1
    assert store.get("a1") == LOGIN
    ring.release.set()
