"""switch is a pin that moves running conversations, too."""

import json

from home import accounts as book
from home.state import reader
from routing.pins import ALL
from tests.flowpool.cli import Shell
from tests.flowpool.proxy import announce, listening, reply


def test_the_proxy_is_told_to_move_all(shell: Shell) -> None:
    """And "auto" ends it."""
    shell.add("work")
    (account,) = book.load(shell.home / "accounts.toml")
    heard: list[bytes] = []
    with listening(reply(b'{"pins": []}'), heard) as address:
        announce(shell.home, address)
        assert (
            shell.run("switch", "work").stdout
            == "new and running conversations go to work; undo: flowpool switch auto\n"
        )
        assert shell.run("switch", "auto").stdout == "each conversation goes where there is room\n"

    assert [json.loads(one.partition(b"\r\n\r\n")[2]) for one in heard] == [
        {"accounts": [account.id], "session": None, "moves": True, "forces": False},
        {"accounts": [], "session": None, "moves": False, "forces": False},
    ]


def test_without_a_proxy_the_state_has_it(shell: Shell) -> None:
    """JSON is that of pin."""
    shell.add("work")
    found = json.loads(shell.run("switch", "work", "--json").stdout)

    assert [pin["moves"] for pin in found["pins"]] == [True]
    assert reader.remembered(shell.home / "state.sqlite3").pins[ALL, "", ""].moves


def test_without_a_name_it_shows_what_is_pinned(shell: Shell) -> None:
    """As pin does; several are another command's."""
    shell.add("work")
    shell.run("switch", "work")

    assert shell.run("switch").stdout == shell.run("pin").stdout != ""
    assert json.loads(shell.run("switch", "--json").stdout) == json.loads(shell.run("pin", "--json").stdout)
    assert "for several: flowpool pin work home --move" in shell.run("switch", "work", "home", code=2).stderr
    assert "for several: flowpool pin NAME NAME --move" in shell.run("switch", "A B", "sk-ant-x", code=2).stderr


def test_an_unknown_name_changes_nothing(shell: Shell) -> None:
    """It names the valid ones."""
    shell.add("work")

    assert "did you mean work?" in shell.run("switch", "wrok", code=1).stderr
    assert not (shell.home / "state.sqlite3").exists()
