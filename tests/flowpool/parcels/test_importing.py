"""An import takes in what is new, and changes nothing when it cannot be opened."""

import os
import shutil
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from credentials import parcel
from credentials.credential import Credential
from credentials.file import FileStore
from credentials.secret import Secret
from home import accounts as book
from home.state import reader
from home.state.state import State
from tests.flowpool.cli import ROOT, Shell
from tests.home.state.made import LONG, picture
from tests.routing.made import hold

WORDS = "correct horse"


@pytest.fixture
def words(tmp_path: Path) -> str:
    """A file with the passphrase."""
    path = tmp_path / "words"
    path.write_text(WORDS)
    return str(path)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a home of two accounts, and an export of it."""
    folder = tmp_path_factory.mktemp("made")
    shell, words = Shell(home=folder / "home"), folder / "words"
    words.write_text(WORDS)
    for name in ("work", "home"):
        shell.add(name, "--no-verify")
    shell.run("accounts", "export", str(folder / "pool.parcel"), "--passphrase-file", str(words))
    return folder


@pytest.fixture
def sealed(made: Path, shell: Shell, tmp_path: Path) -> str:
    """An export of two accounts, in a file; the shell is at a new machine."""
    shutil.copytree(made / "home", tmp_path / "home")
    shutil.copy(made / "pool.parcel", tmp_path)
    shell.home = tmp_path / "new"
    return str(tmp_path / "pool.parcel")


def files(home: Path) -> dict[str, bytes]:
    """What is in a home."""
    return {path.name: path.read_bytes() for path in home.iterdir()} if home.exists() else {}


def test_accounts_come_to_a_new_machine(shell: Shell, sealed: str, words: str, tmp_path: Path) -> None:
    """From a file or a pipe; the second time they are there already, and --replace gives them the file's secrets."""
    assert shell.run("accounts", "import", sealed, "--passphrase-file", words).stdout == "added work\nadded home\n"
    assert book.load(shell.home / "accounts.toml") == book.load(tmp_path / "home" / "accounts.toml")
    before = files(shell.home)

    again = shell.run("accounts", "import", "-", "--passphrase-file", words, given=Path(sealed).read_bytes()).stdout
    assert again == "".join(
        f"skipped {name}: it is here already, as {name}; to give it the secret of the file, "
        "run: flowpool accounts import - --replace\n"
        for name in ("work", "home")
    )
    assert files(shell.home) == before
    said = shell.run("accounts", "import", sealed, "--replace", "--passphrase-file", words).stdout
    assert said == "replaced the secret of work\nreplaced the secret of home\n"


def test_what_is_better_here_is_told(shell: Shell, sealed: str, words: str) -> None:
    """It stays, and the way to another secret is said."""
    shell.run("accounts", "import", sealed, "--passphrase-file", words)
    store = FileStore(shell.home / "secrets.json")
    account = book.load(shell.home / "accounts.toml")[0].id
    later = datetime.now(UTC) + timedelta(hours=8)
    mine = Credential(kind="oauth", access=Secret("a" * 9), refresh=Secret("r" * 9), expires_at=later)
    theirs = replace(mine, access=Secret("b" * 9), refresh=Secret("s" * 9), expires_at=later - timedelta(hours=1))
    store.put(account, theirs)
    old = str(Path(sealed).with_name("old"))
    shell.run("accounts", "export", old, "--passphrase-file", words)
    store.put(account, mine)

    assert shell.run("accounts", "import", old, "--replace", "--passphrase-file", words).stdout == (
        "replaced the secret of home\n"
        "kept the secret of work, which is better: it was renewed later than the new one, which may be spent; "
        "to log in anew, run: flowpool login work\n"
    )
    assert store.get(account) == mine


def test_a_new_secret_ends_what_the_old_one_was_held_for(shell: Shell, sealed: str, words: str) -> None:
    """As `add --replace` does, though no proxy runs."""
    shell.run("accounts", "import", sealed, "--passphrase-file", words)
    account, other = (one.id for one in book.load(shell.home / "accounts.toml"))
    state = State(shell.home / "state.sqlite3")
    state.put(picture(account, holds=tuple(hold(row, name=account, by=None) for row in (13, 17))))
    state.close(LONG)
    shell.run("accounts", "import", sealed, "--replace", "--passphrase-file", words)

    holds = reader.remembered(shell.home / "state.sqlite3").holds
    assert [one.row for one in holds[account]] == [13]
    assert other not in holds


def test_a_taken_name_is_told(shell: Shell, sealed: str, words: str) -> None:
    """What it is called here."""
    shell.add("work", secret="sk-ant-oat01-another-token-of-mine")

    said = shell.run("accounts", "import", sealed, "--passphrase-file", words).stdout
    assert said == "added work as work-2\nadded home\n"


def spoil(sealed: bytes, how: str) -> bytes:
    """The parcel, made useless."""
    match how:
        case "damaged":
            return sealed[:-9] + b"AAAAAAAA\n"
        case "foreign":
            return b'{"claudeAiOauth": {}}'
        case "newer":
            return sealed.replace(b'"version": 1', b'"version": 2')
        case "not ours inside":
            return parcel.seal(b"something else", WORDS)
        case _:
            return b"\0" * (16 * 2**20 + 1)


BAD = {
    "damaged": "the passphrase is wrong, or the file is damaged; nothing was changed; run: flowpool accounts import {file}\n",
    "foreign": "this is no file that `flowpool accounts export` wrote; run: flowpool accounts import {file}\n",
    "newer": "the file was written by a newer flowpool (version 2); run: flowpool --version",
    "not ours inside": "what is in the file makes no accounts, or a newer flowpool wrote it; run: ",
    "endless": "",
}


@pytest.mark.parametrize("how", BAD)
@pytest.mark.parametrize("piped", [False, True], ids=["file", "pipe"])
def test_one_that_cannot_be_used_changes_nothing(shell: Shell, sealed: str, words: str, how: str, piped: bool) -> None:
    """One line, exit 1, and every file as it was."""
    shell.add("third", secret="sk-ant-oat01-another-token-of-mine")
    before = files(shell.home)
    data = spoil(Path(sealed).read_bytes(), how)
    Path(sealed).write_bytes(data)
    name, given = ("-", data) if piped else (sealed, b"")
    said = shell.run("accounts", "import", name, "--passphrase-file", words, given=given, code=1).stderr

    assert said.startswith(f"flowpool: {BAD[how].format(file=name)}")
    assert said.count("\n") == 1
    assert files(shell.home) == before


def test_a_wrong_passphrase_changes_nothing(shell: Shell, sealed: str, words: str) -> None:
    """It is one line."""
    Path(words).write_text("wrong horse")
    said = shell.run("accounts", "import", sealed, "--passphrase-file", words, code=1).stderr

    assert said.startswith("flowpool: the passphrase is wrong, or the file is damaged; nothing was changed; run: ")
    assert not (shell.home / "accounts.toml").exists()
    assert not (shell.home / "secrets.json").exists()


def test_a_missing_file_is_said(shell: Shell, words: str, tmp_path: Path) -> None:
    """With where it comes from."""
    said = shell.run("accounts", "import", str(tmp_path / "none"), "--passphrase-file", words, code=1).stderr

    assert said == f"flowpool: {tmp_path}/none is not there; make it with: flowpool accounts export FILE\n"


def test_without_stdin_or_stdout_it_is_one_line(shell: Shell, sealed: str, words: str) -> None:
    """A job may be started without them."""
    shell.run("accounts", "import", sealed, "--passphrase-file", words)
    line = f"{sys.executable} -m flowpool accounts"
    for command, says in (("import - <&-", "no stdin"), ("export - >&-", "no stdout")):
        done = subprocess.run(
            ["sh", "-c", f"{line} {command} --passphrase-file {words}"],
            env={"PATH": os.defpath, "HOME": str(shell.home), "FLOWPOOL_HOME": str(shell.home)}
            | {"PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring"},
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert (done.returncode, done.stderr.count("\n")) == (1, 1), done.stderr
        assert f"flowpool: there is {says} to " in done.stderr
