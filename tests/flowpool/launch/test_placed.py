"""Whether a Claude Code has no login wherever it is started, and whether the placeholder stands in its settings."""

import json
from pathlib import Path

import pytest

from flowpool.launch.placed import lacks_login, stands_in, token
from providers.anthropic.placeholder import PLACEHOLDER

LOGIN = '{"claudeAiOauth": {"accessToken": "x"}}'
NAME = "CLAUDE_CODE_OAUTH_TOKEN"


def settings(folder: Path, **env: str) -> Path:
    """Write settings of Claude Code."""
    path = folder / "settings.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({"env": env}))
    return path


@pytest.mark.parametrize(
    ("shell", "put", "login", "lacks"),
    [
        ("", "", "", True),
        ("", "", LOGIN, False),
        ("", "", '{"mcpOAuth": {}}', True),
        ("mine", "", "", False),
        ("", "mine", "", False),
        (PLACEHOLDER, PLACEHOLDER, "", True),
        (PLACEHOLDER, "", LOGIN, False),
        ("mine", PLACEHOLDER, "", False),
    ],
)
def test_a_login_is_one_wherever_it_is(tmp_path: Path, shell: str, put: str, login: str, lacks: bool) -> None:
    """In the shell, in settings, or saved; the placeholder is none, and hides none."""
    settings(tmp_path, **({NAME: put} if put else {}))
    (tmp_path / ".credentials.json").write_text(login or "{}")

    assert lacks_login({"CLAUDE_CONFIG_DIR": str(tmp_path), NAME: shell}) is lacks


def test_a_login_beside_other_settings_counts(tmp_path: Path) -> None:
    """Whoever reads these may be logged in there."""
    other = settings(tmp_path / "other")
    (tmp_path / "usual").mkdir()
    variables = {"CLAUDE_CONFIG_DIR": str(tmp_path / "usual")}
    assert lacks_login(variables, other)
    (other.parent / ".credentials.json").write_text(LOGIN)

    assert not lacks_login(variables, other)


@pytest.mark.parametrize(
    ("text", "is_there"),
    [
        (json.dumps({"env": {NAME: PLACEHOLDER}}), True),
        (json.dumps({"env": {NAME: PLACEHOLDER}}) + " // mine", True),
        (json.dumps({"env": {NAME: "mine"}}), False),
        (json.dumps({"env": {NAME: 7}}), False),
        (json.dumps({"env": {"OTHER": PLACEHOLDER}}), False),
        ('{"env": 7}', False),
        ("{", False),
        ("\xff", False),
        ("", False),
    ],
)
def test_the_placeholder_is_known_by_sight(tmp_path: Path, text: str, is_there: bool) -> None:
    """What cannot be read has none."""
    path = tmp_path / "settings.json"
    assert not stands_in(path)
    path.write_text(text, encoding="latin-1")

    assert stands_in(path) is is_there
    assert bool(token(path)) is (NAME in text)
