"""Accounts arrive once each, under a name that is free, all or none."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import override

import pytest

from credentials.credential import Credential, parse
from credentials.errors import BadParcel, CredentialError
from credentials.memory import MemoryStore
from credentials.secret import Secret
from flowpool.parcels import carrying
from flowpool.parcels.carrying import Luggage
from home import accounts as book
from routing.words import Account, AccountId, Identity, Kind
from tests.credentials.contract import LOGIN

ANN = Identity(owner="o-ann", organization="g-1", email="ann@example.org")
WORK = Account(
    id=AccountId("id-work"),
    name="work",
    provider="anthropic",
    kind=Kind.OAUTH,
    rank=3,
    enabled=False,
    identity=ANN,
    source="/home/ann/.claude/.credentials.json",
)
HOME = Account(id=AccountId("id-home"), name="home", provider="anthropic", kind=Kind.SETUP_TOKEN)


NOW = datetime(2026, 1, 5, 9, tzinfo=UTC)


def token(name: str) -> Credential:
    """A token of its own."""
    return parse("setup-token", f"sk-ant-oat01-PLANTED-{name}")


LUGGAGE = Luggage(accounts=(WORK, HOME), secrets={WORK.id: LOGIN, HOME.id: token("home")})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """accounts.toml, not there yet."""
    return tmp_path / "accounts.toml"


def test_what_is_packed_is_unpacked(path: Path) -> None:
    """Accounts and secrets, equal in all their parts."""
    assert carrying.unpack(carrying.pack(LUGGAGE), path) == LUGGAGE


def packed(**changes: object) -> bytes:
    """The document with something else in it."""
    return json.dumps(json.loads(carrying.pack(LUGGAGE)) | changes).encode()


BROKEN = [b"", b"[]", b"{}", packed(accounts="version = 9"), packed(accounts=7), packed(secrets={}), packed(secrets=[])]


@pytest.mark.parametrize("data", BROKEN, ids=range(len(BROKEN)))
def test_what_makes_no_accounts_is_refused(data: bytes, path: Path) -> None:
    """Opened by the right passphrase and still not understood: in one line, which quotes nothing."""
    with pytest.raises(BadParcel, match="newer flowpool") as caught:
        carrying.unpack(data, path)

    assert "PLANTED" not in str(caught.value)


def test_all_arrive_in_an_empty_pool(path: Path) -> None:
    """With their ids, ranks and identities; the file of another program stays behind."""
    store = MemoryStore()
    arrival = carrying.unload(path, store, LUGGAGE, NOW, replaces=False)

    assert (arrival.added, arrival.replaced, arrival.skipped) == ({"work": "work", "home": "home"}, [], {})
    assert book.load(path) == (replace(WORK, source=""), HOME)
    assert {one: store.get(one) for one in store.ids()} == {WORK.id: LOGIN, HOME.id: token("home")}


OTHER = AccountId("id-other")
TWINS = [  # an account that is there, its secret
    (replace(WORK, id=OTHER, name="mine"), token("other")),
    (replace(WORK, name="mine", identity=Identity()), token("other")),
    (replace(HOME, id=OTHER, name="mine"), LOGIN),
]


@pytest.mark.parametrize(("there", "secret"), TWINS, ids=["identity", "id", "secret"])
@pytest.mark.parametrize("replaces", [False, True])
def test_one_that_is_there_already_is_told(path: Path, there: Account, secret: Credential, replaces: bool) -> None:
    """By id, identity or secret: it is left as it is, or gets the new secret and keeps id, name and rank."""
    store = MemoryStore()
    there = replace(there, rank=8, enabled=True)
    book.edit(path, lambda _: (there,))
    store.put(there.id, secret)
    arrival = carrying.unload(path, store, LUGGAGE, NOW, replaces=replaces)

    assert arrival.added == {"home": "home"}
    assert (arrival.replaced, arrival.skipped) == ((["mine"], {}) if replaces else ([], {"work": "mine"}))
    assert store.get(there.id) == (LOGIN if replaces else secret)
    mine, _ = book.load(path)
    assert (mine.id, mine.name, mine.rank, mine.enabled) == (there.id, "mine", 8, True)
    assert mine == there if not replaces else mine.identity == ANN


def test_a_better_secret_is_never_lost(path: Path) -> None:
    """An old export holds what was renewed since, and so is spent: what is here stays, and that is told."""
    store = MemoryStore()
    assert LOGIN.expires_at is not None
    newer = replace(
        LOGIN, access=Secret("at-2"), refresh=Secret("rt-2"), expires_at=LOGIN.expires_at + timedelta(hours=8)
    )
    mine = replace(WORK, name="mine", source="")
    store.put(mine.id, newer)
    book.edit(path, lambda _: (mine,))
    arrival = carrying.unload(path, store, LUGGAGE, NOW, replaces=True)

    assert arrival.kept == {"mine": "it was renewed later than the new one, which may be spent"}
    assert (arrival.replaced, arrival.skipped, arrival.added) == ([], {}, {"home": "home"})
    assert store.get(mine.id) == newer
    assert mine in book.load(path)


def test_a_taken_name_gets_a_number(path: Path) -> None:
    """The first that is free, and never longer than a name may be."""
    long = "a" * 32
    names = ("home", "home-2", long)
    taken = tuple(replace(HOME, id=AccountId(f"other-{name}"), name=name) for name in names)
    store = MemoryStore()
    book.edit(path, lambda _: taken)
    came = (HOME, replace(HOME, id=AccountId("x"), name=long))
    secrets = {HOME.id: token("1"), AccountId("x"): token("2")}
    arrival = carrying.unload(path, store, Luggage(accounts=came, secrets=secrets), NOW, replaces=False)

    assert arrival.added == {"home": "home-3", long: "a" * 30 + "-2"}
    assert len(book.load(path)) == 5


def test_two_that_are_one_arrive_once(path: Path) -> None:
    """The second of the same secret is skipped, though both came."""
    twin = replace(HOME, id=OTHER, name="twin")
    luggage = Luggage(accounts=(HOME, twin), secrets={HOME.id: token("1"), OTHER: token("1")})

    assert carrying.unload(path, MemoryStore(), luggage, NOW, replaces=False).skipped == {"twin": "home"}


class Failing(MemoryStore):
    """A store whose n-th put fails."""

    def __init__(self, fail_at: int) -> None:
        super().__init__()
        self.left = fail_at

    @override
    def put(self, account_id: str, credential: Credential) -> None:
        self.left -= 1
        if self.left == 0:
            raise CredentialError("the keyring is locked", "unlock it")
        super().put(account_id, credential)


@pytest.mark.parametrize("fail_at", [2, 3])
def test_a_failure_undoes_all(path: Path, fail_at: int) -> None:
    """Whichever secret cannot be kept, or when the file cannot be written: the pool is as it was."""
    store = Failing(fail_at)
    mine = replace(WORK, name="mine", source="")
    store.put(mine.id, token("old"))
    book.edit(path, lambda _: (mine,))
    before = path.read_bytes()
    with pytest.raises(CredentialError, match="locked"):
        carrying.unload(path, store, LUGGAGE, NOW, replaces=True)

    assert path.read_bytes() == before
    assert {one: store.get(one) for one in store.ids()} == {mine.id: token("old")}


def test_a_file_that_cannot_be_written_undoes_all(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No secret is left without its account."""
    store = MemoryStore()

    def refuse(*_: object) -> None:
        raise CredentialError("the disk is full", "df -h")

    monkeypatch.setattr("home.accounts.files.write", refuse)
    with pytest.raises(CredentialError, match="full"):
        carrying.unload(path, store, LUGGAGE, NOW, replaces=False)

    assert store.ids() == ()
    assert not path.exists()


def test_a_failure_undoes_one_that_was_replaced_twice(path: Path) -> None:
    """Of two that came for one account, the secret from before both is put back."""
    store = Failing(4)
    mine = replace(WORK, name="mine", source="")
    store.put(mine.id, token("old"))
    book.edit(path, lambda _: (mine,))
    again = replace(WORK, id=OTHER, name="again")
    secrets = {**LUGGAGE.secrets, OTHER: token("again")}
    with pytest.raises(CredentialError, match="locked"):
        carrying.unload(path, store, Luggage(accounts=(WORK, again, HOME), secrets=secrets), NOW, replaces=True)

    assert {one: store.get(one) for one in store.ids()} == {mine.id: token("old")}


@pytest.mark.parametrize("has_one", [True, False])
def test_a_pool_keeps_its_primary(path: Path, has_one: bool) -> None:
    """One that arrives is the primary only where there is none."""
    own = replace(HOME, id=AccountId("id-own"), name="own", primary=has_one)
    path.write_bytes(book.render((own,)))
    luggage = Luggage(accounts=(replace(WORK, primary=True),), secrets={WORK.id: LOGIN})
    carrying.unload(path, MemoryStore(), luggage, NOW, replaces=False)

    assert [one.name for one in book.load(path) if one.primary] == ["own" if has_one else "work"]
