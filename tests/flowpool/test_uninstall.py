"""uninstall leaves other programs' files as they were found, deletes nothing that was not asked for, and says what stays."""

import json
import os
import stat
import sys
from pathlib import Path

import pytest

from credentials.errors import Unreadable
from credentials.file import FileStore
from flowpool import purge, uninstall
from flowpool.errors import Failure
from flowpool.launch import connect, touched
from home import accounts as book
from home.paths import Home
from tests.flowpool.cli import ROOT, Shell
from tests.killed import killed_at
from tests.terminal import Terminal

SETTINGS = '\ufeff{\r\n\t"enabledPlugins": {"a@b": true}, // mine\r\n\t"env": {"ANTHROPIC_BASE_URL": "https://gateway.example"}\r\n}'


class Place:
    """A person's folder, in which Claude Code has its own, and flowpool's home beside it."""

    def __init__(self, shell: Shell, person: Path) -> None:
        self.shell, self.person = shell, person
        client = person / ".claude"
        (client / "projects" / "x").mkdir(parents=True)
        (client / "settings.json").write_bytes(SETTINGS.encode())
        (client / "settings.json").chmod(0o640)
        (client / "settings.local.json").write_text("{}")
        (client / ".credentials.json").write_text("{}")
        (client / ".credentials.json").chmod(0o600)
        (client / "projects" / "x" / "1.jsonl").write_text("{}\n")
        (person / ".claude.json").write_text('{"projects": {}}')
        (person / ".bashrc").write_text("# mine\n")
        shell.environ |= {"HOME": str(person), "XDG_CONFIG_HOME": str(person / ".config")}
        self.before = tree(person)

    def run(self, *arguments: str, code: int = 0) -> str:
        """Run it; return all that it said."""
        done = self.shell.run(*arguments, code=code)
        return done.stdout + done.stderr


def tree(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Every name below it, with its mode and what it holds."""
    found = [folder, *folder.rglob("*")]
    return {
        str(one.relative_to(folder)): (stat.S_IMODE(one.lstat().st_mode), one.read_bytes() if one.is_file() else b"")
        for one in found
    }


@pytest.fixture
def place(shell: Shell, tmp_path: Path) -> Place:
    """Before flowpool came."""
    return Place(shell, tmp_path / "person")


def test_everything_of_the_clients_is_as_it_was_found(place: Place) -> None:
    """Names, modes and bytes, after connect and link; what flowpool keeps stays, and that is said."""
    place.shell.add("work")
    place.run("connect")
    place.run("link")
    assert tree(place.person) != place.before
    said = place.run("uninstall", "--yes")

    assert tree(place.person) == place.before
    assert f"removed {place.shell.home / 'bin' / 'claude'}" in said
    assert "as before, without ANTHROPIC_BASE_URL" in said
    assert f"accounts, secrets, settings and history stay in {place.shell.home}" in said
    assert "flowpool uninstall --purge" in said
    assert len(FileStore(place.shell.home / "secrets.json").ids()) == 1
    assert "as before" not in place.run("uninstall", "--yes")
    assert tree(place.person) == place.before


def test_purge_deletes_the_rest(place: Place) -> None:
    """Secrets first; what is not flowpool's is named and stays."""
    place.shell.add("work")
    place.run("connect")
    (place.shell.home / "notes.txt").touch()
    said = place.run("uninstall", "--purge", "--yes")
    assert "deleted the secrets of work, which were kept in the file" in said
    assert f"{place.shell.home / 'notes.txt'} stays: it is not flowpool's" in said
    assert [one.name for one in place.shell.home.iterdir()] == ["notes.txt"]

    (place.shell.home / "notes.txt").unlink()
    assert f"deleted {place.shell.home}" in place.run("uninstall", "--purge", "--yes")
    assert not place.shell.home.exists()
    assert tree(place.person) == place.before


def test_where_nothing_is_nothing_is_made(place: Place) -> None:
    """Neither a home nor a lock."""
    said = place.run("uninstall", "--yes")

    assert "to remove the program itself: " in said
    assert not place.shell.home.exists()
    assert tree(place.person) == place.before


def test_nobody_to_ask_is_no_yes(place: Place) -> None:
    """A script must say so."""
    place.run("connect")
    connected = tree(place.person)

    assert "run: flowpool uninstall --yes" in place.run("uninstall", code=1)
    assert "run: flowpool uninstall --purge --yes" in place.run("uninstall", "--purge", code=1)
    assert tree(place.person) == connected


@pytest.mark.parametrize(("typed", "code"), [("y", 0), ("n", 1)])
def test_a_terminal_is_asked_first(place: Place, typed: str, code: int) -> None:
    """Only y does it; what would be deleted is in the question."""
    place.run("connect")
    connected = tree(place.person)
    env = {"PATH": os.defpath, "FLOWPOOL_HOME": str(place.shell.home), **place.shell.environ}
    with Terminal([sys.executable, "-m", "flowpool", "uninstall", "--purge"], env, ROOT) as terminal:
        terminal.until("delete all accounts with their secrets, all settings and the history?")
        terminal.until("[y/N]")
        terminal.type(f"{typed}\n")
        terminal.end(code)

    assert tree(place.person) == (place.before if typed == "y" else connected)
    assert place.shell.home.exists() == (typed == "n")


def test_one_failure_stops_nothing_else(place: Place) -> None:
    """It is told, and it ends with 1; nothing is deleted while settings still lead here."""
    place.shell.add("work")
    place.run("connect")
    place.run("link")
    settings = place.person / ".claude" / "settings.json"
    settings.write_text('{"env": {"ANTHROPIC_BASE_URL": "http://127.0.0.1:3456"}')
    said = place.run("uninstall", "--purge", "--yes", code=1)

    assert f"flowpool: {settings}:1: " in said
    assert f"removed {place.shell.home / 'bin' / 'claude'}" in said
    assert "nothing is deleted before that is undone; then run: flowpool uninstall --purge" in said
    assert len(FileStore(place.shell.home / "secrets.json").ids()) == 1
    assert touched.path(Home(config_folder=place.shell.home, state_folder=place.shell.home)).exists()


def test_a_secret_that_stays_keeps_the_list_of_accounts(place: Place) -> None:
    """By which it can be found."""
    place.shell.add("work")
    (place.shell.home / "secrets.json").write_text("{")
    said = place.run("uninstall", "--purge", "--yes", code=1)

    assert "the rest stays until the secrets are deleted" in said
    assert len(book.load(place.shell.home / "accounts.toml")) == 1


def test_what_killed_programs_left_goes_too(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """A connect that was killed while it wrote leaves no file beside Claude Code's."""
    place.run("connect")
    place.run("disconnect")
    home = Home(config_folder=place.shell.home, state_folder=place.shell.home)
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(place.person / ".claude"))
    connecting = connect.connect.callback.__wrapped__  # type: ignore[union-attr]  # the work behind click
    step = 1
    while len(tree(place.person)) == len(place.before):
        assert killed_at(step, lambda: connecting(home, None))
        step += 1
    place.run("uninstall", "--yes")

    assert tree(place.person) == place.before


def test_whole_exchanges_are_the_persons(place: Place, tmp_path: Path) -> None:
    """Their folder is named, and stays."""
    bodies = tmp_path / "bodies"
    bodies.mkdir()
    place.shell.home.mkdir()
    (place.shell.home / "config.toml").write_text(f"log.bodies = {json.dumps(str(bodies))}\n")

    assert f"whole exchanges stay in {bodies}; to delete them: rm -r {bodies}" in place.run(
        "uninstall", "--purge", "--yes"
    )
    assert bodies.exists()


@pytest.mark.parametrize(
    ("prefix", "command"),
    [
        ("/home/ann/.local/share/pipx/venvs/flowpool", "pipx uninstall flowpool"),
        ("/home/ann/.local/share/uv/tools/flowpool", "uv tool uninstall flowpool"),
        ("/home/ann/code/.venv", f"{sys.executable} -m pip uninstall flowpool"),
    ],
)
def test_how_the_program_itself_goes(prefix: str, command: str) -> None:
    """As it came."""
    assert uninstall.program(Path(prefix)) == command


STEPS = ["_tidied", "connect.undo", "link.unlink", "_served_no_more", "_stopped"]


@pytest.mark.parametrize("failing", STEPS[1:])
def test_each_step_may_fail_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], failing: str
) -> None:
    """The others are done; secrets are deleted unless settings still lead here, or the proxy still runs."""
    home = Home(config_folder=tmp_path, state_folder=tmp_path)
    done: list[str] = []

    def step(name: str) -> object:
        def work(_: Home) -> list[str]:
            if name == failing:
                raise Failure("it will not; run: something")
            done.append(name)
            return [name]

        return work

    for name in STEPS:
        monkeypatch.setattr(f"flowpool.uninstall.{name}", step(name))
    monkeypatch.setattr(purge, "secrets", lambda _: "secrets")
    with pytest.raises(SystemExit) as ended:
        uninstall.uninstall.main(["--purge", "--yes"], obj=home, standalone_mode=False)
    said = capsys.readouterr()

    assert ended.value.code == 1
    assert done == [name for name in STEPS if name != failing]
    assert said.err.startswith("flowpool: it will not; run: something\n")
    assert ("secrets\n" in said.out) is (failing in ("link.unlink", "_served_no_more"))
    assert issubclass(Unreadable, uninstall.FAULTS)
