"""Settings of a project or an organisation are never touched."""

from pathlib import Path

import pytest

from flowpool.errors import WrongFileError
from flowpool.launch.own_settings import checked


@pytest.fixture(autouse=True)
def person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a person, with a project in it."""
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "project" / ".claude").mkdir(parents=True)
    (tmp_path / "project" / ".git").mkdir()
    return tmp_path


@pytest.mark.parametrize("name", [".claude/settings.json", "other/settings.json", "x.json"])
def test_a_persons_own_are_taken(person: Path, name: str) -> None:
    """Wherever they are, also where the person's whole folder is in git."""
    (person / ".git").mkdir()

    assert checked(person / name) == person / name


@pytest.mark.parametrize(
    "name",
    [
        "project/.claude/settings.json",
        "project/.claude/settings.local.json",
        ".claude/settings.local.json",
        "etc/claude-code/managed-settings.json",
        "etc/claude-code/managed-settings.d/x.json",
    ],
)
def test_others_are_refused(person: Path, name: str) -> None:
    """By their name, and by what a link leads to."""
    path = person / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("{}")
    (person / "link.json").symlink_to(path)
    for given in (path, person / "link.json"):
        with pytest.raises(WrongFileError, match=r"left as (it is|they are)"):
            checked(given)
