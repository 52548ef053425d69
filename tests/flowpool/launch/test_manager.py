"""The one way to a system's programs."""

from pathlib import Path

import pytest

from flowpool.errors import Failure
from flowpool.launch import manager
from tests.flowpool.launch.systems import Programs


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Programs:
    """Programs that end well, end badly, and never end."""
    found = Programs(
        tmp_path / "bin", good="echo fine", bad="echo oh >&2; echo more >&2; exit 3", mute="exit 4", long="sleep 60"
    )
    monkeypatch.setenv("PATH", found.path)
    return found


def test_what_it_says_comes_back(programs: Programs) -> None:
    """Its code, and what it wrote; its first line is what is told of it."""
    assert manager.call("good", "a b").out == "fine\n"
    assert programs.calls == ["good a b"]
    done = manager.call("bad")
    assert (done.code, done.said) == (3, "oh")
    assert manager.call("mute").said == "it ended with code 4"


@pytest.mark.usefixtures("programs")
def test_what_must_work_raises_where_it_does_not() -> None:
    """With what was called, and what it said."""
    with pytest.raises(Failure, match=r"^`bad --now` failed: oh; run: flowpool service logs$"):
        manager.must("bad", "--now")
    assert manager.must("good").code == 0


@pytest.mark.usefixtures("programs")
def test_one_that_is_not_there_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """And so is one that never ends."""
    with pytest.raises(Failure, match=r"^nothere is not on the PATH, .*; run: flowpool start$"):
        manager.call("nothere")
    monkeypatch.setattr(manager, "PATIENCE", 0.05)
    with pytest.raises(Failure, match=r"^`long` did not end within 0.05 s; run it by hand: long$"):
        manager.call("long")
