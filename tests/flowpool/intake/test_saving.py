"""A secret and its account are written both or neither."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from credentials.credential import Credential, parse
from credentials.errors import NotWritten
from credentials.files import Disk
from credentials.memory import MemoryStore
from credentials.secret import Secret
from flowpool.errors import Failure
from flowpool.intake.saving import Wish, holder, save
from home import accounts as book
from routing.words import Account, AccountId, Identity, Kind

NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)
ME = Identity(owner="u-1", organization="o-1", email="me@example.org")
WORK = Account(id=AccountId("a1"), name="work", provider="anthropic", kind=Kind.SETUP_TOKEN)
HOME = replace(WORK, id=AccountId("b2"), name="home")
OLD, NEW = parse("setup-token", "old-token"), parse("setup-token", "new-token")
LOGIN = Credential(
    kind="oauth", access=Secret("access"), refresh=Secret("refresh"), expires_at=NOON + timedelta(hours=8)
)


def wish(account: Account, credential: Credential, found: Account | None = None, **more: bool) -> Wish:
    """A wish for an account that is new, unless one was found."""
    return Wish(found=found, account=account, credential=credential, again="flowpool login x", **more)


def test_a_failed_write_of_the_account_takes_the_secret_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When accounts.toml cannot be written, a new secret is forgotten and a replaced one is as before."""
    path, store = tmp_path / "accounts.toml", MemoryStore()
    save(path, store, wish(WORK, OLD), NOON)

    def refuse(_disk: Disk, source: Path, target: Path) -> None:
        raise OSError(28, "No space left", str(source), None, str(target))

    monkeypatch.setattr(Disk, "replace", refuse)
    with pytest.raises(NotWritten):
        save(path, store, wish(HOME, NEW), NOON)
    with pytest.raises(NotWritten):
        save(path, store, wish(WORK, NEW, WORK), NOON)

    assert store.ids() == ("a1",)
    assert store.get("a1") == OLD
    assert book.load(path) == (WORK,)


def test_a_change_meanwhile_is_a_failure_that_touches_nothing(tmp_path: Path) -> None:
    """What another program added or removed while the secret was typed is respected."""
    path, store = tmp_path / "accounts.toml", MemoryStore()
    with pytest.raises(Failure, match="meanwhile"):
        save(path, store, wish(WORK, NEW, WORK), NOON)
    save(path, store, wish(WORK, OLD), NOON)
    with pytest.raises(Failure, match="meanwhile"):
        save(path, store, wish(replace(HOME, name="work"), NEW), NOON)

    assert book.load(path) == (WORK,)
    assert store.ids() == ("a1",)
    assert store.get("a1") == OLD


def test_what_was_set_meanwhile_stays(tmp_path: Path) -> None:
    """Rank and the like are those of the file when it is written, whose it is and its kind those of the wish."""
    path, store = tmp_path / "accounts.toml", MemoryStore()
    save(path, store, wish(WORK, OLD), NOON)
    book.edit(path, lambda _: (replace(WORK, rank=3, enabled=False),))
    save(path, store, wish(replace(WORK, kind=Kind.OAUTH, identity=ME, source="/x"), LOGIN, WORK), NOON)

    assert book.load(path) == (replace(WORK, rank=3, enabled=False, kind=Kind.OAUTH, identity=ME, source="/x"),)
    assert store.get("a1") == LOGIN


def test_one_login_is_one_account(tmp_path: Path) -> None:
    """An identity that another account got meanwhile is refused, and names both."""
    path, store = tmp_path / "accounts.toml", MemoryStore()
    save(path, store, wish(replace(WORK, identity=ME), OLD), NOON)
    with pytest.raises(
        Failure, match=r"me@example.org, o-1\) is the account work already, and not home; run: flowpool login work"
    ):
        save(path, store, wish(replace(HOME, identity=ME), NEW), NOON)

    assert store.ids() == ("a1",)


def test_a_better_secret_is_replaced_by_force_only(tmp_path: Path) -> None:
    """What has expired does not replace what is live."""
    path, store = tmp_path / "accounts.toml", MemoryStore()
    save(path, store, wish(WORK, LOGIN), NOON)
    stale = replace(LOGIN, access=Secret("other"), refresh=Secret("other-r"), expires_at=NOON - timedelta(hours=1))
    with pytest.raises(Failure, match="work has is better: it is live"):
        save(path, store, wish(WORK, stale, WORK), NOON)
    assert store.get("a1") == LOGIN
    save(path, store, wish(WORK, stale, WORK, by_force=True), NOON)

    assert store.get("a1") == stale


def test_a_login_of_its_own_is_not_given_up_for_a_shared_one(tmp_path: Path) -> None:
    """But by force; the same login may come to be known as shared."""
    path, store = tmp_path / "accounts.toml", MemoryStore()
    save(path, store, wish(WORK, LOGIN), NOON)
    shared = replace(WORK, source="/client")
    other = replace(LOGIN, access=Secret("other"), refresh=Secret("other-r"))
    with pytest.raises(Failure, match="it has one owner, and the new one has two"):
        save(path, store, wish(shared, other, WORK), NOON)
    save(path, store, wish(shared, LOGIN, WORK), NOON)
    assert book.load(path)[0].source == "/client"
    save(path, store, wish(WORK, other, WORK), NOON)
    assert book.load(path)[0].source == ""
    save(path, store, wish(shared, LOGIN, WORK, by_force=True), NOON)

    assert store.get("a1") == LOGIN


def test_a_twin_is_found_among_secrets_that_cannot_be_read(tmp_path: Path) -> None:
    """What cannot be read is passed over."""
    path, store = tmp_path / "accounts.toml", MemoryStore()
    lost = replace(WORK, id=AccountId("lost"), name="lost")
    book.edit(path, lambda _: (lost, WORK))
    store.put(WORK.id, OLD)
    assert holder(store, (lost, WORK), OLD) == WORK
    assert holder(store, (lost, WORK), NEW) is None
    with pytest.raises(Failure, match="the account work has this secret already"):
        save(path, store, wish(HOME, OLD), NOON)

    assert store.ids() == (WORK.id,)
