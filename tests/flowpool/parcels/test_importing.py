"""An import takes in what is new, and changes nothing when it cannot be opened."""

from pathlib import Path

import pytest

from credentials import parcel
from home import accounts as book
from tests.flowpool.cli import Shell

WORDS = "correct horse"


@pytest.fixture
def words(tmp_path: Path) -> str:
    """A file with the passphrase."""
    path = tmp_path / "words"
    path.write_text(WORDS)
    return str(path)


@pytest.fixture
def sealed(shell: Shell, tmp_path: Path, words: str) -> str:
    """An export of two accounts, in a file; the shell is at a new machine afterwards."""
    for name in ("work", "home"):
        shell.add(name, "--no-verify")
    file = tmp_path / "pool.parcel"
    shell.run("accounts", "export", str(file), "--passphrase-file", words)
    shell.home = tmp_path / "new"
    return str(file)


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
    "damaged": "the passphrase is wrong, or the file is damaged; nothing was changed; run: ",
    "foreign": "this is no file that `flowpool accounts export` wrote; run: ",
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

    assert said.startswith(f"flowpool: {BAD[how]}")
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
