"""What somebody brings is checked, placed, kept and told, in this order."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from credentials.credential import Credential
from credentials.file import FileStore
from credentials.secret import Secret
from flowpool.errors import Failure
from flowpool.intake.taking import Offer, Taken, take
from home import accounts as book
from home import settings
from home.paths import Home
from routing.words import Identity
from tests.flowpool.proxy import listening, reply

NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)
LOGIN = Credential(
    kind="oauth", access=Secret("sk-ant-oat01-one"), refresh=Secret("one"), expires_at=NOON + timedelta(hours=8)
)
ANOTHER = replace(LOGIN, access=Secret("sk-ant-oat01-two"), refresh=Secret("two"))
ME = Identity(owner="u-1", organization="o-1", email="me@example.org")
OFFER = Offer(credential=LOGIN, name=None, command="flowpool x", again="flowpool x", identity=ME, is_fresh=True)


def given(home: Home, offer: Offer, upstream: str = "http://127.0.0.1:1", *, no_verify: bool = True) -> Taken:
    """Offer it to a home whose upstream this is."""
    text = f'providers.anthropic.upstream = "{upstream}"\ncredentials.backend = "file"\n'
    chosen = settings.parse(home.config, text.encode())
    return take(home, chosen, book.load(home.accounts), offer, NOON, no_verify=no_verify, by_force=False)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A home with nothing in it."""
    return Home(config_folder=tmp_path, state_folder=tmp_path)


def test_the_provider_may_tell_that_it_is_known(home: Home) -> None:
    """An identity that only the provider knows finds the account, too."""
    first = given(home, OFFER)
    said = {"account": {"uuid": "u-1"}, "organization": {"uuid": "o-1"}}
    with listening(reply(json.dumps(said).encode()), []) as address:
        nameless = replace(OFFER, credential=ANOTHER, identity=Identity(plan="max"))
        again = given(home, nameless, f"http://{address}", no_verify=False)

    assert (first.account.name, first.is_new, again.account.name, again.is_new) == ("me", True, "me", False)
    (account,) = book.load(home.accounts)
    assert account.identity == replace(ME, plan="max")
    assert FileStore(home.secrets).get(account.id) == ANOTHER


def test_a_memory_of_another_login_does_not_count(home: Home) -> None:
    """The client remembers me, its file holds your login: the account is yours, and mine keeps its secret (X13)."""
    mine = given(home, OFFER).account
    said = {"account": {"uuid": "u-2", "email": "you@example.org"}, "organization": {"uuid": "o-1"}}
    with listening(reply(json.dumps(said).encode()), []) as address:
        remembered = replace(OFFER, credential=ANOTHER, is_fresh=False, source="/client")
        yours = given(home, remembered, f"http://{address}", no_verify=False)

    assert (yours.account.name, yours.is_new, yours.account.identity.owner) == ("you", True, "u-2")
    assert FileStore(home.secrets).get(mine.id) == LOGIN


def test_what_does_not_go_together_is_not_asked_about(home: Home) -> None:
    """A wrong name is said before any secret leaves the machine."""
    given(home, OFFER)
    heard: list[bytes] = []
    with (
        listening(reply(b"{}"), heard) as address,
        pytest.raises(Failure, match="is the account me already, and not you"),
    ):
        given(home, replace(OFFER, credential=ANOTHER, name="you"), f"http://{address}", no_verify=False)

    assert heard == []
    assert FileStore(home.secrets).get(book.load(home.accounts)[0].id) == LOGIN


def test_nobody_there_is_kept_unasked(home: Home) -> None:
    """Saved, said to be unsure, and the profile is not asked for in vain."""
    with listening(b"", []) as address:
        pass
    taken = given(home, replace(OFFER, identity=Identity()), f"http://{address}", no_verify=False)

    assert taken.standing.startswith("; not checked: http://127.0.0.1:")
    assert taken.account.name == "account-1"
