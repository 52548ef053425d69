"""Only a keyring that keeps secrets safe, and that answers, is a real one."""

import os
import subprocess
import sys
from pathlib import Path
from typing import override

import keyring
import pytest
from keyring.backend import KeyringBackend
from keyring.backends import chainer, fail, null
from keyring.backends.SecretService import Keyring as SecretService

from credentials import rings
from credentials.backends import open_store
from credentials.errors import KeyringLocked, NoKeyring, NotStored
from credentials.keyring import KeyringStore
from tests.credentials.contract import LOGIN, TOKEN
from tests.credentials.rings import MemoryRing

ROOT = Path(__file__).parents[2]
NAMED = "PYTHON_KEYRING_BACKEND"


class PlaintextKeyring(MemoryRing):
    """Called as keyrings.alt calls its own."""


class MyKeyring(PlaintextKeyring):
    """Under another name, and recommended."""

    priority = 9


class FileRing(MemoryRing):
    """Keeps secrets in a file."""

    file_path = "/tmp/x"  # noqa: S108


class CryptFileRing(FileRing):
    """Keeps secrets in a file, encrypted."""


class WeakRing(MemoryRing):
    """Not recommended."""

    priority = 0.5  # type: ignore[assignment]


class BarredRing(MemoryRing):
    """Cannot work here."""

    @property
    def priority(self) -> float:  # type: ignore[override]
        """Raise the reason."""
        raise RuntimeError("Windows required")


CASES = [  # a backend, what is wrong with it
    (MemoryRing(), None),
    (CryptFileRing(), None),
    (fail.Keyring(), "(?:no keyring runs here|is no keyring)"),  # type: ignore[no-untyped-call]
    (null.Keyring(), "keeps nothing"),  # type: ignore[no-untyped-call]
    (PlaintextKeyring(), "as plain text"),
    (MyKeyring(), "as plain text"),
    (FileRing(), "a file of its own, perhaps as plain text"),
    (WeakRing(), r"not a recommended one \(priority 0.5\)"),
    (BarredRing(), "cannot work here"),
]


@pytest.mark.parametrize(
    ("ring", "problem"), CASES, ids=[type(ring).__module__[-5:] + type(ring).__name__ for ring, _ in CASES]
)
def test_each_backend_is_judged(ring: KeyringBackend, problem: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Backends that keep nothing, or plain text, or are not recommended are refused with the reason, however they were chosen."""
    monkeypatch.setattr(keyring.core, "_keyring_backend", ring)
    if problem is None:
        assert rings.find() is ring
        assert ring.calls == ["set", "get", "delete"]  # type: ignore[attr-defined]
        assert ring.kept == {}  # type: ignore[attr-defined]
        return

    monkeypatch.delenv(NAMED, raising=False)
    with pytest.raises(NoKeyring, match=f"{problem}; run: .* --list-backends$"):
        rings.find()
    monkeypatch.setenv(NAMED, "what.ever")
    with pytest.raises(NoKeyring, match=f"{problem}, and {NAMED} names it; run: unset {NAMED}$"):
        rings.find()
    assert not getattr(ring, "calls", [])


def test_looking_writes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who only looks asks a backend for an entry and gives it none; what is no place for secrets is refused all the same."""
    ring = MemoryRing()
    monkeypatch.setattr(keyring.core, "_keyring_backend", ring)
    assert rings.look() is ring
    assert ring.calls == ["get"]

    monkeypatch.setattr(keyring.core, "_keyring_backend", PlaintextKeyring())
    with pytest.raises(NoKeyring, match="as plain text"):
        rings.look()


class RefusingRing(MemoryRing):
    """Looks up what another program made, as those of package registries do."""

    @override
    def set_password(self, service: str, username: str, password: str) -> None:
        raise NotImplementedError


class DroppingRing(MemoryRing):
    """Keeps nothing and says nothing."""

    @override
    def set_password(self, service: str, username: str, password: str) -> None:
        pass

    @override
    def delete_password(self, service: str, username: str) -> None:
        pass


class LockedRing(MemoryRing):
    """Waits for its password."""

    @override
    def called(self, verb: str, text: str = "") -> None:
        raise keyring.errors.KeyringLocked("dismissed")


@pytest.mark.parametrize(
    ("ring", "problem"), [(RefusingRing(), "failed with NotImplementedError"), (DroppingRing(), "give back")]
)
def test_a_backend_that_keeps_nothing_is_found_out(
    ring: KeyringBackend, problem: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A backend that we do not know must keep an entry before it is trusted with a secret."""
    monkeypatch.setattr(keyring.core, "_keyring_backend", ring)

    with pytest.raises(NoKeyring, match=problem):
        rings.find()


def test_a_locked_keyring_is_no_missing_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """A real keyring that does not let us in is not called absent: its own exception comes through."""
    monkeypatch.setattr(keyring.core, "_keyring_backend", LockedRing())

    with pytest.raises(keyring.errors.KeyringLocked):
        rings.find()
    assert issubclass(KeyringLocked, Exception)


class Chain(chainer.ChainerBackend):
    """A chain of what it is given."""

    viable = False
    backends: list[KeyringBackend] = []  # noqa: RUF012


class AnsweringService(SecretService):
    """The system's keyring, as far as a probe asks."""

    viable = False
    priority = 5

    @override
    def get_password(self, service: str, username: str) -> str | None:
        return None


def test_of_a_chain_its_first_real_member_is_used_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A chain would find an old plain text copy again after a delete; the system's own keyring goes before all others."""
    monkeypatch.setattr(keyring.core, "_keyring_backend", Chain())  # type: ignore[no-untyped-call]
    AnsweringService.__module__ = SecretService.__module__
    system, other = AnsweringService(), MemoryRing()  # type: ignore[no-untyped-call]
    monkeypatch.setattr(Chain, "backends", [MyKeyring(), RefusingRing(), other, system])
    assert rings.find() is system

    monkeypatch.setattr(Chain, "backends", [MyKeyring(), RefusingRing(), other])
    assert rings.find() is other

    monkeypatch.setattr(Chain, "backends", [MyKeyring(), WeakRing()])
    with pytest.raises(NoKeyring, match=r"MyKeyring keeps.*; .*WeakRing is not"):
        rings.find()


def test_a_stale_plain_text_copy_does_not_come_back(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A chain itself finds a deleted secret again in its plain text member; the store that we open on it does not."""
    plain, real = MyKeyring(), MemoryRing()
    monkeypatch.setattr(keyring.core, "_keyring_backend", Chain())  # type: ignore[no-untyped-call]
    monkeypatch.setattr(Chain, "backends", [plain, real])
    KeyringStore(plain, tmp_path / "keyring").put("a1", TOKEN)
    assert keyring.get_password("flowpool", "a1/access") is not None

    store = open_store("auto", tmp_path, lambda: ["a1"])
    with pytest.raises(NotStored):
        store.get("a1")
    store.put("a1", LOGIN)
    store.delete("a1")
    with pytest.raises(NotStored):
        store.get("a1")
    assert real.kept == {}
    assert not (tmp_path / "secrets.json").exists()


ALT = """
from keyring.backend import KeyringBackend
class PlaintextKeyring(KeyringBackend):
    priority = 8
    def get_password(self, service, username): print("ASKED")
    def set_password(self, service, username, password): print("ASKED")
"""
OPEN = """
import sys
from pathlib import Path
from credentials.backends import open_store
from credentials.errors import CredentialError
assert "keyring" not in sys.modules, "imported before it is needed"
for backend in ("auto", "keyring"):
    try:
        print(open_store(backend, Path(sys.argv[1])).describe())
    except CredentialError as error:
        print(error.exit_code, error)
"""


def opened(folder: Path, **environ: str) -> tuple[str, str]:
    """What another process says of its stores auto and keyring, where no user's keyring can be found."""
    answer = subprocess.run(
        [sys.executable, "-c", OPEN, str(folder)],
        env={"PATH": os.defpath, "HOME": str(folder), "PYTHONPATH": f"{ROOT}:{folder}", **environ},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert not answer.stderr
    auto, only = answer.stdout.splitlines()
    assert auto.startswith(f"in the file {folder}/secrets.json, which only you can read (")
    assert auto.endswith(")")
    assert only.startswith("2 ")
    return auto, only


WRONG = [  # a value of the variable, what is said
    ("no.such.Ring", "PYTHON_KEYRING_BACKEND (no.such.Ring) names no backend that works here"),
    ("keyring.backends.fail.Nothing", "names no backend that works here"),
    ("keyring.backends.Windows.WinVaultKeyring", "names no backend that works here"),
    ("sk-ant-PLANTED", "PYTHON_KEYRING_BACKEND names no backend that works here"),
    ("", "names no backend that works here"),
    (
        "keyring.backends.null.Keyring",
        "keyring.backends.null.Keyring keeps nothing, and PYTHON_KEYRING_BACKEND names it",
    ),
    (
        "keyring.backends.fail.Keyring",
        "keyring.backends.fail.Keyring is no keyring, and PYTHON_KEYRING_BACKEND names it",
    ),
    ("alt.PlaintextKeyring", "alt.PlaintextKeyring keeps secrets as plain text, and PYTHON_KEYRING_BACKEND names it"),
]


@pytest.mark.parametrize(("named", "says"), WRONG, ids=[named or "empty" for named, _ in WRONG])
def test_a_wrong_variable_is_one_clear_line(tmp_path: Path, named: str, says: str) -> None:
    """What PYTHON_KEYRING_BACKEND names is judged like all others: the file with "auto", a refusal with "keyring"."""
    (tmp_path / "alt.py").write_text(ALT)
    auto, only = opened(tmp_path, **{NAMED: named})

    assert says in auto
    assert says in only
    assert only.endswith(f"; run: unset {NAMED}")
    assert "PLANTED" not in auto + only


@pytest.mark.parametrize("named", [None, "no.such.Ring", "sk-ant-PLANTED"])
def test_a_package_that_finds_nothing_is_one_line(named: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the package keyring raises while it chooses becomes NoKeyring, which names the variable if it is set."""

    def choose() -> None:
        raise ModuleNotFoundError("PLANTED")

    monkeypatch.setattr(keyring, "get_keyring", choose)
    if named is None:
        monkeypatch.delenv(NAMED, raising=False)
    else:
        monkeypatch.setenv(NAMED, named)

    with pytest.raises(NoKeyring) as caught:
        rings.find()
    assert "PLANTED" not in str(caught.value)
    assert (NAMED in str(caught.value)) == (named is not None)


def test_no_session_bus_means_the_file(tmp_path: Path) -> None:
    """Without DBUS_SESSION_BUS_ADDRESS nothing hangs: auto takes the file and says why, keyring is refused (X105)."""
    if sys.platform != "linux":
        pytest.skip("other systems have their keyring without a session bus")
    auto, only = opened(tmp_path)

    assert "(no keyring runs here)" in auto
    assert "no keyring runs here; run: " in only
    assert only.endswith("-m keyring --list-backends")


@pytest.mark.parametrize("module", ["alt", "keyrings.alt.file"])
@pytest.mark.parametrize("priority", ["8", "0.5"])
def test_a_plaintext_backend_that_somebody_installed_is_not_taken(tmp_path: Path, module: str, priority: str) -> None:
    """A plain text backend that is found among the installed ones is refused, not chosen silently."""
    if sys.platform != "linux":
        pytest.skip("other systems have a real keyring")
    path = tmp_path / f"{module.replace('.', '/')}.py"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(ALT.replace("priority = 8", f"priority = {priority}"))
    folder = tmp_path / "alt-1.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: alt\nVersion: 1\n")
    (folder / "entry_points.txt").write_text(f"[keyring.backends]\nalt = {module}\n")
    auto, only = opened(tmp_path)

    assert f"{module}.PlaintextKeyring keeps secrets as plain text" in auto
    assert f"{module}.PlaintextKeyring keeps secrets as plain text" in only
    assert "ASKED" not in auto + only
