"""Accounts are added with their secret, or not at all."""

import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from credentials.credential import parse
from credentials.errors import NotWritten
from credentials.file import FileStore
from credentials.files import Disk
from credentials.memory import MemoryStore
from flowpool import accounts as command
from flowpool.errors import Failure
from home import accounts as book
from routing.words import Account, AccountId, Kind
from tests.flowpool.cli import PLANTED, ROOT, Shell

LOGIN = json.dumps(
    {"claudeAiOauth": {"accessToken": PLANTED, "refreshToken": "sk-ant-ort01-x", "expiresAt": 1767614400000}}
)
WORK = Account(id=AccountId("a1"), name="work", provider="anthropic", kind=Kind.SETUP_TOKEN)
OLD, NEW = parse("setup-token", "old-token"), parse("setup-token", "new-token")


def test_an_added_account_is_listed_with_its_secret_apart(shell: Shell) -> None:
    """Add prints one line and where the secret is kept; the account and the secret are where they belong."""
    answer = shell.run("add", "work", "--kind", "setup-token", "--no-verify", given=f"{PLANTED}\n")

    assert answer.stdout == "added work (setup-token, anthropic)\n"
    where, because = (
        f"flowpool: secrets are kept in the file {shell.home}/secrets.json, which only you can read",
        r" \(.+\)\n",
    )
    assert re.fullmatch(re.escape(where) + because, answer.stderr)
    (account,) = book.load(shell.home / "accounts.toml")
    assert (account.name, account.kind, account.enabled, account.rank) == ("work", Kind.SETUP_TOKEN, True, None)
    assert FileStore(shell.home / "secrets.json").get(account.id) == parse("setup-token", PLANTED)
    assert {path.stat().st_mode & 0o77 for path in [shell.home, *shell.home.iterdir()]} == {0}


@pytest.mark.parametrize(
    ("kind", "secret"),
    [
        ("oauth", LOGIN),
        ("oauth", f"\ufeff{LOGIN}"),
        ("oauth", PLANTED),
        ("api-key", "sk-ant-api03-key"),
        ("setup-token", PLANTED),
    ],
    ids=range(5),
)
def test_each_kind_is_taken_from_stdin(shell: Shell, kind: str, secret: str) -> None:
    """Login files, bare tokens and keys are all read from stdin."""
    shell.add("work", kind=kind, secret=secret)
    (account,) = book.load(shell.home / "accounts.toml")

    assert FileStore(shell.home / "secrets.json").get(account.id) == parse(kind, secret)


def test_a_chosen_file_is_not_announced(shell: Shell) -> None:
    """Who asked for the file is not told about it."""
    shell.home.mkdir()
    (shell.home / "config.toml").write_text('credentials.backend = "file"\n')

    assert shell.run("add", "work", "--kind", "setup-token", given=PLANTED).stderr == ""


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (b"", "is empty"),
        (b"\xff\xfe" + PLANTED.encode(), "not text"),
        (b"x" * (2**20 + 1), "longer"),
        (b"sk-ant-api03-x", "--kind api-key"),
    ],
    ids=range(4),
)
def test_a_bad_secret_adds_nothing(shell: Shell, given: bytes, says: str) -> None:
    """A secret that cannot be used is one line with exit 1, and no account is made."""
    err = shell.run("add", "work", "--kind", "setup-token", given=given, code=1).stderr

    assert says in err
    assert err.count("\n") == 1
    assert book.load(shell.home / "accounts.toml") == ()


def test_an_existing_name_needs_replace(shell: Shell) -> None:
    """Without --replace a name that is taken is a failure that changes nothing."""
    shell.add("work")
    before = (shell.home / "secrets.json").read_bytes(), (shell.home / "accounts.toml").read_bytes()
    shell.run("add", "work", "--kind", "setup-token", given="another-token", code=1)

    assert before == ((shell.home / "secrets.json").read_bytes(), (shell.home / "accounts.toml").read_bytes())


def test_replace_keeps_all_but_the_secret(shell: Shell) -> None:
    """--replace keeps id, rank and enabled, takes a new kind if one is given, and a new secret (X19)."""
    shell.add("work")
    shell.add("other")
    path = shell.home / "accounts.toml"
    path.write_text(path.read_text().replace("enabled = true", "enabled = false\nrank = 3", 1))
    before = book.load(path)
    same = shell.run("add", "work", "--replace", given="second-token")
    assert same.stdout == "replaced the secret of work (setup-token, anthropic)\n"
    assert book.load(path) == before
    shell.add("work", "--replace", kind="api-key", secret="sk-ant-api03-third")
    after = book.load(path)

    assert after == (
        Account(id=before[0].id, name="work", provider="anthropic", kind=Kind.API_KEY, enabled=False, rank=3),
        before[1],
    )
    assert FileStore(shell.home / "secrets.json").get(before[0].id) == parse("api-key", "sk-ant-api03-third")


def test_replace_mends_an_account_without_a_secret(shell: Shell) -> None:
    """What the messages advise works: a lost or broken secret is replaced."""
    shell.add("work")
    (account,) = book.load(shell.home / "accounts.toml")
    secrets = shell.home / "secrets.json"
    for broken in ("{}", json.dumps({account.id: {"kind": "x"}})):
        secrets.write_text(f'{{"version": 1, "accounts": {broken}}}')
        shell.add("work", "--replace")
        assert FileStore(secrets).get(account.id) == parse("setup-token", PLANTED)


def test_wrong_files_are_left(shell: Shell) -> None:
    """An exposed secrets.json is exit 1 with its chmod, a broken accounts.toml exit 2; both stay."""
    shell.add("work")
    (shell.home / "secrets.json").chmod(0o644)
    assert "run: chmod 600" in shell.run("add", "b", "--kind", "setup-token", given=PLANTED, code=1).stderr
    (shell.home / "secrets.json").chmod(0o600)
    (shell.home / "accounts.toml").write_text("version = 1\nx")

    assert ":2: not valid TOML" in shell.run("add", "b", "--kind", "setup-token", given=PLANTED, code=2).stderr
    assert ":2: not valid TOML" in shell.run("accounts", code=2).stderr
    assert (shell.home / "accounts.toml").read_text() == "version = 1\nx"


def test_accounts_are_listed_for_people_and_programs(shell: Shell) -> None:
    """The list is lines with tabs for a pipe, an array with --json, and a hint when there is none."""
    assert "flowpool add NAME" in shell.run("accounts").stdout
    assert json.loads(shell.run("accounts", "--json").stdout) == []
    shell.add("work")
    (account,) = book.load(shell.home / "accounts.toml")

    assert shell.run("accounts").stdout == f"work\tsetup-token\tanthropic\t-\tenabled\t{account.id}\n"
    assert json.loads(shell.run("accounts", "--json").stdout) == [
        {
            "id": account.id,
            "name": "work",
            "provider": "anthropic",
            "kind": "setup-token",
            "enabled": True,
            "rank": None,
        }
    ]


def test_twins_become_one(shell: Shell) -> None:
    """Of several programs that add one name at once one wins, and no secret is left over (X20)."""
    shell.add("first")
    environ = {"PATH": "/usr/bin:/bin", "FLOWPOOL_HOME": str(shell.home)}
    line = [sys.executable, "-m", "flowpool", "add", "work", "--kind", "setup-token"]
    adders = [subprocess.Popen(line, stdin=-1, stdout=-1, stderr=-1, env=environ, cwd=ROOT) for _ in range(4)]
    for adder in adders:
        adder.communicate(PLANTED.encode(), timeout=60)

    assert sorted(adder.returncode for adder in adders) == [0, 1, 1, 1]
    known = book.load(shell.home / "accounts.toml")
    assert sorted(one.name for one in known) == ["first", "work"]
    assert set(FileStore(shell.home / "secrets.json").ids()) == {one.id for one in known}


def test_a_failed_write_of_the_account_takes_the_secret_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When accounts.toml cannot be written, a new secret is forgotten and a replaced one is as before."""
    path, store = tmp_path / "accounts.toml", MemoryStore()
    command._save(path, store, None, WORK, OLD)

    def refuse(_disk: Disk, source: Path, target: Path) -> None:
        raise OSError(28, "No space left", str(source), None, str(target))

    monkeypatch.setattr(Disk, "replace", refuse)
    other = Account(id=AccountId("b2"), name="other", provider="anthropic", kind=Kind.SETUP_TOKEN)
    with pytest.raises(NotWritten):
        command._save(path, store, None, other, NEW)
    with pytest.raises(NotWritten):
        command._save(path, store, WORK, WORK, NEW)

    assert store.ids() == ("a1",)
    assert store.get("a1") == OLD
    assert book.load(path) == (WORK,)


def test_a_change_meanwhile_is_a_failure_that_touches_nothing(tmp_path: Path) -> None:
    """What another program added or removed while the secret was typed is respected."""
    path, store = tmp_path / "accounts.toml", MemoryStore()
    with pytest.raises(Failure, match="meanwhile"):
        command._save(path, store, WORK, WORK, NEW)
    command._save(path, store, None, WORK, OLD)
    twin = Account(id=AccountId("b2"), name="work", provider="anthropic", kind=Kind.OAUTH)
    with pytest.raises(Failure, match="meanwhile"):
        command._save(path, store, None, twin, NEW)

    assert book.load(path) == (WORK,)
    assert store.ids() == ("a1",)
    assert store.get("a1") == OLD


def test_another_provider_is_refused() -> None:
    """An account stays with its provider."""
    with pytest.raises(Failure, match="of anthropic, not of openai"):
        command._account(WORK, "work", None, "openai")


def test_a_terminal_is_asked_without_echo(shell: Shell) -> None:
    """On a terminal the secret is prompted for and what is typed is not shown."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(ROOT)
        os.environ["FLOWPOOL_HOME"] = str(shell.home)
        os.execv(sys.executable, [sys.executable, "-m", "flowpool", "add", "work", "--kind", "setup-token"])  # noqa: S606  # the child itself becomes the program
    seen = b""
    while b"not shown" not in seen:
        seen += os.read(terminal, 1024)
    os.write(terminal, f"{PLANTED}\n".encode())
    try:
        while chunk := os.read(terminal, 1024):
            seen += chunk
    except OSError:
        pass  # so Linux says that the other side is gone
    os.close(terminal)

    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert b"added work" in seen
    assert PLANTED.encode() not in seen
