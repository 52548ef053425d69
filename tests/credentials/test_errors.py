"""Every error of credentials says how to mend it."""

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
]


@pytest.mark.parametrize("error", ALL, ids=lambda error: type(error).__name__)
def test_each_ends_with_its_command_in_one_line(error: errors.CredentialError) -> None:
    """A message is one line and its last part is a command."""
    problem, _, command = str(error).rpartition("; run: ")

    assert problem
    assert command.split()[0] in {"flowpool", "chmod", "ls", "df", "fuser"}
    assert "\n" not in str(error)
