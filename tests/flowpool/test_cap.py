"""cap writes how many requests an account takes at once, and a running proxy reads it."""

import json

import pytest

from home import accounts as book
from tests.flowpool.cli import Shell


def cap(shell: Shell) -> int | None:
    """What is in the file."""
    (account,) = book.load(shell.home / "accounts.toml")
    return account.cap


def test_it_is_set_and_taken_away(shell: Shell) -> None:
    """Each in a line; without a number it shows what is set, and so do the lists."""
    shell.add("work")
    assert shell.run("cap", "work").stdout == "work has no cap\n"
    assert shell.run("cap", "work", "4").stdout == "capped work at 4 in flight; undo: flowpool cap work off\n"
    assert shell.run("cap", "work").stdout == "work is capped at 4 in flight\n"
    assert json.loads(shell.run("cap", "work", "--json").stdout)["cap"] == 4
    assert shell.run("accounts").stdout.endswith("\tcap 4\n")
    assert cap(shell) == 4
    assert "0 of 4 in flight" in shell.run("status").stdout
    assert shell.run("cap", "work", "off").stdout == "work has no cap now\n"
    assert cap(shell) is None


def test_json_is_the_account(shell: Shell) -> None:
    """As accounts --json has it."""
    shell.add("work")

    assert json.loads(shell.run("cap", "work", "2", "--json").stdout)["cap"] == 2


@pytest.mark.parametrize("number", ["0", "-1", "1.5", "none", "10001", ""])
def test_what_is_no_cap_changes_nothing(shell: Shell, number: str) -> None:
    """Misuse, exit 2, and what would be one."""
    shell.add("work")

    assert (
        "N is how many requests at once: a whole number from 1 to 10000, or off"
        in shell.run("cap", "--", "work", number, code=2).stderr
    )
    assert cap(shell) is None


def test_an_unknown_name_is_answered_with_the_nearest(shell: Shell) -> None:
    """Exit 1."""
    shell.add("work")

    assert "did you mean work?" in shell.run("cap", "wrok", "1", code=1).stderr
