"""why tells one request's story: the proxy's, else the state's, else what the ledger still says of it."""

import json
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from home.bodies import name_of
from home.state.state import State
from tests.flowpool.cli import Shell
from tests.flowpool.pictures import LINE, STORY
from tests.flowpool.proxy import announce, listening, reply

OLD = LINE | {"id": "0000aaaa1111"}
PASSED = LINE | {"id": "0000bbbb2222", "ended": "passed", "model": None}
KEPT = {"kept": True}


def answer(*stories: object) -> bytes:
    """What the proxy says of these stories."""
    return reply(json.dumps({"stories": stories}).encode())


@dataclass
class Told:
    """A story as it is given to the state."""

    words: dict[str, Any] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """The request's id."""
        found: str = self.words["id"]
        return found

    @property
    def at(self) -> datetime:
        """When it came."""
        return datetime.fromisoformat(self.words["at"])

    def plain(self) -> dict[str, Any]:
        """The words."""
        return self.words


def remembered(home: Path, *lines: dict[str, Any], told: bool = False) -> None:
    """Let a state know these requests, and the story of the first."""
    home.mkdir(exist_ok=True)
    state = State(home / "state.sqlite3")
    for line in lines:
        state.enter(line)
    if told:
        state.tell(Told(STORY))
    state.close()


@pytest.mark.parametrize("asked", ["f4f2ad99cab6", "f4f2", "flowpool-f4f2ad99cab6", "last"])
def test_the_running_proxy_is_asked(shell: Shell, asked: str) -> None:
    """Its story is printed as it came; an id as the client knows it will do."""
    heard: list[bytes] = []
    with listening(answer(STORY), heard) as address:
        announce(shell.home, address)
        assert json.loads(shell.run("why", asked, "--json").stdout) == STORY | KEPT
        screen = shell.run("why", asked).stdout
    assert heard[0].startswith(f"GET /_flowpool/why?id={asked.removeprefix('flowpool-')} HTTP/1.1\r\n".encode())
    assert "perishing" in screen
    assert "it was warm on work" in screen


@pytest.mark.parametrize("asked", ["f4f2ad99cab6", "f4", "last"])
def test_without_a_proxy_the_state_tells(shell: Shell, asked: str) -> None:
    """As much as it kept; a request that only passed on is not the last."""
    remembered(shell.home, OLD, LINE, PASSED, told=True)

    assert json.loads(shell.run("why", asked, "--json").stdout) == STORY | KEPT


def test_before_the_first_request_there_is_no_last_one(shell: Shell) -> None:
    """It says what to do, with a proxy and without."""
    assert "no request yet; send one first" in shell.run("why", "last", code=1).stderr
    with listening(answer(), []) as address:
        announce(shell.home, address)
        assert "no request yet; send one first" in shell.run("why", "last", code=1).stderr


def test_what_the_proxy_forgot_comes_from_the_state(shell: Shell) -> None:
    """A proxy keeps the latest alone."""
    remembered(shell.home, LINE, told=True)
    with listening(answer(), []) as address:
        announce(shell.home, address)
        assert json.loads(shell.run("why", "f4", "--json").stdout) == STORY | KEPT
        assert json.loads(shell.run("why", "last", "--json").stdout) == STORY | KEPT


def test_of_an_older_request_the_ledger_says_less(shell: Shell) -> None:
    """Plainly so."""
    remembered(shell.home, OLD)
    told = json.loads(shell.run("why", "0000a", "--json").stdout)
    screen = shell.run("why", "0000a").stdout

    assert (told["kept"], told["choices"], told["account"]) == (False, None, "home")
    assert "no longer kept" in screen
    assert "limit, row 13" in screen


def test_a_beginning_that_fits_several_asks_for_more(shell: Shell) -> None:
    """And names them, wherever they are known."""
    remembered(shell.home, OLD, OLD | {"id": "0000cccc3333"})
    with listening(answer(STORY | {"id": "0000dddd4444"}), []) as address:
        announce(shell.home, address)
        error = shell.run("why", "0000", code=1).stderr
    assert error.count("\n") == 1
    assert all(name in error for name in ("0000aaaa1111", "0000cccc3333", "0000dddd4444", "give more letters"))


def test_the_file_of_all_that_was_said_is_named(shell: Shell) -> None:
    """Where there is one; nothing of it, nor a broken config.toml, keeps the story from being told."""
    remembered(shell.home, LINE, told=True)
    folder = shell.home / "bodies"
    folder.mkdir()
    (shell.home / "config.toml").write_text(f'version = 1\nlog.bodies = "{folder}"\n')
    assert "file" not in json.loads(shell.run("why", "last", "--json").stdout)
    file = folder / name_of(datetime.fromisoformat(LINE["at"]), LINE["id"])
    file.write_text("all of it")

    assert json.loads(shell.run("why", "last", "--json").stdout) == STORY | KEPT | {"file": str(file)}
    assert shell.run("why", "last").stdout.splitlines()[-1] == f"all that was said: {file}"
    (shell.home / "config.toml").write_text("no such = thing")
    assert json.loads(shell.run("why", "last", "--json").stdout) == STORY | KEPT


@pytest.mark.parametrize("asked", ["abc", "abcd"])
def test_an_unknown_request_is_one_line_that_says_how_ids_are_listed(shell: Shell, asked: str) -> None:
    """With a proxy and without one, with a state and without."""
    for _ in range(2):
        error = shell.run("why", asked, code=1).stderr
        assert error.count("\n") == 1
        assert "run: flowpool requests -n 500, or flowpool logs --all" in error
        with listening(answer(), []) as address:
            announce(shell.home, address)
            assert shell.run("why", asked, code=1).stderr == error
        remembered(shell.home)
        (shell.home / "running.json").unlink()


@pytest.mark.parametrize("asked", ["xyz", "", "F4", "f4f2ad99cab60", "%", "sk-ant-oat01-some-secret"])
def test_what_is_no_id_is_refused_unquoted(shell: Shell, asked: str) -> None:
    """It may be a secret by mistake."""
    error = shell.run("why", asked, code=1).stderr

    assert "that is no request's id" in error
    assert not asked or asked not in error.partition("letters")[0]


@pytest.mark.parametrize(
    "strange",
    [reply(b"[]"), reply(b"{}"), answer(1), answer({}), answer({"id": "f4"}), answer(STORY | {"choices": 1})],
    ids=range(6),
)
def test_a_strange_answer_is_one_clear_line(shell: Shell, strange: bytes) -> None:
    """Another program, or another version: exit 1."""
    with listening(strange, []) as address:
        announce(shell.home, address)
        assert shell.run("why", "last", code=1).stderr.count("\n") == 1
