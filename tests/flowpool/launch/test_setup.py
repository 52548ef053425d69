"""The wizard on a real terminal, beside stand-ins for systemd's programs and for `claude`."""

import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from flowpool.main import COMMANDS
from home import accounts as book
from home import settings
from home.settings import Settings
from home.template import render
from tests.flowpool.cli import PLANTED, ROOT, Shell
from tests.flowpool.launch.systems import systemd
from tests.flowpool.proxy import announce, listening, reply
from tests.standin import StandIn, owner, planted
from tests.terminal import CTRL_C, Terminal
from tests.upstream import closed_port

HEALTH = json.dumps({"status": "ok", "pid": os.getpid()}).encode()
DAY = "Your day, such as 08:00-23:00 (Enter: none): "
FIRST = "A name for your first account (Enter: no more): "
MORE = "A name for another account (Enter: no more): "
SERVICE = "Let systemd start the proxy, and start it again when it fails? [Y/n]: "
LINK = "Link it? [Y/n]: "
STOP = f"{CTRL_C}\n"  # Python hears a Ctrl-C that comes just before it waits for input only with the next key


class Machine:
    """A person's machine before the first setup."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "pool"
        self.claude = StandIn(folder / "claude")
        self.programs = systemd(folder / "bin", os.getpid())
        (folder / "temporary").mkdir()
        self.environ: Mapping[str, str] = self.claude.environ | {
            "PATH": f"{self.programs.folder}:{self.claude.environ['PATH']}",
            "HOME": str(folder),
            "FLOWPOOL_HOME": str(self.home),
            "XDG_CONFIG_HOME": str(folder / "config"),
            "TMPDIR": str(folder / "temporary"),
            "LOGNAME": "ann",
            "PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring",
        }
        self.unit = folder / "config" / "systemd" / "user" / "flowpool.service"

    @contextmanager
    def proxy(self) -> Iterator[None]:
        """A proxy that answers once the service is started."""
        with listening(reply(HEALTH), []) as address:
            announce(self.home, address)
            (self.home / "running.json").rename(self.programs.folder / "running.json")
            yield

    def listens_anywhere(self) -> None:
        """Keep off the default port, as a person does who edits the new config.toml."""
        path = self.home / "config.toml"
        path.write_text(path.read_text().replace('# claude = "127.0.0.1:3456"', 'claude = "127.0.0.1:0"'))

    def setup(self) -> Terminal:
        """Begin."""
        return Terminal([sys.executable, "-m", "flowpool", "setup"], self.environ, ROOT)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """A machine on which nothing is set up."""
    return Machine(tmp_path)


def answer(terminal: Terminal, *pairs: tuple[str, str]) -> None:
    """Wait for each question, and answer it."""
    for question, typed in pairs:
        terminal.until(question)
        terminal.type(f"{typed}\n")


def test_without_a_terminal_the_commands_are_listed(shell: Shell) -> None:
    """Each is one of ours; nothing is made but the folder."""
    err = shell.run("setup", code=2).stderr.splitlines()

    assert err[0] == "flowpool: setup asks, and there is no terminal to ask at; run instead, one by one:"
    assert [line.split(" ")[1] for line in err[1:]] == ["flowpool"] * 5
    assert {line.split(" ")[2] for line in err[1:]} <= COMMANDS.keys()
    assert list(shell.home.iterdir()) == []


def test_from_nothing_to_a_pool_and_again(machine: Machine) -> None:
    """Every step is taken; the second time each says that it is done, and nothing is changed."""
    machine.claude.gives("the-code", planted("ann"), owner("ann"))
    with machine.proxy():
        with machine.setup() as terminal:
            answer(terminal, (DAY, "8 to 5"), ("Error: a day is two times that differ", "08:00-20:00"))
            terminal.until('config.toml is made, with prime.day = "08:00-20:00"')
            terminal.until(FIRST)
            machine.listens_anywhere()
            terminal.type("work\n")
            answer(terminal, ("Paste code here if prompted > ", "the-code"))
            terminal.until("done: 1 account: work")
            answer(terminal, (MORE, "work"))
            terminal.until("work is there already; a new login for it: flowpool login work")
            answer(terminal, (MORE, ""), (SERVICE, "y"))
            terminal.until(f"{machine.unit}: installed")
            answer(terminal, (LINK, ""))
            terminal.until(f"wrote {machine.home}/bin/claude")
            terminal.until("5/5  a look at all of it")
            first = terminal.end(0)
        files = {path: path.read_bytes() for path in machine.home.glob("*.toml")}
        machine.programs.forget()
        with machine.setup() as terminal:
            terminal.until('done: prime.day = "08:00-20:00", in ')
            answer(terminal, (MORE, ""))
            terminal.until(f"done: {machine.unit}; it is active (running)")
            terminal.until(f"there is already {machine.home}/bin/claude")
            terminal.end(0)

    assert settings.load(machine.home / "config.toml").prime.day == "08:00-20:00"
    assert [account.name for account in book.load(machine.home / "accounts.toml")] == ["work"]
    assert f"systemd runs it, pid {os.getpid()}" in first
    assert {path: path.read_bytes() for path in machine.home.glob("*.toml")} == files
    assert machine.programs.changes() == []


def test_what_is_the_persons_is_not_touched(machine: Machine) -> None:
    """A config.toml that is there gets no day: the lines and their place are shown. Each step may be left out."""
    machine.home.mkdir()
    text = f'listen.claude = "127.0.0.1:{closed_port()}"\n{render().partition("version = 1")[2]}'.replace(
        "[listen]\n", ""
    )
    (machine.home / "config.toml").write_text(text)
    line = text.splitlines().index("[prime]") + 1
    with machine.setup() as terminal:
        terminal.until(f'put below [prime], on line {line}:\n    day = "08:00-23:00"')
        answer(terminal, (FIRST, f"{PLANTED}"))
        terminal.until("Error: a name is ")
        answer(terminal, (FIRST, ""), (SERVICE, "n"), ("Start it now, in the background? [Y/n]: ", "n"), (LINK, "n"))
        shown = terminal.end(0)

    assert (machine.home / "config.toml").read_text() == text
    assert shown.count(PLANTED) == 1  # as it was typed
    assert not machine.unit.exists()
    assert machine.programs.changes() == []


@pytest.mark.parametrize("question", [DAY, FIRST, SERVICE])
def test_ctrl_c_leaves_all_whole(machine: Machine, question: str) -> None:
    """What was done until then is there, and is valid."""
    with machine.setup() as terminal:
        for one in (DAY, FIRST, SERVICE):
            terminal.until(one)
            if one == question:
                terminal.type(STOP)
                break
            terminal.type("\n")
        assert "flowpool: stopped\n" in terminal.end(1)

    assert (machine.home / "config.toml").exists() is (question != DAY)
    assert settings.load(machine.home / "config.toml") == Settings()
    assert not machine.unit.exists()


def test_ctrl_c_in_a_login_is_a_login_left_out(machine: Machine) -> None:
    """The wizard goes on."""
    with machine.setup() as terminal:
        answer(terminal, (DAY, ""), (FIRST, "work"))
        terminal.until("Paste code here if prompted > ")
        terminal.type(CTRL_C)
        terminal.until("it was not added")
        answer(terminal, (FIRST, ""))
        terminal.until(SERVICE)
        terminal.type(STOP)
        terminal.end(1)

    assert book.load(machine.home / "accounts.toml") == ()
    assert not list(machine.home.glob(".flowpool-login-*"))


def test_the_end_tells_what_is_not_done(machine: Machine) -> None:
    """A service that failed, a link that nobody finds, no account, each with its command; and it is not said to be set up."""
    machine.programs.put("fails", "Unit flowpool.service is masked.")
    with machine.setup() as terminal:
        answer(terminal, (DAY, ""))
        terminal.until(FIRST)
        machine.listens_anywhere()
        terminal.type("\n")
        answer(terminal, (SERVICE, "y"), ("Start it now, in the background? [Y/n]: ", "n"), (LINK, "y"))
        terminal.until("Not done yet:")
        shown = terminal.end(0).split("Not done yet:")[1]

    assert "the pool has no account; run: flowpool login NAME" in shown
    assert "the service is not installed; run: flowpool service install" in shown
    assert (
        f"the link's folder is not first on the PATH; put into your shell's own file: export PATH={machine.home}/bin:\"$PATH\""
        in shown
    )
    assert "All is set up" not in shown


def test_without_a_manager_no_service_is_offered(machine: Machine) -> None:
    """Why, and what there is instead, is told; the proxy may run in the background all the same."""
    machine.programs.put("unreachable", "Failed to connect to bus: No medium found")
    with machine.setup() as terminal:
        answer(terminal, (DAY, ""), (FIRST, ""))
        terminal.until("no service can be installed: your user's systemd does not answer (Failed to connect to bus")
        answer(terminal, ("Start it now, in the background? [Y/n]: ", "n"), (LINK, "n"))
        shown = terminal.end(0)

    assert SERVICE not in shown
    assert "  nothing starts the proxy by itself: your user's systemd does not answer" in shown
