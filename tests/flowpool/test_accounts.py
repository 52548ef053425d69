"""The accounts are listed."""

import json
import os
import shlex
import subprocess
import sys

from home import accounts as book
from tests.flowpool.cli import ROOT, Shell


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
            "reserve_5h": 0.0,
            "reserve_week": 0.0,
            "cap": None,
            "primary": False,
            "email": None,
            "organization": None,
            "plan": None,
        }
    ]


def test_what_is_set_of_an_account_stands_last(shell: Shell) -> None:
    """Its cap, and what is held back of it; nothing where nothing is."""
    shell.add("work")
    shell.add("home", secret="another-secret")
    shell.run("cap", "work", "3")
    shell.run("reserve", "work", "--5h", "10", "--week", "20")
    work, home = shell.run("accounts").stdout.splitlines()

    assert work.endswith("\tcap 3, 10% of 5h kept back, 20% of 7d kept back")
    assert home.count("\t") == 5


def test_its_subcommands_are_told(shell: Shell) -> None:
    """--help names them; a wrong one is refused and the list is not shown."""
    out = shell.run("accounts", "--help").stdout
    assert all(f"  {name} " in out for name in ("export", "import"))

    assert shell.run("accounts", "exprot", code=2).stdout == ""


def test_without_stdout_nothing_breaks(shell: Shell) -> None:
    """A job may be started without one."""
    shell.add("work")
    line = f"{shlex.quote(sys.executable)} -m flowpool accounts >&-"
    environ = {"PATH": os.defpath, "HOME": str(shell.home), "FLOWPOOL_HOME": str(shell.home)}
    done = subprocess.run(["sh", "-c", line], env=environ, cwd=ROOT, capture_output=True, timeout=60, check=False)

    assert (done.returncode, done.stderr) == (0, b"")
