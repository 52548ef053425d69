"""lift tells the running proxy to end holds, by id, and says how many there were."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from home import accounts as book
from home.state import reader
from home.state.state import State
from routing.holds import Hold
from routing.readings import Reading
from routing.remembered import Remembered
from routing.verdicts import RESERVE_ROW
from tests.flowpool.cli import Shell
from tests.flowpool.proxy import announce, listening, reply
from tests.routing.made import window


def test_the_proxy_is_told_by_id(shell: Shell) -> None:
    """Each account's outcome stands in the one line."""
    for name in ("work", "home", "third"):
        shell.add(name, secret=f"token-of-{name}")
    ids = [account.id for account in book.load(shell.home / "accounts.toml")]
    answer = json.dumps({"lifted": {ids[0]: 1, ids[1]: 3, ids[2]: 0}}).encode()
    heard: list[bytes] = []
    with listening(reply(answer), heard) as address:
        announce(shell.home, address)
        out = shell.run("lift", "work", "home", "third", "work").stdout

    assert out == "work: 1 hold lifted, home: 3 holds lifted, third: nothing was held\n"
    assert heard[0].startswith(b"POST /_flowpool/lift HTTP/1.1\r\n")
    assert json.loads(heard[0].partition(b"\r\n\r\n")[2]) == {"accounts": ids}


def test_an_unknown_name_lifts_nothing(shell: Shell) -> None:
    """The proxy is not asked."""
    shell.add("work")
    heard: list[bytes] = []
    with listening(reply(b"{}"), heard) as address:
        announce(shell.home, address)
        assert "no account wrok; did you mean work?" in shell.run("lift", "work", "wrok", code=1).stderr

    assert heard == []


@pytest.mark.parametrize("answer", [b"", reply(b"[]"), reply(b'{"lifted": 3}'), reply(b"", "400 Bad")], ids=range(4))
def test_a_strange_answer_is_one_clear_line(shell: Shell, answer: bytes) -> None:
    """Exit 1."""
    shell.add("work")
    with listening(answer, []) as address:
        announce(shell.home, address)
        err = shell.run("lift", "work", code=1).stderr

    assert err.count("\n") == 1
    assert "127.0.0.1" in err


def test_a_reserve_that_is_reached_is_no_hold(shell: Shell) -> None:
    """It is named with what ends it, by the proxy's word and by the state's; beside what was lifted."""
    shell.add("work")
    shell.run("reserve", "work", "--week", "20")
    (account,) = book.load(shell.home / "accounts.toml")
    said = "at its reserve, which is no hold; run: flowpool reserve work --off\n"
    held = {"id": account.id, "holds": [{"row": RESERVE_ROW}]}
    for count, told in ((0, said), (1, f"1 hold lifted; {said}")):
        answer = json.dumps({"lifted": {account.id: count}, "accounts": [held]}).encode()
        with listening(reply(answer), []) as address:
            announce(shell.home, address)
            assert shell.run("lift", "work").stdout == f"work: {told}"
    (shell.home / "running.json").unlink()
    assert shell.run("lift", "work").stdout == "work: nothing was held\n"
    now = datetime.now(UTC)
    shown = Reading(
        window=window("7d"), used=0.9, resets_at=now + timedelta(hours=1), status=None, sent_at=now, taken_at=now
    )
    state = State(shell.home / "state.sqlite3")
    state.put(Remembered(readings={(account.id, "7d"): shown}))
    state.close()

    assert shell.run("lift", "work").stdout == f"work: {said}"
    assert "until the next answer they are missing" in " ".join(shell.run("lift", "--help").stdout.split())


def test_without_a_proxy_the_state_is_edited(shell: Shell) -> None:
    """Nothing runs, or its pid is another program's by now: what the next proxy would restore is ended."""
    shell.add("work")
    assert shell.run("lift", "work").stdout == "work: nothing was held\n"
    with listening(b"", []) as address:
        pass
    announce(shell.home, address)
    (account,) = book.load(shell.home / "accounts.toml")
    now = datetime.now(UTC)
    hold = Hold(
        account=account.id,
        family=None,
        row=13,
        until=now + timedelta(hours=1),
        because="7d limit",
        windows=frozenset({"7d"}),
        set_at=now,
    )
    state = State(shell.home / "state.sqlite3")
    state.put(Remembered(holds={account.id: (hold,)}))
    state.close()

    assert shell.run("lift", "work").stdout == "work: 1 hold lifted\n"
    assert shell.run("lift", "work").stdout == "work: nothing was held\n"
    assert reader.remembered(shell.home / "state.sqlite3").holds == {}
