"""reserve writes what is held back of an account, and a running proxy reads it."""

import json

import pytest

from home import accounts as book
from routing.words import Reserves
from tests.flowpool.cli import Shell
from tests.flowpool.proxy import announce, listening, reply


def reserves(shell: Shell) -> Reserves:
    """What is in the file."""
    (account,) = book.load(shell.home / "accounts.toml")
    return account.reserves


UNDO = "; undo: flowpool reserve work --off"
STEPS = [  # arguments, what is said, what is held back then; one after another
    ((), "work holds nothing back", Reserves()),
    (("--5h", "10"), f"work holds back 10% of its 5 hours{UNDO}", Reserves(session=0.1)),
    (
        ("--week", "20"),
        f"work holds back 10% of its 5 hours and 20% of its week{UNDO}",
        Reserves(session=0.1, week=0.2),
    ),
    (("--5h", "0"), f"work holds back 20% of its week{UNDO}", Reserves(week=0.2)),
    ((), "work holds back 20% of its week", Reserves(week=0.2)),
    (("--off",), "work holds nothing back", Reserves()),
]


def test_each_window_is_set_by_itself(shell: Shell) -> None:
    """The other stays as it was; without an option nothing changes."""
    shell.add("work")
    for arguments, line, held in STEPS:
        assert shell.run("reserve", "work", *arguments).stdout == f"{line}\n"
        assert reserves(shell) == held


def test_a_running_proxy_is_told(shell: Shell) -> None:
    """Only when something changed."""
    shell.add("work")
    heard: list[bytes] = []
    with listening(reply(b'{"reloaded": true, "notices": []}'), heard) as address:
        announce(shell.home, address)
        shell.run("reserve", "work")
        assert heard == []
        shell.run("reserve", "work", "--week", "5")

    assert [one.split(b" ")[1] for one in heard] == [b"/_flowpool/reload"]


def test_json_is_the_account(shell: Shell) -> None:
    """As accounts --json has it."""
    shell.add("work")
    found = json.loads(shell.run("reserve", "work", "--5h", "15", "--json").stdout)

    assert [found] == json.loads(shell.run("accounts", "--json").stdout)
    assert (found["reserve_5h"], found["reserve_week"]) == (0.15, 0.0)


@pytest.mark.parametrize("arguments", [("--5h", "100"), ("--week", "-1"), ("--week", "x"), ("--off", "--week", "1")])
def test_what_makes_no_sense_changes_nothing(shell: Shell, arguments: tuple[str, ...]) -> None:
    """Misuse, exit 2, and what would make some."""
    shell.add("work")
    err = shell.run("reserve", "work", *arguments, code=2).stderr

    assert ("PERCENT is a whole percent from 0 to 99" in err) == ("--off" not in arguments)
    assert reserves(shell) == Reserves()


def test_an_unknown_name_is_answered_with_the_nearest(shell: Shell) -> None:
    """Exit 1."""
    shell.add("work")

    assert "did you mean work?" in shell.run("reserve", "wrok", "--off", code=1).stderr
