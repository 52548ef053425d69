"""An export is private, encrypted, written over nothing, and says what it means for logins."""

import json
import os
import pty
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from credentials import parcel
from credentials.file import FileStore
from flowpool.parcels import carrying
from home import accounts as book
from tests.flowpool.cli import PLANTED, ROOT, Shell, planted

WORDS = "correct horse"
LOGIN = json.dumps(
    {"accessToken": planted("home"), "refreshToken": f"sk-ant-ort01-{PLANTED}", "expiresAt": 4_102_444_800_000}
)


@pytest.fixture
def words(tmp_path: Path) -> str:
    """A file with the passphrase."""
    path = tmp_path / "words"
    path.write_text(WORDS)
    return str(path)


@pytest.fixture
def filled(shell: Shell) -> Shell:
    """A shell whose pool has a token and a login."""
    shell.add("work")
    shell.add("home", kind="oauth", secret=LOGIN)
    return shell


def test_all_accounts_are_in_it(filled: Shell, tmp_path: Path, words: str) -> None:
    """With their secrets, for whoever has the passphrase; only we can read the file; a login's two owners are said."""
    file = tmp_path / "pool.parcel"
    said = filled.run("accounts", "export", str(file), "--passphrase-file", words)

    assert said.stdout == ""
    first, second = said.stderr.splitlines()
    assert first == "flowpool: exported 2 accounts"
    assert second.startswith("flowpool: home: what is renewed has two owners once it is imported elsewhere")
    assert second.endswith("with: flowpool login home")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    luggage = carrying.unpack(parcel.unseal(file.read_bytes(), WORDS), file)
    assert luggage.accounts == book.load(filled.home / "accounts.toml")
    store = FileStore(filled.home / "secrets.json")
    assert luggage.secrets == {one.id: store.get(one.id) for one in luggage.accounts}


def test_it_can_go_to_stdout(filled: Shell, words: str) -> None:
    """Alone: what is said goes to stderr."""
    out = filled.run("accounts", "export", "-", "--passphrase-file", words).stdout

    assert len(carrying.unpack(parcel.unseal(out.encode(), WORDS), Path("-")).accounts) == 2


def test_a_file_that_is_there_stays(filled: Shell, tmp_path: Path, words: str) -> None:
    """Unless --force says otherwise; the old one's mode does not stay."""
    file = tmp_path / "pool.parcel"
    file.write_text("mine")
    file.chmod(0o644)
    said = filled.run("accounts", "export", str(file), "--passphrase-file", words, code=1).stderr
    assert (
        said == f"flowpool: {file} is there already; to write over it, run: flowpool accounts export {file} --force\n"
    )
    assert file.read_text() == "mine"

    filled.run("accounts", "export", str(file), "--force", "--passphrase-file", words)
    assert parcel.unseal(file.read_bytes(), WORDS)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_one_that_cannot_be_read_is_left_out_and_named(filled: Shell, tmp_path: Path, words: str) -> None:
    """The others are exported; when none is left there is no file."""
    store = FileStore(filled.home / "secrets.json")
    work, home = store.ids() if store.get(store.ids()[0]).kind == "setup-token" else reversed(store.ids())
    store.delete(work)
    file = tmp_path / "pool.parcel"
    said = filled.run("accounts", "export", str(file), "--passphrase-file", words).stderr
    assert "flowpool: work is not in it: no secret is stored for account" in said
    assert "; run: flowpool add work --replace\n" in said
    assert "exported 1 account\n" in said

    store.delete(home)
    filled.run("accounts", "export", str(tmp_path / "none"), "--passphrase-file", words, code=1)
    assert not (tmp_path / "none").exists()


def test_an_empty_pool_has_nothing_to_export(shell: Shell, tmp_path: Path, words: str) -> None:
    """It is said."""
    said = shell.run("accounts", "export", str(tmp_path / "x"), "--passphrase-file", words, code=1).stderr

    assert said == "flowpool: there is no account to export; look at: flowpool accounts\n"


def test_without_a_terminal_a_file_is_needed(filled: Shell, tmp_path: Path) -> None:
    """Nothing is sealed with a passphrase that nobody gave."""
    done = subprocess.run(
        [sys.executable, "-m", "flowpool", "accounts", "export", str(tmp_path / "x")],
        env={"PATH": os.defpath, "FLOWPOOL_HOME": str(filled.home), "HOME": str(filled.home)},
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        start_new_session=True,  # without a terminal, also where the suite has one
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1
    assert "there is no terminal to ask for the passphrase" in done.stderr
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize(("second", "code"), [(WORDS, 0), ("correct house", 1)])
def test_a_terminal_is_asked_twice_without_showing_it(filled: Shell, tmp_path: Path, second: str, code: int) -> None:
    """Two that differ are asked for again."""
    file = tmp_path / "pool.parcel"
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(ROOT)
        os.environ["FLOWPOOL_HOME"] = str(filled.home)
        os.execv(sys.executable, [sys.executable, "-m", "flowpool", "accounts", "export", str(file)])  # noqa: S606  # the child itself becomes the program
    seen = b""
    for asked, answer in ((b"passphrase (not shown): ", WORDS), (b"Repeat for confirmation: ", second)):
        while asked not in seen:
            seen += os.read(terminal, 1024)
        os.write(terminal, f"{answer}\n".encode())
    if code:
        while b"do not match" not in seen:
            seen += os.read(terminal, 1024)
        os.write(terminal, b"\x03")
    try:
        while chunk := os.read(terminal, 1024):
            seen += chunk
    except OSError:
        pass  # so Linux says that the other side is gone
    os.close(terminal)

    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == code
    assert WORDS.encode() not in seen
    assert file.exists() is (code == 0)
