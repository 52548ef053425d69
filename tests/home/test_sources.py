"""Another program's copy of a login is read as it stands, and only if it is the same person's."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from home import sources
from routing.words import Account, AccountId, Identity, Kind
from tests.upstream import login as login_file

TOKEN = "sk-ant-oat01-PLANTED-source"


@pytest.fixture
def account(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Account:
    """An account whose login Claude Code keeps too, in the usual place."""
    monkeypatch.setenv("HOME", str(tmp_path))
    path = tmp_path / ".claude" / ".credentials.json"
    path.parent.mkdir()
    path.write_text(login_file(TOKEN))
    return Account(
        id=AccountId("a1"),
        name="work",
        provider="anthropic",
        kind=Kind.OAUTH,
        identity=Identity(owner="u-1", organization="o-1"),
        source=str(path),
    )


def say(path: Path, **said: object) -> None:
    """Let Claude Code tell whose login it is."""
    path.write_text(json.dumps({"oauthAccount": said, "projects": {}}))


def test_a_source_is_read(account: Account) -> None:
    """As it is now."""
    found = sources.read(account)
    assert found is not None
    assert found.access.reveal() == TOKEN
    assert sources.read(replace(account, source="")) is None


def test_a_source_in_the_home_folder_is_found(
    account: Account, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A tilde is the home."""
    monkeypatch.setenv("HOME", str(tmp_path))
    assert sources.read(replace(account, source="~/.claude/.credentials.json")) is not None
    assert sources.read(replace(account, source="~nobody-of-that-name/.credentials.json")) is None


@pytest.mark.parametrize("data", [None, b"", b"{", b"\xff", b'{"claudeAiOauth": {}}', TOKEN.encode()[:5]], ids=range(6))
def test_what_cannot_be_read_is_none(account: Account, data: bytes | None) -> None:
    """A missing file, and one that is being written just now."""
    path = Path(account.source)
    if data is None:
        path.unlink()
    else:
        path.write_bytes(data)
    assert sources.read(account) is None


@pytest.mark.parametrize("place", [".claude/.claude.json", ".claude.json"])
def test_somebody_elses_login_is_none(account: Account, tmp_path: Path, place: str) -> None:
    """X13: Claude Code may have been logged in as another meanwhile."""
    say(tmp_path / place, accountUuid="u-1", organizationUuid="o-1")
    assert sources.read(account) is not None
    say(tmp_path / place, accountUuid="u-2", organizationUuid="o-1")
    assert sources.read(account) is None
    say(tmp_path / place, accountUuid="u-1", organizationUuid="o-2")
    assert sources.read(account) is None
    assert sources.read(replace(account, identity=Identity())) is not None


@pytest.mark.parametrize("data", [b"[]", b"{", b'{"oauthAccount": {"accountUuid": 7}}', b'{"oauthAccount": null}'])
def test_what_says_nothing_of_the_owner_contradicts_nothing(account: Account, tmp_path: Path, data: bytes) -> None:
    """The file is another program's."""
    (tmp_path / ".claude.json").write_bytes(data)
    assert sources.read(account) is not None
