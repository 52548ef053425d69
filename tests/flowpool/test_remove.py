"""remove deletes an account and its secret together, or neither."""

import os
import pty
import sys
from pathlib import Path

import pytest

from credentials.credential import Credential, parse
from credentials.errors import CredentialError, NotWritten
from credentials.file import FileStore
from credentials.files import Disk
from credentials.memory import MemoryStore
from flowpool.remove import forget
from home import accounts as book
from routing.words import Account, AccountId, Kind
from tests.flowpool.cli import ROOT, Shell

WORK, HOME = (
    Account(id=AccountId(f"id-{name}"), name=name, provider="anthropic", kind=Kind.SETUP_TOKEN)
    for name in ("work", "home")
)


class Failing(MemoryStore):
    """A store whose n-th deletion fails."""

    def __init__(self, fail_at: int) -> None:
        super().__init__()
        self.left = fail_at

    def delete(self, account_id: str) -> None:
        self.left -= 1
        if self.left == 0:
            raise CredentialError("the keyring is locked", "unlock it")
        super().delete(account_id)


def begin(path: Path, store: MemoryStore) -> dict[str, Credential]:
    """Two accounts with their secrets."""
    secrets = {account.id: parse("setup-token", f"token-of-{account.name}") for account in (WORK, HOME)}
    for account_id, secret in secrets.items():
        store.put(account_id, secret)
    book.edit(path, lambda _: (WORK, HOME))
    return {str(account_id): secret for account_id, secret in secrets.items()}


@pytest.mark.parametrize("fail_at", [1, 2])
def test_a_secret_that_cannot_be_deleted_keeps_all(tmp_path: Path, fail_at: int) -> None:
    """Whichever fails, accounts and secrets are as before."""
    path, store = tmp_path / "accounts.toml", Failing(fail_at)
    secrets = begin(path, store)
    with pytest.raises(CredentialError, match="locked"):
        forget(path, store, ["work", "home"])

    assert book.load(path) == (WORK, HOME)
    assert {account_id: store.get(account_id) for account_id in store.ids()} == secrets


def test_a_file_that_cannot_be_written_keeps_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The secret is put back."""
    path, store = tmp_path / "accounts.toml", MemoryStore()
    secrets = begin(path, store)

    def refuse(_disk: Disk, source: Path, target: Path) -> None:
        raise OSError(28, "No space left", str(source), None, str(target))

    monkeypatch.setattr(Disk, "replace", refuse)
    with pytest.raises(NotWritten):
        forget(path, store, ["work"])

    assert book.load(path) == (WORK, HOME)
    assert {account_id: store.get(account_id) for account_id in store.ids()} == secrets


def test_an_account_without_a_secret_can_be_removed(tmp_path: Path) -> None:
    """Nothing is there to be deleted."""
    path, store = tmp_path / "accounts.toml", MemoryStore()
    book.edit(path, lambda _: (WORK, HOME))

    assert forget(path, store, ["work"]) == (HOME,)


def test_without_a_terminal_nothing_is_asked(shell: Shell) -> None:
    """A script's remove does it; the secret is gone from the file at once, the last one is told of."""
    shell.add("work")
    shell.add("home", secret="another-token")
    assert shell.run("remove", "work").stdout == "removed work\n"
    assert [account.name for account in book.load(shell.home / "accounts.toml")] == ["home"]
    assert len(FileStore(shell.home / "secrets.json").ids()) == 1
    assert shell.run("remove", "--yes", "home").stdout == "removed home; none is left, so clients use their own login\n"

    assert FileStore(shell.home / "secrets.json").ids() == ()


def test_one_unknown_name_removes_nothing(shell: Shell) -> None:
    """All or nothing, exit 1."""
    shell.add("work")
    assert "no account wrok; did you mean work?" in shell.run("remove", "work", "wrok", code=1).stderr

    assert len(book.load(shell.home / "accounts.toml")) == 1


@pytest.mark.parametrize(("typed", "yes", "left"), [("y", False, 0), ("n", False, 1), ("", True, 0)])
def test_a_terminal_is_asked_first(shell: Shell, typed: str, yes: bool, left: int) -> None:
    """Only y removes; --yes does not ask."""
    shell.add("work")
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(ROOT)
        os.environ["FLOWPOOL_HOME"] = str(shell.home)
        arguments = ["remove", "work", *(["--yes"] if yes else [])]
        os.execv(sys.executable, [sys.executable, "-m", "flowpool", *arguments])  # noqa: S606  # the child itself becomes the program
    seen = b""
    while not yes and b"[y/N]" not in seen:
        seen += os.read(terminal, 1024)
    if not yes:
        os.write(terminal, f"{typed}\n".encode())
    try:
        while chunk := os.read(terminal, 1024):
            seen += chunk
    except OSError:
        pass  # so Linux says that the other side is gone
    os.close(terminal)

    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == (1 if left else 0)
    assert len(book.load(shell.home / "accounts.toml")) == left
    assert (b"Remove work and delete the secret?" in seen) is not yes
