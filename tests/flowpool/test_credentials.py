"""Where secrets are kept is said, and they move on command."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from credentials.credential import parse
from credentials.file import FileStore
from credentials.keyring import KeyringStore
from home import accounts as book
from tests import keyrings
from tests.credentials.rings import secret_service
from tests.flowpool.cli import ROOT, Shell, planted
from tests.thorough import amount


@pytest.fixture
def ring(shell: Shell, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A keyring that all programs of the shell find; the file in which it keeps its entries."""
    folder = tmp_path_factory.mktemp("ring")
    shell.environ |= keyrings.install(folder)
    return folder / "ring.json"


def backend(shell: Shell, name: str) -> None:
    """Write config.toml."""
    shell.home.mkdir(mode=0o700, exist_ok=True)
    (shell.home / "config.toml").write_text(f'credentials.backend = "{name}"\n')


def in_file(shell: Shell) -> set[str]:
    """The access tokens of secrets.json."""
    store = FileStore(shell.home / "secrets.json")
    return {store.get(account_id).access.reveal() for account_id in store.ids()}


def in_ring(path: Path) -> set[str]:
    """The access tokens in the keyring."""
    kept = json.loads(path.read_text()) if path.exists() else {}
    return {text for user, text in kept.items() if "/access" in user}


BOTH = {planted("work"), planted("home")}


def test_it_says_where_they_are_and_which_can_be_read(shell: Shell) -> None:
    """One line for the place, one for each account; one that cannot be read says why and what mends it."""
    shell.add("work")
    shell.add("home")
    store = FileStore(shell.home / "secrets.json")
    store.delete(book.load(shell.home / "accounts.toml")[1].id)
    where, work, home = shell.run("credentials").stdout.splitlines()

    assert where.startswith(f"secrets are kept in the file {shell.home}/secrets.json, which only you can read (")
    assert work == "work: readable"
    assert home.startswith("home: unreadable: no secret is stored for account ")
    assert home.endswith("; run: flowpool add home --replace")


def test_they_move_there_and_back(shell: Shell, ring: Path) -> None:
    """With "auto" each stays readable; where the next save would go elsewhere, the line for config.toml is said."""
    backend(shell, "auto")
    for name in ("work", "home"):
        shell.add(name)
    assert (in_ring(ring), in_file(shell)) == (BOTH, set())

    moved = shell.run("credentials", "move", "file")
    assert moved.stdout == "the secrets of 2 accounts are in secrets.json now\n"
    assert moved.stderr.endswith(
        f'unless you set, in {shell.home}/config.toml, under [credentials]: backend = "file"\n'
    )
    assert (in_ring(ring), in_file(shell)) == (set(), BOTH)
    assert "home: readable" in shell.run("credentials").stdout
    again = shell.run("credentials", "move", "file")
    assert (again.stdout, again.stderr) == ("the secrets of 2 accounts are in secrets.json already\n", moved.stderr)
    moved = shell.run("credentials", "move", "keyring")
    assert (moved.stdout, moved.stderr) == ("the secrets of 2 accounts are in the system's keyring now\n", "")
    assert (in_ring(ring), in_file(shell)) == (BOTH, set())
    assert (shell.home / "config.toml").read_text() == 'credentials.backend = "auto"\n'


@pytest.mark.parametrize("place", ["keyring", "file"])
def test_who_reads_the_old_place_alone_still_finds_them(shell: Shell, ring: Path, place: str) -> None:
    """Where config.toml names the old place, they are copied; once it names the new one, the old copies go."""
    old = "file" if place == "keyring" else "keyring"
    backend(shell, old)
    for name in ("work", "home"):
        shell.add(name)
    said = shell.run("credentials", "move", place).stderr
    assert (
        f'stop the proxy if one runs, and set, in {shell.home}/config.toml, under [credentials]: backend = "{place}"'
        in said
    )
    assert said.endswith(f"run: flowpool credentials move {place}\n")
    assert (in_ring(ring), in_file(shell)) == (BOTH, BOTH)
    assert shell.run("credentials").stdout.count(": readable") == 2

    backend(shell, place)
    assert shell.run("credentials", "move", place).stderr == ""
    assert (in_ring(ring), in_file(shell)) == ((BOTH, set()) if place == "keyring" else (set(), BOTH))
    assert shell.run("credentials").stdout.count(": readable") == 2


def test_without_a_keyring_nothing_moves(shell: Shell) -> None:
    """It is said in one line, and the file is as it was."""
    shell.add("work")
    before = (shell.home / "secrets.json").read_bytes()
    said = shell.run("credentials", "move", "keyring", code=2).stderr

    assert said.startswith("flowpool: keyring.backends.fail.Keyring is no keyring")
    assert said.count("\n") == 1
    assert (shell.home / "secrets.json").read_bytes() == before


def test_what_is_in_the_file_already_needs_no_keyring(shell: Shell) -> None:
    """There is nothing to look for elsewhere, unless one is not there, or the keyring is what config.toml names."""
    assert shell.run("credentials", "move", "file").stdout == "there is no secret to move\n"
    for name in ("work", "home"):
        shell.add(name)
    moved = shell.run("credentials", "move", "file")
    assert (moved.stdout, moved.stderr) == ("the secrets of 2 accounts are in secrets.json already\n", "")
    backend(shell, "keyring")
    assert " is no keyring" in shell.run("credentials", "move", "file", code=2).stderr
    backend(shell, "auto")
    FileStore(shell.home / "secrets.json").delete(book.load(shell.home / "accounts.toml")[0].id)
    assert " is no keyring" in shell.run("credentials", "move", "file", code=2).stderr


def test_an_account_without_a_secret_is_named(shell: Shell, ring: Path) -> None:
    """The others move."""
    backend(shell, "auto")
    shell.add("work")
    ring.write_text("{}")
    shell.add("home")
    said = shell.run("credentials", "move", "file")

    assert "flowpool: work has no secret; run: flowpool add work --replace\n" in said.stderr
    assert said.stdout == "the secret of 1 account is in secrets.json now\n"
    assert in_file(shell) == {planted("home")}


def dies(shell: Shell, place: str, dies_at: int) -> bool:
    """Start a move that is killed at that call of the keyring; tell whether it came to that."""
    shell.environ["DIES_AT"] = str(dies_at)
    try:
        shell.run("credentials", "move", place, code=-9)
    except AssertionError:
        return False
    finally:
        del shell.environ["DIES_AT"]
    return True


@pytest.mark.parametrize("place", ["keyring", "file"])
def test_killed_at_any_call_it_is_finished_by_the_next(shell: Shell, ring: Path, place: str) -> None:
    """Kill -9 at a call of the keyring: all are readable, and running it again moves them all."""
    backend(shell, "auto")
    for name in ("work", "home"):
        shell.add(name)
    shell.run("credentials", "move", "file" if place == "keyring" else "keyring")
    kept = {path: path.read_bytes() if path.exists() else None for path in (ring, shell.home / "secrets.json")}
    killed = 0
    for dies_at in range(3, 45, amount(6, 1)):
        for path, data in kept.items():
            path.unlink(missing_ok=True)
            if data is not None:
                path.write_bytes(data)
                path.chmod(0o600)
        ring.with_name("calls").write_text("")
        killed += dies(shell, place, dies_at)
        assert shell.run("credentials").stdout.count(": readable") == 2
        shell.run("credentials", "move", place)
        assert (in_ring(ring), in_file(shell)) == ((BOTH, set()) if place == "keyring" else (set(), BOTH))
    assert killed > 3


@pytest.fixture
def session() -> Iterator[None]:
    """A gnome-keyring of this test's own."""
    with secret_service():
        yield


@pytest.mark.secretservice
@pytest.mark.usefixtures("session")
def test_they_move_into_a_real_one_and_back(shell: Shell) -> None:
    """The command finds a real SecretService, keeps them there, and takes them out again."""
    from keyring.backends.SecretService import Keyring  # noqa: PLC0415  # not there without its system

    backend(shell, "file")
    for name in ("work", "home"):
        shell.add(name)
    bus = os.environ["DBUS_SESSION_BUS_ADDRESS"]
    backend(shell, "auto")
    known = book.load(shell.home / "accounts.toml")
    store = KeyringStore(Keyring(), shell.home / "keyring", lambda: [one.id for one in known])  # type: ignore[no-untyped-call]

    def run(*arguments: str) -> str:
        environ = {"PATH": os.defpath, "HOME": str(shell.home), "FLOWPOOL_HOME": str(shell.home)}
        done = subprocess.run(
            [sys.executable, "-m", "flowpool", *arguments],
            env=environ | {"DBUS_SESSION_BUS_ADDRESS": bus},
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
        shell.shown += [done.stdout, done.stderr]
        return done.stdout

    assert run("credentials", "move", "keyring") == "the secrets of 2 accounts are in the system's keyring now\n"
    assert {store.get(one.id).access.reveal() for one in known} == BOTH
    assert in_file(shell) == set()
    assert run("credentials").startswith(
        "secrets are kept in the system's keyring (keyring.backends.SecretService.Keyring"
    )
    assert run("credentials", "move", "file") == "the secrets of 2 accounts are in secrets.json now\n"
    assert (store.ids(), in_file(shell)) == ((), BOTH)


def test_what_no_account_names_is_told(shell: Shell, ring: Path) -> None:
    """It cannot be moved, and plain text that nobody knows of must not stay behind."""
    shell.add("work")
    backend(shell, "auto")
    path = shell.home / "secrets.json"
    store = FileStore(path)
    (account,) = book.load(shell.home / "accounts.toml")
    store.put(account.id, parse("setup-token", planted("work")))
    store.put("stray", parse("setup-token", planted("stray")))
    done = shell.run("credentials", "move", "keyring")

    assert done.stderr == (
        f"flowpool: {path} still holds 1 secret of no account that accounts.toml names, and nothing else; "
        f"if you miss none, run: rm {path}\n"
    )
    assert store.ids() == ("stray",)
    assert in_ring(ring) == {planted("work")}
    path.unlink()
    assert shell.run("credentials", "move", "keyring").stderr == ""
