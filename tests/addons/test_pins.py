"""addons/pins.py: what an instruction to pin asks for, and launches that name an account."""

from dataclasses import replace
from typing import Any

import pytest

from addons.pins import MOST_WARNED, Launches, read
from routing.observations import AccountsChanged, Pinned
from routing.router import Router
from routing.rules import Rules
from routing.words import Account
from tests.addons.made import accounts
from tests.routing.made import ANN, BEN, NOON, demand

KNOWN = accounts(ANN, BEN, "off", "bare")
KNOWN = {**KNOWN, **{i: replace(a, enabled=False) for i, a in KNOWN.items() if a.name == "off"}}


def router() -> Router:
    """Ann and ben can be pinned; one is disabled, one has no secret."""
    made = Router(Rules())
    unsigned = {account.id: "not stored" for account in KNOWN.values() if account.name == "bare"}
    made.observe(AccountsChanged(accounts=tuple(KNOWN.values()), unsigned=unsigned))
    return made


def test_an_instruction_is_read() -> None:
    """Ids, what it is about, and how far it goes."""
    whole = read({"accounts": [ANN, BEN], "moves": True, "forces": True}, KNOWN, router(), NOON)
    own = read({"accounts": [], "session": "s"}, KNOWN, router(), NOON)

    assert whole == Pinned(accounts=(ANN, BEN), at=NOON, moves=True, forces=True)
    assert own == Pinned(accounts=(), at=NOON, session="s")


FAULTS: list[tuple[dict[str, Any], str]] = [
    ({}, '"accounts" must be'),
    ({"accounts": "ann"}, '"accounts" must be'),
    ({"accounts": [1]}, '"accounts" must be'),
    ({"accounts": [ANN], "session": ""}, '"session" must be'),
    ({"accounts": [ANN], "session": 7}, '"session" must be'),
    ({"accounts": [ANN], "session": "x" * 257}, '"session" must be'),
    ({"accounts": [ANN], "session": "two\nlines"}, '"session" must be'),
    ({"accounts": [ANN, BEN], "session": "s"}, "pinned to one account"),
    ({"accounts": ["nobody"]}, "an account is not there; these can be pinned: ann, ben"),
    ({"accounts": [ANN, "off"]}, "off is disabled; these can be pinned: ann, ben"),
    ({"accounts": ["bare"]}, "bare has no secret; these can be pinned: ann, ben"),
]


@pytest.mark.parametrize(("body", "says"), FAULTS, ids=range(len(FAULTS)))
def test_what_makes_no_sense_is_said(body: dict[str, Any], says: str) -> None:
    """With the names that would."""
    with pytest.raises(ValueError, match=says):
        read(body, KNOWN, router(), NOON)


def test_nobody_can_be_pinned() -> None:
    """Where no account is there."""
    with pytest.raises(ValueError, match="none can be pinned"):
        read({"accounts": ["x"]}, {}, Router(Rules()), NOON)


def test_a_launch_names_an_account() -> None:
    """By the name that people know."""
    named = {ANN: replace(KNOWN[ANN], name="work")}

    assert Launches(router(), named).heed(demand(), "work").pin == ANN


@pytest.mark.parametrize("name", ["nobody", "off", "bare", "", "sk-ant-oat01-secret", "a\x1bb", "x" * 99])
def test_a_bad_launch_is_passed_over_and_said_once(name: str, caplog: pytest.LogCaptureFixture) -> None:
    """For each session and name; what may be a secret is not quoted."""
    launches = Launches(router(), KNOWN)
    for session in ("one", "one", "two"):
        assert launches.heed(demand(session=session), name).pin is None

    assert len(caplog.records) == 2
    assert "these can be pinned: ann, ben" in caplog.text
    assert "sk-ant" not in caplog.text
    assert "\x1b" not in caplog.text


def test_what_was_warned_of_is_remembered_by_its_beginning(caplog: pytest.LogCaptureFixture) -> None:
    """Names and sessions are as long as a client likes: neither is kept whole."""
    launches = Launches(router(), KNOWN)
    for end in ("a", "b"):
        launches.heed(demand(session="s" * 10_000 + end), "n" * 10_000 + end)

    assert len(caplog.records) == 1


def test_warnings_are_bounded(caplog: pytest.LogCaptureFixture) -> None:
    """Who was warned of longest ago is warned of again."""
    launches = Launches(router(), dict[Any, Account]())
    for number in range(MOST_WARNED + 1):
        launches.heed(demand(session=f"s{number}"), "nobody")
    caplog.clear()
    launches.heed(demand(session="s1"), "nobody")
    assert not caplog.records
    launches.heed(demand(session="s0"), "nobody")
    assert len(caplog.records) == 1
