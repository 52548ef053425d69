"""Claude Code's login is found where Claude Code keeps it."""

import json
import os
from pathlib import Path

import pytest

from credentials.errors import Unreadable
from credentials.secret import Secret
from home import clientlogin, keychain
from home.clientlogin import Place, of_file, of_folder, read, usual

ME = {"emailAddress": "me@example.org"}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with nothing in it but Claude Code's folder."""
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".claude").mkdir()
    return tmp_path


def test_where_it_usually_is(home: Path) -> None:
    """In the home, in the folder that is set, and on macOS in the keychain first."""
    login = home / ".claude" / ".credentials.json"
    other = Path("/other")
    named = {"CLAUDE_CONFIG_DIR": "/other"}
    facts = home / ".claude.json"
    assert usual({}, "linux") == Place(file=login, facts=facts)
    assert usual({}, "darwin") == Place(file=login, facts=facts, item="Claude Code-credentials")
    assert usual({"CLAUDE_CONFIG_DIR": ""}, "linux") == usual({}, "linux")
    assert usual(named, "linux") == Place(file=other / ".credentials.json", facts=other / ".claude.json")
    assert usual(named, "darwin").item == keychain.service(other)
    assert of_folder(other, "darwin") == usual(named, "darwin")


def test_whose_a_named_file_is(home: Path) -> None:
    """What stands beside it tells; what the home remembers only tells of the home's own, and no other name tells anything."""
    usual_file = home / ".claude" / ".credentials.json"
    assert of_file(usual_file).facts == home / ".claude.json"
    assert of_file(home / "backup" / ".credentials.json").facts == home / "backup" / ".claude.json"
    assert of_file(home / ".claude" / "copy.json").facts is None
    (home / ".claude" / ".claude.json").write_text("{}")
    assert of_file(usual_file).facts == home / ".claude" / ".claude.json"


def test_it_is_read_with_whose_it_is(home: Path) -> None:
    """The text is a secret; a relative path becomes a whole one."""
    place = of_folder(home, "linux")
    assert read(place) is None
    place.file.write_text("\ufeff{}")
    (home / ".claude.json").write_text(json.dumps({"oauthAccount": ME}))
    found = read(place)

    assert found == clientlogin.ClientLogin(text=Secret("{}"), owner=ME, file=place.file)
    relative = Path(os.path.relpath(place.file))
    assert (read(of_file(relative)) or found).file == relative.absolute()


@pytest.mark.parametrize("facts", ["", "{", "[]", '{"oauthAccount": 1}', "[" * 100_000, b"\xff"], ids=range(6))
def test_what_is_not_remembered_is_not_known(home: Path, facts: str | bytes) -> None:
    """A broken memory of Claude Code's is no reason not to read its login."""
    place = of_folder(home, "linux")
    place.file.write_text("{}")
    (home / ".claude.json").write_bytes(facts if isinstance(facts, bytes) else facts.encode())

    assert read(place) == clientlogin.ClientLogin(text=Secret("{}"), file=place.file)


def test_the_keychain_comes_first(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file is for where the keychain has none."""
    place = of_folder(home, "darwin")
    place.file.write_text("file")
    kept = {place.item: Secret("keychain")}
    monkeypatch.setattr(keychain, "read", kept.get)
    assert read(place) == clientlogin.ClientLogin(text=Secret("keychain"))
    kept.clear()

    assert read(place) == clientlogin.ClientLogin(text=Secret("file"), file=place.file)
    assert str(place) == f'the keychain item "{place.item}" or {place.file}'


def test_what_cannot_be_read_is_said(home: Path) -> None:
    """Not taken for nothing."""
    place = of_folder(home, "linux")
    place.file.symlink_to(place.file)
    with pytest.raises(Unreadable, match="Too many levels"):
        read(place)
