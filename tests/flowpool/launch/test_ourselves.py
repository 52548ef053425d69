"""Another command of ours, at the same terminal."""

import sys
from pathlib import Path

import pytest

from flowpool.launch import ourselves

ROOT = Path(__file__).parents[3]


def test_what_it_ends_with_comes_back(capfd: pytest.CaptureFixture[str]) -> None:
    """And what it says stands where ours does."""
    assert ourselves.call("--version") == 0
    assert ourselves.call("nothing-of-that-name") == 2
    said = capfd.readouterr()
    assert said.out.startswith("flowpool ")
    assert "there is no command" in said.err


def test_what_lies_in_the_persons_folder_is_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However it is called."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    (tmp_path / "click.py").write_text("import sys; sys.exit(99)")

    assert ourselves.call("--version") == 0


def test_ctrl_c_is_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """We go on waiting for what comes of it."""

    class Interrupted:
        """A child that ends a moment after Ctrl-C."""

        def __init__(self, line: list[str]) -> None:
            assert line == [sys.executable, "-P", "-m", "flowpool", "login"]
            self.ends: list[object] = [KeyboardInterrupt(), 1]

        def wait(self) -> object:
            end = self.ends.pop(0)
            if isinstance(end, BaseException):
                raise end
            return end

    monkeypatch.setattr("subprocess.Popen", Interrupted)
    assert ourselves.call("login") == 1
