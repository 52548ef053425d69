"""Every row of docs/verdicts.md that refuses has its plain words and its command."""

import pytest

from flowpool import main, refusals
from providers.anthropic import minimal, verdicts
from routing.verdicts import Verdict, VerdictKind
from routing.words import Account, AccountId, Kind

ROWS = sorted({row.number for row in verdicts.ROWS if row.number != 8})


def account(kind: Kind = Kind.SETUP_TOKEN) -> Account:
    """An account of this kind."""
    return Account(id=AccountId("i"), name="work", provider="anthropic", kind=kind)


def verdict(row: int) -> Verdict:
    """A verdict of this row."""
    return Verdict(row=row, kind=VerdictKind.LIMIT, because="")


@pytest.mark.parametrize("row", ROWS)
def test_each_row_has_its_words_and_a_command_of_ours(row: int) -> None:
    """Which is run as it stands."""
    meaning, mend = refusals.explain(verdict(row), account(), minimal.MODEL)

    assert meaning
    program, name, *_ = mend.split(" ")
    assert program == "flowpool"
    assert name in main.COMMANDS
    assert "{" not in mend


@pytest.mark.parametrize(
    ("kind", "command"),
    [(Kind.OAUTH, "flowpool login work"), (Kind.SETUP_TOKEN, "flowpool add work --replace")],
)
def test_a_refused_login_gets_another(kind: Kind, command: str) -> None:
    """By the way of its kind."""
    assert refusals.explain(verdict(18), account(kind), minimal.MODEL)[1] == command


@pytest.mark.parametrize("row", [15, 23])
def test_another_model_may_be_why(row: int) -> None:
    """A subscription answers a bare request for Haiku alone."""
    assert "Haiku only" in refusals.explain(verdict(row), account(), "claude-opus-5-5")[0]
    assert "Haiku only" not in refusals.explain(verdict(row), account(), minimal.MODEL)[0]
