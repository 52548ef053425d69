"""A setting names a store."""

import gc
import os
import re
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import keyring
import pytest
from keyring.backends.SecretService import Keyring as SecretService

from credentials.backends import BACKENDS, FILE_NAME, open_place, open_store
from credentials.errors import KeyringBroken, KeyringLocked, NoKeyring, NotStored, UnknownBackend
from credentials.file import FileStore
from credentials.keyring import KeyringStore, Ring
from credentials.patience import Patience
from credentials.secret import Secret
from tests.credentials.contract import LOGIN, TOKEN
from tests.credentials.rings import Clock, HangingRing, MemoryRing, secret_service, short

ROOT = Path(__file__).parents[2]


def missing() -> Ring:
    """Find no keyring."""
    raise NoKeyring("x.Ring keeps secrets as plain text")


def unasked() -> Ring:
    """Find out that a keyring was looked for."""
    raise AssertionError


def test_the_file_is_the_file(tmp_path: Path) -> None:
    """With "file" no keyring is looked for, and nothing is touched yet."""
    store = open_store("file", tmp_path, find=unasked)

    assert isinstance(store, FileStore)
    assert store.describe() == f"in the file {tmp_path / FILE_NAME}, which only you can read"
    assert list(tmp_path.iterdir()) == []


def test_without_a_keyring_auto_is_the_file_and_says_why(tmp_path: Path) -> None:
    """With "auto" the file takes the place of a keyring that is not there, with the reason; "keyring" is refused, exit 2."""
    store = open_store("auto", tmp_path, find=missing)
    store.put("a1", TOKEN)

    assert FileStore(tmp_path / FILE_NAME).get("a1") == TOKEN
    assert store.describe().endswith("which only you can read (x.Ring keeps secrets as plain text)")
    with pytest.raises(NotStored):
        store.get("a2")
    with pytest.raises(NoKeyring, match="plain text") as caught:
        open_store("keyring", tmp_path, find=missing)
    assert caught.value.exit_code == 2


@pytest.mark.parametrize("backend", ["auto", "keyring"])
def test_a_real_keyring_is_used(tmp_path: Path, backend: str) -> None:
    """Both names use a keyring that answers, and say which; no secret is in a file."""
    ring = MemoryRing()
    store = open_store(backend, tmp_path, lambda: ["a1"], find=lambda: ring)
    store.put("a1", LOGIN)

    assert open_store(backend, tmp_path, lambda: ["a1"], find=lambda: ring).ids() == ("a1",)
    assert store.describe() == "in the system's keyring (tests.credentials.rings.MemoryRing, service flowpool)"
    assert not (tmp_path / FILE_NAME).exists()
    assert all(path.stat().st_size == 0 for path in tmp_path.iterdir())
    assert {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()} == {0o600}


def test_auto_finds_what_the_file_still_has_and_keyring_does_not_look(tmp_path: Path) -> None:
    """With "auto" secrets in the file go on being used, announced; "keyring" means the keyring alone."""
    FileStore(tmp_path / FILE_NAME).put("a1", TOKEN)
    auto = open_store("auto", tmp_path, lambda: ["a1"], find=MemoryRing)

    assert auto.get("a1") == TOKEN
    assert f"; that of 1 account is still in the file {tmp_path / FILE_NAME}" in auto.describe()
    with pytest.raises(NotStored):
        open_store("keyring", tmp_path, lambda: ["a1"], find=MemoryRing).get("a1")


def test_a_keyring_that_does_not_answer_is_looked_for_again(tmp_path: Path) -> None:
    """With "auto" the file serves until the keyring answers, what only the keyring has is refused until then, never lost."""
    ring, clock = HangingRing(hangs=False), Clock()
    KeyringStore(ring, tmp_path / "keyring").put("a1", LOGIN)

    def find() -> Ring:
        ring.get_password("flowpool", "probe")
        return ring

    ring.hangs = True
    store = open_store("auto", tmp_path, lambda: ["a1", "a2"], find=find, patience=short(clock))
    assert store.describe().endswith("(the keyring did not answer within 0.05 s)")
    store.put("a2", TOKEN)
    assert store.ids() == ("a2",)
    with pytest.raises(KeyringBroken, match="asked again in 60 s"):
        store.get("a1")

    ring.hangs = False
    clock.rest()
    assert store.get("a1") == LOGIN
    assert store.ids() == ("a1", "a2")
    store.put("a1", TOKEN)
    store.delete("a1")
    assert ring.kept == {}
    ring.release.set()


def test_with_keyring_one_that_does_not_answer_is_a_fault(tmp_path: Path) -> None:
    """Where only a keyring will do, one that hangs is said in time."""
    ring = HangingRing()

    with pytest.raises(KeyringBroken, match="did not answer"):
        open_store("keyring", tmp_path, find=lambda: ring.get_password("a", "b"), patience=short(Clock()))  # type: ignore[arg-type,return-value]
    assert list(tmp_path.iterdir()) == []
    ring.release.set()


def test_a_place_is_opened_by_itself(tmp_path: Path) -> None:
    """To move what is in it, the file or the keyring is opened alone; a keyring that is not there is refused."""
    ring = MemoryRing()
    open_place("file", tmp_path, find=unasked).put("a1", TOKEN)
    keyring = open_place("keyring", tmp_path, lambda: ["a1"], find=lambda: ring)
    assert keyring.ids() == ()
    keyring.put("a1", LOGIN)

    assert open_place("file", tmp_path).get("a1") == TOKEN
    assert open_place("keyring", tmp_path, lambda: ["a1"], find=lambda: ring).ids() == ("a1",)
    with pytest.raises(NoKeyring):
        open_place("keyring", tmp_path, find=missing)


def test_an_unknown_backend_is_refused(tmp_path: Path) -> None:
    """The message names those that there are."""
    assert BACKENDS == ("auto", "keyring", "file")
    with pytest.raises(UnknownBackend, match="auto, keyring, file"):
        open_store("memory", tmp_path)


@pytest.fixture
def session() -> Iterator[None]:
    """A gnome-keyring of this test's own."""
    with secret_service():
        yield


PLANTED = "sk-ant-oat01-PLANTED-in-a-keyring"


def add(home: Path, *arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """Run `flowpool add work`, where no user's keyring can be found."""
    return subprocess.run(
        [sys.executable, "-m", "flowpool", "add", "work", "--kind", "setup-token", "--no-verify", *arguments],
        input=PLANTED,
        env={"PATH": os.defpath, "HOME": str(home), "FLOWPOOL_HOME": str(home), **environ},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_a_program_that_needs_a_keyring_ends_with_one_line(tmp_path: Path) -> None:
    """With "keyring", and none to be had, `flowpool add` says so in one line, exit 2, and keeps nothing."""
    (tmp_path / "config.toml").write_text('credentials.backend = "keyring"')
    answer = add(tmp_path, PYTHON_KEYRING_BACKEND="keyring.backends.null.Keyring")

    assert answer.returncode == 2
    assert answer.stderr == (
        "flowpool: keyring.backends.null.Keyring keeps nothing, and PYTHON_KEYRING_BACKEND names it; "
        "run: unset PYTHON_KEYRING_BACKEND\n"
    )
    assert [path.name for path in tmp_path.iterdir()] == ["config.toml"]


@pytest.mark.secretservice
@pytest.mark.usefixtures("session")
def test_a_program_finds_the_real_one(tmp_path: Path) -> None:
    """With a SecretService `flowpool add` finds it by itself and says so, and no file holds the secret."""
    bus = os.environ["DBUS_SESSION_BUS_ADDRESS"]
    where = "in the system's keyring (keyring.backends.SecretService.Keyring, service flowpool)"
    for arguments, says in (((), f"flowpool: secrets are kept {where}\n"), (("--replace",), "")):
        answer = add(tmp_path, *arguments, DBUS_SESSION_BUS_ADDRESS=bus)
        assert answer.stderr == says

    (account_id,) = re.findall('^id = "(.+)"', (tmp_path / "accounts.toml").read_text(), re.MULTILINE)
    ring = SecretService()  # type: ignore[no-untyped-call]
    assert KeyringStore(ring, tmp_path / "keyring").get(account_id).access == Secret(PLANTED)
    assert not (tmp_path / FILE_NAME).exists()
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and PLANTED in path.read_text(errors="replace")]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # of the socket of a locked keyring
@pytest.mark.secretservice
@pytest.mark.usefixtures("session")
def test_a_real_one_that_is_locked_is_said_to_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once a SecretService is locked, that is said with what unlocks it, and "auto" goes on with the file."""
    import secretstorage  # noqa: PLC0415  # not there without its system

    ring = SecretService()  # type: ignore[no-untyped-call]
    monkeypatch.setattr(keyring.core, "_keyring_backend", ring)
    store = open_store("auto", tmp_path, lambda: ["a1"], patience=Patience(30))
    store.put("a1", LOGIN)

    with closing(secretstorage.dbus_init()) as bus:
        secretstorage.get_default_collection(bus).lock()
    with pytest.raises(KeyringLocked):
        store.get("a1")
    with pytest.raises(KeyringLocked, match="-m keyring get"):
        open_store("keyring", tmp_path, patience=Patience(30))
    late = open_store("auto", tmp_path, lambda: ["a1"], patience=Patience(30))
    assert late.describe().endswith("(the keyring is locked)")
    with pytest.raises(KeyringLocked, match="asked again"):
        late.get("a1")
    gc.collect()  # here, where such a socket is forgiven
