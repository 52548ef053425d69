"""control.key is made once and kept private."""

import subprocess
import sys
from pathlib import Path

import pytest

from credentials import files
from credentials.errors import Exposed
from home import controlkey
from home.errors import ControlKeyError

ROOT = Path(__file__).parents[2]


def test_a_key_is_made_once(tmp_path: Path) -> None:
    """The first call makes 32 random bytes in a 0600 file; every later one returns the same."""
    path = tmp_path / "control.key"
    assert controlkey.read(path) is None
    key = controlkey.ensure(path)

    assert key == controlkey.ensure(path) == controlkey.read(path)
    assert len(key.reveal()) == 43
    assert path.stat().st_mode & 0o777 == 0o600
    assert key != controlkey.ensure(tmp_path / "other")


def test_processes_agree(tmp_path: Path) -> None:
    """Processes that all make the key at once all get the same."""
    code = "import sys; from pathlib import Path; from home import controlkey; sys.stdin.read(); print(controlkey.ensure(Path(sys.argv[1])).reveal())"
    makers = [
        subprocess.Popen([sys.executable, "-c", code, str(tmp_path / "k")], stdin=-1, stdout=-1, cwd=ROOT)
        for _ in range(4)
    ]

    assert len({maker.communicate(timeout=60)[0] for maker in makers}) == 1


def test_an_exposed_key_is_refused(tmp_path: Path) -> None:
    """A key that others can read is no key."""
    path = tmp_path / "control.key"
    controlkey.ensure(path)
    path.chmod(0o640)

    with pytest.raises(Exposed):
        controlkey.read(path)
    with pytest.raises(Exposed):
        controlkey.ensure(path)


@pytest.mark.parametrize(
    "junk", [b"", b"short", b"a" * 42 + b"\r\n", b"\xff" * 43, b"a" * 20 + b"\r\nx: y\r\n" + b"a" * 23]
)
def test_what_is_no_key_is_refused(tmp_path: Path, junk: bytes) -> None:
    """A file that holds something else is refused, said and left."""
    path = tmp_path / "control.key"
    path.touch(0o600)
    path.write_bytes(junk)

    with pytest.raises(ControlKeyError, match="run: rm"):
        controlkey.ensure(path)
    assert path.read_bytes() == junk


def test_a_key_that_vanishes_is_a_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the new key cannot be read back there is an error, not a loop."""
    monkeypatch.setattr(files, "create", lambda *_: False)

    with pytest.raises(ControlKeyError):
        controlkey.ensure(tmp_path / "control.key")
