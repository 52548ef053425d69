"""A renewed login goes where the spent one still is, and nowhere else."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from credentials.errors import NotWritten
from credentials.file import FileStore
from credentials.renewer import Handed
from credentials.store import Store
from home import accounts as book
from home.keeping import keep
from routing.words import Account, AccountId, Identity, Kind
from tests.credentials.disks import FailingDisk
from tests.credentials.journals import login, print_of

ACCOUNT = Account(id=AccountId("a1"), name="work", provider="anthropic", kind=Kind.OAUTH)
OTHER = replace(ACCOUNT, id=AccountId("b2"), name="home")
PAIR = Handed(credential=login(2), spent=print_of(login(1)), whose={"owner": "u-1", "organization_name": "Acme"})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """accounts.toml with two accounts."""
    path = tmp_path / "accounts.toml"
    book.edit(path, lambda _: (ACCOUNT, OTHER))
    return path


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """The first generation of both."""
    store = FileStore(tmp_path / "secrets.json")
    store.put("a1", login(1))
    store.put("b2", login(9))
    return store


def test_the_pair_and_what_it_tells_are_kept(path: Path, store: Store) -> None:
    """Only what was not known is added, and only to this account; a second time changes nothing."""
    book.edit(path, lambda known: (replace(known[0], identity=Identity(email="me@example.com")), known[1]))
    assert keep(path, store, ACCOUNT, PAIR).name == "renewed"
    assert store.get("a1") == login(2)
    work, home = book.load(path)
    assert work.identity == Identity(owner="u-1", email="me@example.com", organization_name="Acme")
    assert (home, store.get("b2")) == (OTHER, login(9))

    before = {one.name: one.read_bytes() for one in path.parent.iterdir()}
    assert keep(path, store, ACCOUNT, PAIR).name == "renewed"
    assert before == {one.name: one.read_bytes() for one in path.parent.iterdir()}


def test_the_same_pair_with_a_later_end_is_written(path: Path, store: Store) -> None:
    """Or the login would stay due, and be renewed every second."""
    again = replace(PAIR, credential=login(1, timedelta(hours=16)))
    assert keep(path, store, ACCOUNT, again).name == "renewed"
    assert store.get("a1") == again.credential


def test_somebody_elses_pair_is_not_written(path: Path, store: Store) -> None:
    """X13: both are named, and that the own token is used up."""
    ours = Identity(owner="u-7", email="me@example.com")
    book.edit(path, lambda known: (replace(known[0], identity=ours), known[1]))
    outcome = keep(path, store, ACCOUNT, PAIR)
    assert (outcome.name, store.get("a1")) == ("failed", login(1))
    for said in ("me@example.com", "u-1", "used up"):
        assert said in outcome.because


def _replace_login(_path: Path, store: Store) -> None:
    store.put("a1", login(5))


def _remove_account(path: Path, _store: Store) -> None:
    book.edit(path, lambda known: known[1:])


def _remove_secret(_path: Path, store: Store) -> None:
    store.delete("a1")


@pytest.mark.parametrize(
    ("change", "name"), [(_replace_login, "current"), (_remove_account, "gone"), (_remove_secret, "gone")]
)
def test_what_was_done_meanwhile_stands(
    path: Path, store: Store, change: Callable[[Path, Store], None], name: str
) -> None:
    """A login given anew, an account removed, a secret removed."""
    change(path, store)
    before = {one: store.get(one) for one in store.ids()}
    assert keep(path, store, ACCOUNT, PAIR).name == name
    assert before == {one: store.get(one) for one in store.ids()}


def test_a_setup_token_given_meanwhile_stands(path: Path, store: Store) -> None:
    """It has no refresh token at all."""
    store.put("a1", login(5, refresh=False))
    assert keep(path, store, ACCOUNT, PAIR).name == "current"


def test_an_account_file_that_cannot_be_read_costs_no_login(path: Path, store: Store) -> None:
    """The store decides; what the account was when the renewal began still guards it."""
    path.write_text("[[accounts]\n")
    assert keep(path, store, replace(ACCOUNT, identity=Identity(owner="u-7")), PAIR).name == "failed"
    assert keep(path, store, ACCOUNT, PAIR).name == "renewed"
    assert store.get("a1") == login(2)
    assert path.read_text() == "[[accounts]\n"


def test_a_disk_that_refuses_is_raised(path: Path, tmp_path: Path) -> None:
    """At each call of the disk: the old pair stands, another try may go well."""
    file = tmp_path / "secrets.json"
    FileStore(file).put("a1", login(1))
    for fail_at in range(1, 99):
        disk = FailingDisk(fail_at)
        try:
            outcome = keep(path, FileStore(file, disk), ACCOUNT, PAIR)
        except NotWritten:
            assert FileStore(file).get("a1") == login(1)
            continue
        assert outcome.name == "renewed"
        break
    assert fail_at > 5
    assert FileStore(file).get("a1") == login(2)


def test_what_cannot_be_kept_of_the_owner_is_left_out(path: Path, store: Store) -> None:
    """A text with a line break, or under a name that nobody knows."""
    odd = replace(PAIR, whose={"owner": "u\n1", "email": "e" * 999, "shoe_size": "43", "plan": "max"})
    assert keep(path, store, ACCOUNT, odd).name == "renewed"
    assert book.load(path)[0].identity == Identity(plan="max")
