"""Each leftover is one line with the command that takes it away; each that was taken away is one too."""

from pathlib import Path

import pytest

from flowpool.findings import leftovers
from flowpool.findings.finding import Finding, Level
from flowpool.leftovers import Leftover
from home.paths import Home


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """A home that is not there yet."""
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "client"))
    return Home(config_folder=tmp_path / "home", state_folder=tmp_path / "home")


def test_nothing_is_left(home: Home) -> None:
    """No line of doctor's, and one of --fix."""
    assert leftovers.left(home) == []
    assert leftovers.fixed(home) == [
        Finding(part="fixed", level=Level.OK, message="there was nothing to undo or to remove")
    ]


def test_what_is_left_is_named(home: Home) -> None:
    """And what is done about it is said."""
    home.make().running.write_text("{")
    (line,) = leftovers.left(home)
    assert (line.level, line.mend) == (Level.WARN, "flowpool doctor --fix")
    assert leftovers.fixed(home) == [Finding(part="fixed", level=Level.OK, message=f"removed {home.running}")]

    assert leftovers.left(home) == []


def test_what_cannot_be_taken_away_keeps_nothing_else(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """It fails, with its reason."""

    def refuse() -> str:
        raise PermissionError(13, "Permission denied")

    two = [Leftover(what="a is left", take_away=refuse), Leftover(what="b is left", take_away=lambda: "removed b")]
    monkeypatch.setattr("flowpool.leftovers.find", lambda _: iter(two))
    first, second = leftovers.fixed(home)

    assert (first.level, first.message) == (Level.FAIL, "a is left, and stays: [Errno 13] Permission denied")
    assert (second.level, second.message) == (Level.OK, "removed b")
