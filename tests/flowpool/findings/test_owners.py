"""A login that two programs own, and accounts that are one, are named."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from credentials.credential import Credential, parse
from credentials.errors import NotStored
from flowpool.findings.finding import Level
from flowpool.findings.owners import duplicates, owners
from home import clientlogin
from home.clientlogin import Place
from routing.words import Account, AccountId, Identity, Kind
from tests.upstream import login as login_file

ANN, BEN = (Identity(owner=f"o-{name}", organization="g-1") for name in ("ann", "ben"))
WORK = Account(id=AccountId("a1"), name="work", provider="anthropic", kind=Kind.OAUTH, identity=ANN)
HOME = replace(WORK, id=AccountId("a2"), name="home", identity=BEN)
TOKEN = "sk-ant-oat01-PLANTED"


def login(token: str) -> Credential:
    """A login with a refresh token of its own."""
    return parse("oauth", login_file(token))


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Claude Code's files, with a login of Ann's."""
    place = clientlogin.of_folder(tmp_path)
    place.file.write_text(login_file(TOKEN))
    (tmp_path / ".claude.json").write_text(
        json.dumps({"oauthAccount": {"accountUuid": "o-ann", "organizationUuid": "g-1"}})
    )
    return place


def test_the_same_secret_has_two_owners(place: Place) -> None:
    """The way out is a login of the account's own."""
    (found,) = owners(place, (WORK, HOME), {"a1": login(TOKEN), "a2": login("sk-ant-oat01-another")})

    assert (found.level, found.account, found.mend) == (Level.WARN, "work", "flowpool login work")
    assert found.message.startswith(f"two owners: Claude Code has the same login in {place.file}")
    assert "PLANTED" not in found.message


def test_one_that_was_taken_from_there_has_two_owners(place: Place) -> None:
    """Also after one side refreshed it; without a refresh token nobody logs anybody out."""
    taken = replace(WORK, source=str(place.file))
    (found,) = owners(place, (taken,), {"a1": login("sk-ant-oat01-refreshed")})
    assert found.level is Level.WARN

    (found,) = owners(place, (taken,), {"a1": parse("oauth", "sk-ant-oat01-alone")})
    assert found.level is Level.OK


def test_a_login_of_its_own_of_the_same_person_is_told(place: Place) -> None:
    """Two logins of one account do not end each other."""
    (found,) = owners(place, (WORK, HOME), {"a1": login("sk-ant-oat01-one"), "a2": login("sk-ant-oat01-two")})

    assert (found.level, found.account) == (Level.OK, "work")
    assert found.message == "Claude Code is logged in to it as well, by a login of its own"


def test_others_are_not_named(place: Place) -> None:
    """Neither another person's, nor one whose secret cannot be read, nor any when the client has none."""
    kept = {"a2": login("sk-ant-oat01-two")}
    assert owners(place, (HOME,), kept)[0].level is Level.OK
    assert owners(place, (HOME,), {"a2": NotStored("a2")})[0].message == "Claude Code's own login is not in the pool"
    place.file.unlink()

    assert owners(place, (HOME,), kept)[0].message == "Claude Code has no login of its own in a file"


TWINS = [  # the second account, its secret, whether it is the first one again
    (replace(HOME, identity=ANN), "sk-ant-oat01-two", True),
    (HOME, TOKEN, True),
    (HOME, "sk-ant-oat01-two", False),
    (replace(HOME, identity=Identity()), "sk-ant-oat01-two", False),
]


@pytest.mark.parametrize(("other", "token", "is_twin"), TWINS, ids=range(len(TWINS)))
def test_two_that_are_one_are_named(other: Account, token: str, is_twin: bool) -> None:
    """By identity or secret; the second is the one to remove."""
    (found,) = duplicates((WORK, other), {"a1": login(TOKEN), "a2": login(token)})

    assert found.level is (Level.WARN if is_twin else Level.OK)
    if is_twin:
        assert (found.account, found.mend) == ("home", "flowpool remove home")
        assert "of work: both meet the same limits" in found.message


def test_what_nobody_knows_is_no_twin() -> None:
    """Two accounts without identity and without a readable secret are two."""
    blank = replace(WORK, identity=Identity())
    kept = {"a1": NotStored("a1"), "a2": NotStored("a2")}

    assert duplicates((blank, replace(HOME, identity=Identity())), kept)[0].level is Level.OK
