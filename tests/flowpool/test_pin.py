"""pin tells the running proxy, or the state, whom the operator wishes to serve."""

import json

import pytest

from home import accounts as book
from home.state import reader
from routing.pins import ALL, OWN
from tests.flowpool.cli import Shell
from tests.flowpool.proxy import announce, listening, reply

PINS = json.dumps({"pins": [{"session": None, "accounts": ["home"], "because": "running conversations stay"}]}).encode()


@pytest.fixture
def pool(shell: Shell) -> Shell:
    """Two accounts that may serve, and one that may not."""
    for name in ("work", "home", "off"):
        shell.add(name, secret=f"token-of-{name}")
    shell.run("disable", "off")
    return shell


def ids(shell: Shell) -> dict[str, str]:
    """The accounts' ids by name."""
    return {account.name: account.id for account in book.load(shell.home / "accounts.toml")}


SAID = [
    (("home",), "new conversations go to home, running ones stay where they are warm"),
    (("home", "work", "--move"), "new conversations go to home, work, running ones move there"),
    (("auto",), "nothing is pinned for all; each conversation goes where there is room"),
    (("home", "--session", "s"), "that session goes to home"),
    (("auto", "--session", "s"), "that session is free again"),
]


@pytest.mark.parametrize(("arguments", "line"), SAID, ids=[" ".join(case[0]) for case in SAID])
def test_it_is_said_in_a_line(pool: Shell, arguments: tuple[str, ...], line: str) -> None:
    """Whether a proxy runs or not."""
    assert pool.run("pin", *arguments).stdout == f"{line}\n"
    with listening(reply(PINS), []) as address:
        announce(pool.home, address)
        assert pool.run("pin", *arguments).stdout == f"{line}\n"


def test_the_proxy_is_told_by_id(pool: Shell) -> None:
    """And all that was asked for."""
    heard: list[bytes] = []
    known = ids(pool)
    with listening(reply(PINS), heard) as address:
        announce(pool.home, address)
        pool.run("pin", "home", "work", "home", "--move", "--force")
        pool.run("pin", "home", "--session", "s")

    assert heard[0].startswith(b"POST /_flowpool/pin HTTP/1.1\r\n")
    assert [json.loads(one.partition(b"\r\n\r\n")[2]) for one in heard] == [
        {"accounts": [known["home"], known["work"]], "session": None, "moves": True, "forces": True},
        {"accounts": [known["home"]], "session": "s", "moves": False, "forces": False},
    ]


def test_without_a_proxy_the_state_has_it(pool: Shell) -> None:
    """The next proxy restores it; status shows it meanwhile."""
    pool.run("pin", "home", "--move")
    pool.run("pin", "work", "--session", "s")
    known, found = ids(pool), reader.remembered(pool.home / "state.sqlite3").pins

    assert (found[ALL, "", ""].accounts, found[ALL, "", ""].moves) == ((known["home"],), True)
    assert found[OWN, "s", ""].accounts == (known["work"],)
    out = pool.run("status").stdout
    assert "Pinned to home: running conversations move there, too" in out
    assert "One session is pinned to work: pinned by you" in out
    pool.run("pin", "auto", "--force")
    assert ALL not in {scope for scope, _, _ in reader.remembered(pool.home / "state.sqlite3").pins}


def test_json_is_the_list_of_all_pins(pool: Shell) -> None:
    """The same as status has."""
    found = json.loads(pool.run("pin", "home", "--json").stdout)

    assert found["pins"] == json.loads(pool.run("status", "--json").stdout)["pins"]
    assert [(pin["session"], pin["accounts"]) for pin in found["pins"]] == [(None, ["home"])]


WRONG = [
    (("wrok",), "there is no account wrok; did you mean work?"),
    (("zzz",), "there is no account zzz; there are: work, home, off"),
    (("home", "off"), "off is disabled; these can be pinned: work, home; run: flowpool enable off"),
    (("auto", "home"), '"auto" stands alone'),
    (("home", "work", "--session", "s"), "a session is pinned to one account"),
]


@pytest.mark.parametrize(("arguments", "says"), WRONG, ids=[" ".join(case[0]) for case in WRONG])
def test_what_makes_no_sense_changes_nothing(pool: Shell, arguments: tuple[str, ...], says: str) -> None:
    """One line that names what would; the proxy is not asked, the state not made."""
    heard: list[bytes] = []
    assert says in pool.run("pin", *arguments, code=1).stderr
    with listening(reply(PINS), heard) as address:
        announce(pool.home, address)
        assert says in pool.run("pin", *arguments, code=1).stderr

    assert heard == []
    assert reader.remembered(pool.home / "state.sqlite3").pins == {}


def test_a_session_alone_is_neither_moved_nor_forced(pool: Shell) -> None:
    """Misuse, exit 2."""
    assert "leave out --move and --force" in pool.run("pin", "home", "--session", "s", "--move", code=2).stderr


def test_the_proxys_refusal_is_shown(pool: Shell) -> None:
    """It knows who has no secret."""
    error = json.dumps({"error": {"message": "home has no secret; these can be pinned: work"}}).encode()
    with listening(reply(error, "400 Bad Request"), []) as address:
        announce(pool.home, address)
        err = pool.run("pin", "home", code=1).stderr

    assert err == "flowpool: home has no secret; these can be pinned: work\n"


@pytest.mark.parametrize(
    "answer", [reply(b"[]"), reply(b'{"pins": 3}'), reply(b'{"pins": [3]}'), reply(b"", "400 Bad")]
)
def test_a_strange_answer_is_one_clear_line(pool: Shell, answer: bytes) -> None:
    """Exit 1."""
    with listening(answer, []) as address:
        announce(pool.home, address)
        assert pool.run("pin", "home", code=1).stderr.count("\n") == 1


def test_a_pin_that_yields_says_so(pool: Shell) -> None:
    """At once, with the reason."""
    pins = [{"session": None, "accounts": ["home"], "because": "yields: home has no room (7d limit)\x1b"}]
    with listening(reply(json.dumps({"pins": pins}).encode()), []) as address:
        announce(pool.home, address)
        out = pool.run("pin", "home").stdout

    assert out.endswith("; for now it yields: home has no room (7d limit) \n")


def test_its_file_may_be_in_the_way(pool: Shell) -> None:
    """A state that cannot be written is one line with the mending command."""
    (pool.home / "state.sqlite3").mkdir()

    assert "run: ls -l" in pool.run("pin", "home", code=2).stderr
