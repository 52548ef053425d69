"""The store in one file keeps the contract, loses nothing and refuses what is not its own."""

import json
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from credentials.errors import CredentialError, Exposed, NotWritten, Unreadable
from credentials.file import FileStore
from credentials.store import Store
from tests.credentials.contract import LOGIN, PLANTED, TOKEN, DatedContract
from tests.credentials.disks import FailingDisk

ROOT = Path(__file__).parents[2]
WRITER = """
import sys
from pathlib import Path
from credentials.credential import parse
from credentials.file import FileStore
store = FileStore(Path(sys.argv[1]))
print("ready", flush=True)
sys.stdin.readline()
for number in range(40):
    store.put(f"{sys.argv[2]}{number}", parse("setup-token", f"token-{sys.argv[2]}-{number}"))
"""


class TestFileStore(DatedContract):
    """FileStore."""

    @pytest.fixture
    def store(self, tmp_path: Path) -> Store:
        """An empty store."""
        return FileStore(tmp_path / "secrets.json")


def test_the_file_is_ours_alone(tmp_path: Path) -> None:
    """The file has mode 0600, and another store object reads the same."""
    FileStore(tmp_path / "secrets.json").put("a1", TOKEN)

    assert (tmp_path / "secrets.json").stat().st_mode & 0o777 == 0o600
    assert FileStore(tmp_path / "secrets.json").get("a1") == TOKEN


def test_two_processes_lose_nothing(tmp_path: Path) -> None:
    """Two processes that write at the same time both find all they wrote (X04)."""
    path = tmp_path / "secrets.json"
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path), name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT
        )
        for name in ("a", "b")
    ]
    for writer in writers:
        assert writer.stdout
        writer.stdout.readline()
    for writer in writers:
        writer.communicate(b"go\n", timeout=60)

    assert [writer.returncode for writer in writers] == [0, 0]
    assert set(FileStore(path).ids()) == {f"{name}{number}" for name in "ab" for number in range(40)}


def test_the_old_secrets_outlive_every_failure(tmp_path: Path) -> None:
    """For every n, when the n-th call of a write fails, the old secrets are still readable."""
    path = tmp_path / "secrets.json"
    FileStore(path).put("a1", TOKEN)
    probe = FailingDisk(fail_at=0)
    FileStore(path, probe).put("a2", TOKEN)

    for fail_at in range(1, probe.calls):
        with pytest.raises(NotWritten) as caught:
            FileStore(path, FailingDisk(fail_at)).put("a1", LOGIN)
        assert PLANTED not in str(caught.value)
        assert FileStore(path).get("a1") == TOKEN


def test_an_exposed_file_is_refused(tmp_path: Path) -> None:
    """A file that others can read is neither read nor written."""
    path = tmp_path / "secrets.json"
    FileStore(path).put("a1", TOKEN)
    path.chmod(0o644)

    with pytest.raises(Exposed):
        FileStore(path).get("a1")
    with pytest.raises(Exposed):
        FileStore(path).put("a1", LOGIN)
    assert PLANTED in path.read_text()


JUNK = [
    b"",
    b"{",
    b"[]",
    b"null",
    b"\xff",
    b'{"version": 1}',
    b'{"version": 2, "accounts": {}}',
    b"[" * 100_000,
    b"1" * 9999,
]


@pytest.mark.parametrize("junk", JUNK, ids=lambda junk: repr(junk[:14]))
def test_an_unreadable_file_is_never_overwritten(tmp_path: Path, junk: bytes) -> None:
    """Junk is refused by every verb and stays byte for byte."""
    path = tmp_path / "secrets.json"
    path.write_bytes(junk)
    path.chmod(0o600)
    store = FileStore(path)
    is_newer = junk.startswith(b'{"version": 2')
    mend = (
        "flowpool --version, and install that newer one$"
        if is_newer
        else f"mv '{path}' '{path}.broken', then for each account flowpool add NAME --replace$"
    )

    for verb in (lambda: store.get("a1"), lambda: store.put("a1", TOKEN), lambda: store.delete("a1"), store.ids):
        with pytest.raises(Unreadable, match=f"left in place.; run: {mend}"):
            verb()
    assert path.read_bytes() == junk


def test_one_bad_entry_spoils_no_other(tmp_path: Path) -> None:
    """An entry that makes no sense is a fault of its account alone, is kept by writes and mended by put."""
    path = tmp_path / "secrets.json"
    path.write_text(json.dumps({"version": 1, "accounts": {"a1": {"access": PLANTED}}}))
    path.chmod(0o600)
    store = FileStore(path)
    store.put("a2", LOGIN)

    assert store.get("a2") == LOGIN
    with pytest.raises(Unreadable, match=r"flowpool add NAME --replace$") as caught:
        store.get("a1")
    assert PLANTED not in str(caught.value)
    store.put("a1", TOKEN)
    assert store.get("a1") == TOKEN


def test_it_knows_when_a_credential_was_saved(tmp_path: Path) -> None:
    """Each save is stamped by the clock; an entry of before that counts as the oldest."""
    path = tmp_path / "secrets.json"
    store = FileStore(path, clock=lambda: 7)
    store.put("a1", TOKEN)
    document = json.loads(path.read_text())
    document["accounts"] |= {"a2": {"kind": "setup-token", "access": "x"}, "a3": 1}
    path.write_text(json.dumps(document))

    assert [store.saved_at(account_id) for account_id in ("a1", "a2", "a3", "a4")] == [7, 0, 0, None]


FIELDS = st.sampled_from(["kind", "access", "refresh", "expires_at", "extras", "x"])
ENTRIES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=9)
    | st.sampled_from(["oauth", "2026-01-05T12:00:00Z"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(FIELDS, inner, max_size=4),
    max_leaves=6,
)


@given(entry=ENTRIES)
def test_junk_raises_only_our_errors(tmp_path_factory: pytest.TempPathFactory, entry: object) -> None:
    """Whatever an entry holds, get returns a credential or raises a CredentialError."""
    path = tmp_path_factory.getbasetemp() / "junk.json"
    path.touch(0o600)
    path.write_text(json.dumps({"version": 1, "accounts": {"a1": entry}}))

    with suppress(CredentialError):
        FileStore(path).get("a1")
