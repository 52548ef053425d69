"""Whether this person's Claude Code has a login of its own."""

from pathlib import Path

import pytest

from flowpool.launch.logged_in import has_login
from home import keychain
from home.keychain import KeychainError

FILES = [
    (None, False),
    ('{"claudeAiOauth": {"accessToken": "sk-ant-oat01-x"}}', True),
    ('{"claudeAiOauth": {"accessToken": ""}}', False),
    ('{"mcpOAuth": {"x": {"accessToken": "y"}}}', False),
    ('{"claudeAiOauth": null}', False),
    ("[]", False),
    ("{", True),
    ("", True),
]


@pytest.mark.parametrize(("text", "wanted"), FILES)
def test_a_file_tells(tmp_path: Path, text: str | None, wanted: bool) -> None:
    """What a logout leaves is no login; what cannot be understood may be one."""
    if text is not None:
        (tmp_path / ".credentials.json").write_text(text)

    assert has_login({"CLAUDE_CONFIG_DIR": str(tmp_path)}, "linux") == wanted


def test_a_file_that_cannot_be_read_may_hold_one(tmp_path: Path) -> None:
    """It is not ours to replace then."""
    (tmp_path / ".credentials.json").mkdir()

    assert has_login({"CLAUDE_CONFIG_DIR": str(tmp_path)}, "linux")


def test_a_token_in_the_environment_is_one(tmp_path: Path) -> None:
    """Where it is set to something."""
    variables = {"CLAUDE_CONFIG_DIR": str(tmp_path), "CLAUDE_CODE_OAUTH_TOKEN": "x"}

    assert has_login(variables, "linux")
    assert not has_login(variables | {"CLAUDE_CODE_OAUTH_TOKEN": ""}, "linux")


@pytest.mark.parametrize("says", [True, False, None])
def test_the_keychain_is_asked_on_macos(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, says: bool | None) -> None:
    """Only whether there is such an item; one that cannot be asked may have it."""
    asked: list[str] = []

    def has(name: str, _patience: float) -> bool:
        asked.append(name)
        if says is None:
            raise KeychainError(name, "locked")
        return says

    monkeypatch.setattr(keychain, "has", has)

    assert has_login({"CLAUDE_CONFIG_DIR": str(tmp_path)}, "darwin") == (says is not False)
    assert asked[0].startswith("Claude Code-credentials-")
