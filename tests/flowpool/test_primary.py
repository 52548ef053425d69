"""primary makes at most one account the primary, in the files and in a running proxy."""

import json

from tests.flowpool.cli import Shell
from tests.flowpool.proxy import announce, listening, reply


def primaries(shell: Shell) -> list[str]:
    """Which accounts are the primary, as `accounts` tells."""
    return [one["name"] for one in json.loads(shell.run("accounts", "--json").stdout) if one["primary"]]


def test_one_is_the_primary_until_another_is(shell: Shell) -> None:
    """Making one the primary takes it from the one before; none takes it from all, and status and accounts show it."""
    shell.add("work")
    shell.add("home")
    assert "flowpool primary NAME" in shell.run("primary").stdout

    assert shell.run("primary", "work").stdout.startswith("work is the primary")
    assert shell.run("primary", "home").stdout.startswith("home is the primary")
    assert primaries(shell) == ["home"]
    assert shell.run("primary").stdout.startswith("home is the primary")
    assert "primary" in shell.run("accounts").stdout
    assert "primary" in shell.run("status").stdout

    assert "no account is the primary" in shell.run("primary", "none").stdout
    assert primaries(shell) == []
    assert "primary" not in (shell.home / "accounts.toml").read_text()


def test_one_that_is_not_there_or_is_disabled_is_not_made_it(shell: Shell) -> None:
    """Nothing changes then, and what to run is said."""
    shell.add("work")
    shell.add("off")
    shell.run("disable", "off")
    shell.run("primary", "work")

    assert "did you mean work" in shell.run("primary", "wrk", code=1).stderr
    assert "flowpool enable off" in shell.run("primary", "off", code=1).stderr
    assert primaries(shell) == ["work"]


def test_a_running_proxy_is_told(shell: Shell) -> None:
    """It reads the accounts again at once."""
    shell.add("work")
    heard: list[bytes] = []
    with listening(reply(b'{"reloaded": true, "notices": []}'), heard) as address:
        announce(shell.home, address)
        shell.run("primary", "work")

    assert heard[0].startswith(b"POST /_flowpool/reload ")


def test_two_primaries_are_a_fault_of_the_file(shell: Shell) -> None:
    """Both are named by their lines, and the command that reads it says so."""
    shell.add("work")
    shell.add("home")
    path = shell.home / "accounts.toml"
    path.write_text(path.read_text().replace("enabled = true", "enabled = true\nprimary = true"))

    assert "accounts.primary: is true twice" in " ".join(shell.run("accounts", code=2).stderr.split())
