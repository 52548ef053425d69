"""Every error of credentials says how to mend it."""

import sys
from pathlib import Path

import pytest

from credentials import errors

PATH = Path("/home/me/secrets.json")
ALL = [
    errors.BadSecret("it is empty", "flowpool add NAME"),
    errors.NotStored("a1"),
    errors.UnknownBackend("no", "flowpool serve"),
    errors.Exposed(PATH),
    errors.Unreadable(PATH, "junk"),
    errors.NotWritten(PATH, "full"),
    errors.Busy(PATH, 10),
    errors.NoKeyring("none"),
    errors.KeyringLocked(),
    errors.KeyringDenied(),
    errors.KeyringBroken("it hung"),
    errors.Torn("half is gone"),
    errors.KeyringLocked().later(59.6),
]


@pytest.mark.parametrize("error", ALL, ids=[f"{number} {type(error).__name__}" for number, error in enumerate(ALL)])
def test_each_ends_with_its_command_in_one_line(error: errors.CredentialError) -> None:
    """A message is one line and its last part is a command."""
    problem, _, command = str(error).rpartition("; run: ")

    assert problem
    assert command.split()[0] in {"flowpool", "chmod", "ls", "df", "fuser", "security", sys.executable}
    assert "\n" not in str(error)


@pytest.mark.parametrize("error", ALL, ids=[f"{number} {type(error).__name__}" for number, error in enumerate(ALL)])
def test_a_command_for_one_account_names_it(error: errors.CredentialError) -> None:
    """Who knows the account's name fills it in, and nothing else changes."""
    before = str(error)
    named = error.naming("work")

    assert named is error
    assert str(named) == before.replace("add NAME --replace", "add work --replace")


def test_a_command_for_each_account_stays_as_it_is() -> None:
    """Where every account's secret is lost, no single one is named."""
    error = errors.Unreadable(PATH, "junk", f"mv a b, then for each account {errors.AGAIN}")

    assert str(error.naming("work")).endswith("for each account flowpool add NAME --replace")
