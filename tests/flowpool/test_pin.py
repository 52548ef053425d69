"""pin tells the running proxy, or the state, whom the operator wishes to serve."""

import json
import shutil
from pathlib import Path

import pytest

from home import accounts as book
from home.state import reader
from home.state.state import State
from routing.pins import ALL, OWN
from tests.flowpool.cli import Shell
from tests.flowpool.pictures import LINE
from tests.flowpool.proxy import announce, listening, reply

OWN_ID = "11111111-2222-4333-8444-555555555555"
TALK = "60a9dfd2" * 4
PINS = json.dumps({"pins": [{"session": None, "accounts": ["home"], "because": "running conversations stay"}]}).encode()


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home of two accounts that may serve, and one that may not."""
    shell = Shell(home=tmp_path_factory.mktemp("made") / "home")
    for name in ("work", "home", "off"):
        shell.add(name, secret=f"token-of-{name}")
    shell.run("disable", "off")
    return shell.home


@pytest.fixture
def pool(made: Path, shell: Shell) -> Shell:
    """A home like it."""
    shutil.copytree(made, shell.home)
    return shell


def ids(shell: Shell) -> dict[str, str]:
    """The accounts' ids by name."""
    return {account.name: account.id for account in book.load(shell.home / "accounts.toml")}


SAID = [
    (("home",), "new conversations go to home, running ones stay where they are warm; undo: flowpool pin auto"),
    (
        ("home", "work", "--move"),
        "new conversations go to home, work, running ones move there; undo: flowpool pin auto",
    ),
    (("auto",), "nothing is pinned for all; each conversation goes where there is room"),
    (
        ("home", "--session", TALK[:9]),
        f"session {TALK} goes to home; undo: flowpool pin auto --session {TALK}",
    ),
    (("auto", "--session", TALK[:9]), f"session {TALK} is free again"),
]


def talked(shell: Shell) -> None:
    """A conversation that the ledger knows."""
    state = State(shell.home / "state.sqlite3")
    state.enter(LINE | {"conversation": TALK})
    state.close()


@pytest.mark.parametrize(("arguments", "line"), SAID, ids=[" ".join(case[0]) for case in SAID])
def test_it_is_said_in_a_line(pool: Shell, arguments: tuple[str, ...], line: str) -> None:
    """Whether a proxy runs or not."""
    talked(pool)
    assert pool.run("pin", *arguments).stdout == f"{line}\n"
    told = json.dumps(json.loads(PINS) | {"session": TALK, "is_known": True}).encode()
    with listening(reply(told), []) as address:
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
    pool.run("pin", "work", "--session", OWN_ID)
    known, found = ids(pool), reader.remembered(pool.home / "state.sqlite3").pins

    assert (found[ALL, "", ""].accounts, found[ALL, "", ""].moves) == ((known["home"],), True)
    assert found[OWN, OWN_ID, ""].accounts == (known["work"],)
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


@pytest.mark.parametrize("session", ["", "x" * 257, "two\nlines", "\udcff", "\x1b[2J"], ids=range(5))
def test_what_is_no_sessions_id_changes_nothing(pool: Shell, session: str) -> None:
    """Misuse, exit 2, with a proxy and without: the state could not keep all of them, nor a screen show them."""
    heard: list[bytes] = []
    assert "ID must be 1 to 256 characters on one line" in pool.run("pin", "home", "--session", session, code=2).stderr
    with listening(reply(PINS), heard) as address:
        announce(pool.home, address)
        pool.run("pin", "home", "--session", session, code=2)

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

    assert out.endswith("; for now it yields: home has no room (7d limit) ; undo: flowpool pin auto\n")


def test_a_session_may_be_named_by_its_beginning(pool: Shell) -> None:
    """Of a conversation in the ledger, or of a session that is pinned; one that begins like another, or like none, is not."""
    talked(pool)
    pool.run("pin", "work", "--session", OWN_ID)
    pool.run("pin", "home", "--session", "1111")
    (own,) = [pin for _, pin in reader.remembered(pool.home / "state.sqlite3").pins.items()]
    assert own.accounts == (ids(pool)["home"],)
    pool.run("pin", "home", "--session", OWN_ID.replace("5555", "6666"))

    assert (
        "several begin so: 11111111-2222-4333-8444-555555555555, "
        in pool.run("pin", "home", "--session", "1111", code=1).stderr
    )
    err = pool.run("pin", "home", "--session", "2222", code=1).stderr
    assert "no session or conversation that begins so is known" in err
    assert "run: flowpool requests --json" in err


def test_a_whole_id_is_kept_for_its_first_request(pool: Shell) -> None:
    """And that is said, by the proxy's word too."""
    said = "goes to home; no request of it is known yet: it holds when one comes; undo: "
    assert said in pool.run("pin", "home", "--session", OWN_ID).stdout
    told = json.dumps({"pins": [], "session": OWN_ID, "is_known": False}).encode()
    with listening(reply(told), []) as address:
        announce(pool.home, address)
        assert said in pool.run("pin", "home", "--session", OWN_ID).stdout


def test_without_a_name_it_shows_what_is_pinned(pool: Shell) -> None:
    """Nothing changes; what would be pinned must be named where an option asks for it."""
    assert pool.run("pin").stdout == "nothing is pinned; run: flowpool pin NAME\n"
    assert not (pool.home / "state.sqlite3").exists()
    pool.run("pin", "home", "--move")
    pool.run("pin", "work", "--session", OWN_ID)

    assert pool.run("pin").stdout.splitlines() == [
        "all are pinned to home: running conversations move there, too; undo: flowpool pin auto",
        f"session {OWN_ID} is pinned to work: pinned by you; undo: flowpool pin auto --session {OWN_ID}",
    ]
    assert (
        json.loads(pool.run("pin", "--json").stdout)["pins"] == json.loads(pool.run("status", "--json").stdout)["pins"]
    )
    assert "name the accounts that are to serve" in pool.run("pin", "--move", code=2).stderr
    heard: list[bytes] = []
    with listening(reply(PINS), heard) as address:
        announce(pool.home, address)
        assert pool.run("pin").stdout.startswith("all are pinned to home: running conversations stay")
    assert heard[0].startswith(b"GET /_flowpool/status ")


def test_ending_the_pin_of_all_says_which_stay(pool: Shell) -> None:
    """Those of sessions do."""
    pool.run("pin", "home")
    pool.run("pin", "work", "--session", OWN_ID)

    assert pool.run("pin", "auto").stdout.endswith(
        "; 1 session stays pinned (11111111-2222 to work); undo: flowpool pin auto --force\n"
    )


def test_its_file_may_be_in_the_way(pool: Shell) -> None:
    """A state that cannot be written is one line with the mending command."""
    (pool.home / "state.sqlite3").mkdir()

    assert "run: ls -l" in pool.run("pin", "home", code=2).stderr
