"""`flowpool login` on a real terminal, with a stand-in for the vendor's program."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from credentials.file import FileStore
from home import accounts as book
from routing.words import Account, Kind
from tests.e2e.harness import ROOT
from tests.standin import StandIn, owner, planted
from tests.terminal import CTRL_C, Terminal
from tests.upstream import Upstream, bad_token
from tests.upstream.side import MODELS

PASTE = "Paste code here if prompted > "
TRAPS = {
    "ANTHROPIC_API_KEY": "sk-ant-api03-TEST-trap",
    "ANTHROPIC_BASE_URL": "http://127.0.0.1:1",
    "CLAUDE_CODE_OAUTH_TOKEN": "sk-ant-oat01-TEST-trap",
    "CLAUDE_CONFIG_DIR": "/nowhere",
    "CLAUDE_SECURESTORAGE_CONFIG_DIR": "/nowhere",
}


@dataclass
class Desk:
    """A home, an upstream that its config.toml names, and the stand-in on the PATH."""

    folder: Path
    upstream: Upstream
    standin: StandIn
    shown: list[str] = field(default_factory=list)

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @property
    def accounts(self) -> tuple[Account, ...]:
        return book.load(self.home / "accounts.toml")

    @property
    def store(self) -> FileStore:
        return FileStore(self.home / "secrets.json")

    def open(self, *arguments: str) -> Terminal:
        """Run `flowpool login ARGUMENTS` on a terminal whose environment is full of traps."""
        env = {**TRAPS, **self.standin.environ, "HOME": str(self.folder), "FLOWPOOL_HOME": str(self.home)}
        return Terminal([sys.executable, "-m", "flowpool", "login", *arguments], env, ROOT)

    def run(self, *arguments: str, types: str, code: int = 0) -> str:
        """Log in with a code; return the last line."""
        with self.open(*arguments) as terminal:
            terminal.until(PASTE)
            terminal.type(types)
            self.shown.append(terminal.end(code))
        return self.shown[-1].rstrip("\n").rpartition("\n")[2]

    def gives(self, code: str, name: str, whose: dict[str, str] | None = None) -> str:
        """Let a code be a login that the upstream knows."""
        token = self.standin.gives(code, planted(name), owner(name) if whose is None else whose)
        self.upstream.add(name, token)
        return token


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    """Afterwards no folder of a login is left, and no secret is anywhere but in the store and the stand-in's own script."""
    with Upstream() as upstream:
        desk = Desk(tmp_path, upstream, StandIn(tmp_path / "bin"))
        desk.home.mkdir(mode=0o700)
        text = f'providers.anthropic.upstream = "{upstream.url}"\ncredentials.backend = "file"\n'
        (desk.home / "config.toml").write_text(text)
        yield desk
        assert upstream.faults == []
    assert not list(desk.home.glob(".flowpool-login-*"))
    assert not [text for text in desk.shown if "TEST-" in text]
    files = [path for path in tmp_path.rglob("*") if path.is_file() and not (path.parent / "claude").exists()]
    assert [path.name for path in files if b"TEST-" in path.read_bytes()] in ([], ["secrets.json"])


def test_a_login_becomes_an_account(desk: Desk) -> None:
    """The vendor's program runs alone in a folder of its own; what it left is checked, kept and told, and the folder is gone."""
    token = desk.gives("good", "me")
    begun = datetime.now(UTC)

    assert desk.run(types="good\n") == "logged in me: me@example.org, Example Org, max 5x; checked: accepted"
    ((arguments, folder, mode, foreign, is_there),) = desk.standin.notes
    assert (arguments, mode, foreign, is_there) == (["auth", "login"], "0o700", ["CLAUDE_CONFIG_DIR"], True)
    assert Path(folder).parent == desk.home
    (account,) = desk.accounts
    assert (account.name, account.kind, account.source) == ("me", Kind.OAUTH, "")
    assert (account.identity.owner, account.identity.organization_name) == ("u-me", "Example Org")
    kept = desk.store.get(account.id)
    assert kept.access.reveal() == token
    assert kept.refresh_expires_at is not None
    assert timedelta(0) <= kept.refresh_expires_at - begun - timedelta(days=29) < timedelta(minutes=5)
    assert [(asked.method, asked.path) for asked in desk.upstream.requests] == [("GET", MODELS)]


def test_the_same_identity_again_is_the_same_account(desk: Desk) -> None:
    """Its secret is new; its id, name, rank and place are as they were, whatever the address would be called (X19)."""
    desk.gives("first", "me")
    desk.run("work", types="first\n")
    path = desk.home / "accounts.toml"
    path.write_text(path.read_text().replace("enabled = true", "enabled = true\nrank = 3"))
    (before,) = desk.accounts
    again = desk.gives("second", "me")

    assert desk.run(types="second\n") == "logged in work again: me@example.org, Example Org, max 5x; checked: accepted"
    assert desk.accounts == (before,)
    assert before.rank == 3
    assert desk.store.get(before.id).access.reveal() == again


def test_another_identity_is_another_account(desk: Desk) -> None:
    """And never takes a place that is somebody else's, by whatever name it comes (X13)."""
    desk.gives("mine", "me")
    desk.gives("yours", "you")
    desk.run("work", types="mine\n")
    assert desk.run("work", types="yours\n", code=1) == (
        "flowpool: work is me@example.org, Example Org, max 5x, this login is you@example.org, Example Org, max 5x; "
        "take another name for it, or run: flowpool remove work"
    )
    assert desk.run("home", types="mine\n", code=1) == (
        "flowpool: this login (me@example.org, Example Org, max 5x) is the account work already, and not home; "
        "run: flowpool login work"
    )
    desk.run("home", types="yours\n")

    assert [account.name for account in desk.accounts] == ["work", "home"]


def test_a_wrong_code_saves_nothing(desk: Desk) -> None:
    """The vendor's own words stand above our line."""
    desk.gives("good", "me")

    line = desk.run("work", types="bad\n", code=1)
    assert line == (
        "flowpool: `claude` ended with code 1, and no login came out of it; nothing was saved; run: flowpool login work"
    )
    assert "Login failed: the code is wrong" in desk.shown[-1]
    assert desk.run(types="nothing\n", code=1) == (
        "flowpool: `claude` ended, but no login came out of it; nothing was saved; run: flowpool login"
    )
    assert desk.accounts == ()


def test_ctrl_c_stops_it(desk: Desk) -> None:
    """One line, and nothing is left."""
    assert desk.run("work", types=CTRL_C, code=1) == (
        "flowpool: the login was stopped; nothing was saved; to begin anew, run: flowpool login work"
    )
    assert desk.accounts == ()


LEFT = [  # what the vendor's program leaves, what is said of it
    ("{", "it is not valid JSON"),
    (
        '{"claudeAiOauth": {"accessToken": "sk-ant-oat01-TEST-alone"}}',
        "it has no refreshToken, so it ends within hours",
    ),
    (
        '{"accessToken": "sk-ant-at01-TEST-short"}',
        "this is a short-lived access token; make one that lasts with `claude setup-token`",
    ),
]


@pytest.mark.parametrize(("text", "says"), LEFT, ids=["json", "alone", "short"])
def test_what_is_no_whole_login_is_not_kept(desk: Desk, text: str, says: str) -> None:
    """And nothing of it is quoted."""
    desk.standin.leaves("odd", {".credentials.json": text})

    assert desk.run("work", types="odd\n", code=1) == f"flowpool: what `claude` left: {says}; run: flowpool login work"
    assert desk.accounts == ()


def test_a_refused_login_is_not_kept(desk: Desk) -> None:
    """The upstream is asked before anything is saved."""
    desk.gives("good", "me")
    desk.upstream.script("me", bad_token("revoked"), path=MODELS)

    assert desk.run("work", types="good\n", code=1) == (
        "flowpool: anthropic does not accept this login (401: revoked); nothing was saved; "
        "log in anew, then run: flowpool login work"
    )
    assert not (desk.home / "accounts.toml").exists()


def test_an_older_program_logs_in_on_its_own_screen(desk: Desk) -> None:
    """Where there is no `auth login`, its screen does it, and how to leave that is said."""
    old = StandIn(desk.folder / "old", has_auth=False)
    desk.gives("good", "me")
    old.leaves("good", desk.standin.logins["good"])
    desk.standin = old

    assert desk.run("work", types="good\n").startswith("logged in work: me@example.org")
    assert desk.standin.notes[0][0] == ["/login"]
    assert "leave Claude Code with /exit" in desk.shown[-1]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
def test_who_ends_it_leaves_nothing(desk: Desk, number: signal.Signals) -> None:
    """Neither a folder nor the vendor's program, though that does not listen."""
    with desk.open("work") as terminal:
        terminal.until(PASTE)
        terminal.type("hang\n")
        terminal.until("deaf")
        os.kill(terminal.child.pid, number)
        terminal.end(128 + number)

    assert not list(desk.home.glob(".flowpool-login-*"))


def test_one_login_at_a_time_and_what_a_killed_one_left_goes(desk: Desk) -> None:
    """A second one is refused while the first runs; after a kill the next one clears up."""
    desk.gives("good", "me")
    with desk.open("work") as terminal:
        terminal.until(PASTE)
        with desk.open("home") as second:
            assert "another `flowpool login` is running; end that one first" in second.end(1)
        (left,) = desk.home.glob(".flowpool-login-*")
        (left / "half").write_text("a login")
        terminal.child.kill()
    assert left.exists()

    desk.run("work", types="good\n")
    assert not left.exists()


def test_a_setup_token_is_asked_for(desk: Desk) -> None:
    """The vendor's program makes it, a hidden prompt takes it, and it ends within a year."""
    token = planted("me")
    desk.upstream.add("me", token)
    with desk.open("--setup-token") as terminal:
        terminal.until("(it would be here)")
        terminal.until("setup-token (not shown)")
        terminal.type(f"{token}\n")
        shown = terminal.end(0)
    desk.shown.append(shown)

    assert shown.endswith("logged in account-1: setup-token, anthropic; checked: accepted\n")
    (account,) = desk.accounts
    kept = desk.store.get(account.id)
    assert kept.expires_at is not None
    assert timedelta(days=364) < kept.expires_at - datetime.now(UTC) <= timedelta(days=365)
    assert desk.standin.notes[0][0] == ["setup-token"]


def test_an_api_key_is_asked_for(desk: Desk) -> None:
    """Nobody logs in."""
    key = planted("me").replace("oat01", "api03")
    desk.upstream.add("me", key)
    with desk.open("paid", "--api-key") as terminal:
        terminal.until("api-key of paid (not shown)")
        terminal.type(f"{key}\n")
        shown = terminal.end(0)
    desk.shown.append(shown)

    assert shown.endswith("logged in paid: api-key, anthropic; checked: accepted\n")
    assert desk.standin.notes == []
