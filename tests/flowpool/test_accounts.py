"""The accounts are listed."""

import json

from home import accounts as book
from tests.flowpool.cli import Shell


def test_accounts_are_listed_for_people_and_programs(shell: Shell) -> None:
    """The list is lines with tabs for a pipe, an array with --json, and a hint when there is none."""
    assert "flowpool login NAME" in shell.run("accounts").stdout
    assert json.loads(shell.run("accounts", "--json").stdout) == []
    shell.add("work")
    (account,) = book.load(shell.home / "accounts.toml")

    assert shell.run("accounts").stdout == f"work\tsetup-token\tanthropic\t-\tenabled\t{account.id}\n"
    assert json.loads(shell.run("accounts", "--json").stdout) == [
        {
            "id": account.id,
            "name": "work",
            "provider": "anthropic",
            "kind": "setup-token",
            "enabled": True,
            "rank": None,
            "email": None,
            "organization": None,
            "plan": None,
        }
    ]


def test_its_subcommands_are_told(shell: Shell) -> None:
    """--help names them; a wrong one is refused and the list is not shown."""
    out = shell.run("accounts", "--help").stdout
    assert all(f"  {name} " in out for name in ("export", "import"))

    assert shell.run("accounts", "exprot", code=2).stdout == ""
