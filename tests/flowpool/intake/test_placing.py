"""Which account a login belongs to, as a table; what a new one is called, as properties."""

from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowpool.errors import Failure
from flowpool.intake import placing
from home import accounts as book
from routing.words import Account, AccountId, Identity, Kind

A = Identity(owner="u-a", organization="o-1", email="me@a.example", organization_name="Org")
B = Identity(owner="u-b", organization="o-1", email="me@b.example")
A_ELSEWHERE = replace(A, organization="o-2", organization_name="Other")
UNKNOWN = Identity()
WORK, HOME, OLD = (
    Account(id=AccountId(name), name=name, provider="anthropic", kind=Kind.OAUTH, identity=identity)
    for name, identity in (("work", A), ("home", B), ("old", UNKNOWN))
)


@dataclass(frozen=True)
class Case:
    name: str | None
    identity: Identity
    goes_to: str | None = None
    refused: str = ""


CASES = {
    "nobody knows it": Case(None, UNKNOWN),
    "a new person": Case(None, replace(A, owner="u-c")),
    "known, no name": Case(None, A, "work"),
    "known, its name": Case("work", A, "work"),
    "known, another's name": Case(
        "home",
        A,
        refused="this login (me@a.example, Org) is the account work already, and not home; run: flowpool x work",
    ),
    "known, a new name": Case(
        "new", A, refused="this login (me@a.example, Org) is the account work already, and not new;"
    ),
    "same person, other organization": Case(None, A_ELSEWHERE),
    "same person, other organization, that name": Case(
        "work", A_ELSEWHERE, refused="work is me@a.example, Org, this login is me@a.example, Other; take another name"
    ),
    "a stranger with a known name": Case(
        "work",
        replace(B, owner="u-c"),
        refused="this login is me@b.example, o-1; take another name for it, or run: flowpool remove work",
    ),
    "unknown, a known name": Case("work", UNKNOWN, "work"),
    "unknown account's name": Case("old", replace(A, owner="u-c"), "old"),
    "a new name": Case("new", UNKNOWN),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_a_login_goes_where_it_belongs(case: Case) -> None:
    """Or is refused with both names."""
    known = (WORK, HOME, OLD)
    if case.refused:
        with pytest.raises(Failure) as caught:
            placing.find(known, case.name, case.identity, "flowpool x")
        assert case.refused in str(caught.value)
        return
    found = placing.find(known, case.name, case.identity, "flowpool x")

    assert (found and found.name) == case.goes_to


NAMES = [
    ("me@example.org", "me"),
    ("Me.Too+work@example.org", "me.too-work"),
    ("_x_@example.org", "x"),
    ("work@example.org", "work-2"),
    ("client@example.org", "account-1"),
    ("sk-ant-oat01-x@example.org", "account-1"),
    ("\u00e4\u00f6@example.org", "account-1"),
    ("", "account-1"),
    ("a" * 40 + "@x", "a" * 32),
]


@pytest.mark.parametrize(("email", "name"), NAMES)
def test_the_address_tells_the_name(email: str, name: str) -> None:
    """Its local part, made fit, and numbered where it is taken."""
    assert placing.fresh_name((WORK,), email) == name


@given(email=st.emails() | st.text(max_size=60), count=st.integers(0, 5))
def test_a_fresh_name_is_fit_and_free(email: str, count: int) -> None:
    """However many were made of the same address before."""
    known: tuple[Account, ...] = (WORK,)
    for number in range(count + 1):
        name = placing.fresh_name(known, email)
        assert book.is_name(name)
        assert name not in {account.name for account in known}
        known += (replace(OLD, id=AccountId(str(number)), name=name),)


@given(*[st.builds(Identity, owner=st.text(max_size=3), email=st.text(max_size=600), plan=st.text(max_size=3))] * 2)
def test_what_is_kept_of_an_identity_can_be_written(one: Identity, other: Identity) -> None:
    """Anything from elsewhere becomes an account that accounts.toml takes; the new word counts where there is one."""
    both = placing.merged(placing.fit(one), placing.fit(other))
    account = replace(WORK, identity=both)

    assert book.parse(Path("x"), book.render((account,))) == (account,)
    assert both.owner == (placing.fit(other).owner or placing.fit(one).owner)


def test_the_providers_word_counts() -> None:
    """What somebody remembers of another login is forgotten, but for the plan that came with it (X13)."""
    remembered = replace(A, plan="pro")
    assert placing.corrected(remembered, UNKNOWN) == remembered
    assert placing.corrected(remembered, Identity(owner="u-a", organization="o-1")) == remembered
    assert placing.corrected(remembered, B) == replace(B, plan="pro")


def test_what_is_unknown_is_not_told() -> None:
    """Ids stand in for what has no name."""
    assert placing.told(replace(A, plan="max 20x")) == "me@a.example, Org, max 20x"
    assert placing.told(Identity(owner="u", organization="o")) == "u, o"
    assert placing.told(UNKNOWN) == ""
