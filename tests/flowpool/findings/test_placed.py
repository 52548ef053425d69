"""Who is led to the pool needs a login, or the placeholder where there is none, and never both."""

import json
from pathlib import Path

import pytest

from flowpool.findings.finding import Level
from flowpool.findings.placed import placed
from flowpool.launch import connecting, wishes
from flowpool.launch.wishes import Reach
from home.checks import Address
from home.paths import Home
from providers.anthropic.placeholder import PLACEHOLDER

LISTEN = Address(host="127.0.0.1", port=3456)
HERE, AWAY = f"http://{LISTEN}", "https://gateway.example"
NAME = "CLAUDE_CODE_OAUTH_TOKEN"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """A home, and a folder of Claude Code's."""
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path))
    monkeypatch.delenv(NAME, raising=False)
    return Home(config_folder=tmp_path / "home", state_folder=tmp_path / "home")


def log_in(folder: Path) -> None:
    """Let a Claude Code have a login."""
    (folder / ".credentials.json").write_text('{"claudeAiOauth": {"accessToken": "x"}}')


def variables(folder: Path, **more: str) -> dict[str, str]:
    """A shell's."""
    return {"CLAUDE_CONFIG_DIR": str(folder), **more}


def told(home: Home, given: dict[str, str]) -> list[tuple[Level, str]]:
    """How bad each is, and what mends it."""
    found = placed(home, given)
    assert PLACEHOLDER not in str(found)
    return [(one.level, one.mend) for one in found]


CONNECT, ENV = "flowpool connect", 'eval "$(flowpool env)"'
TABLE = [  # the address in settings, the token there, whether there is a login, what is told
    ((HERE, "", True), []),
    ((HERE, "", False), [(Level.FAIL, CONNECT)]),
    ((HERE, PLACEHOLDER, False), []),
    ((HERE, PLACEHOLDER, True), [(Level.WARN, CONNECT)]),
    ((HERE, "mine", False), []),
    ((AWAY, "", False), []),
    ((AWAY, PLACEHOLDER, True), []),
]


@pytest.mark.parametrize(("given", "wanted"), TABLE)
def test_settings_that_lead_here(
    home: Home, tmp_path: Path, given: tuple[str, str, bool], wanted: list[tuple[Level, str]]
) -> None:
    """Others are none of our business."""
    address, token, has_login = given
    env = {"ANTHROPIC_BASE_URL": address} | ({NAME: token} if token else {})
    (tmp_path / "settings.json").write_text(json.dumps({"env": env}))
    if has_login:
        log_in(tmp_path)

    assert told(home, variables(tmp_path)) == wanted


@pytest.mark.parametrize(("given", "wanted"), TABLE)
def test_a_shell_that_leads_here(
    home: Home, tmp_path: Path, given: tuple[str, str, bool], wanted: list[tuple[Level, str]]
) -> None:
    """The same, but that a placeholder is wrong beside a login wherever the shell leads."""
    address, token, has_login = given
    if has_login:
        log_in(tmp_path)
    shell = variables(tmp_path, ANTHROPIC_BASE_URL=address, **({NAME: token} if token else {}))
    is_wrong = token == PLACEHOLDER and has_login

    assert told(home, shell) == ([(Level.WARN, ENV)] if is_wrong else [(level, ENV) for level, _ in wanted])


@pytest.mark.parametrize("found", [{"env": {"ANTHROPIC_API_KEY": "x"}}, {"apiKeyHelper": "echo"}])
def test_who_asks_by_a_key_needs_neither(home: Home, tmp_path: Path, found: dict[str, object]) -> None:
    """Another line is about that."""
    env = {"ANTHROPIC_BASE_URL": HERE, **dict(found.get("env", {}))}  # type: ignore[call-overload]
    (tmp_path / "settings.json").write_text(json.dumps({**found, "env": env}))

    assert told(home, variables(tmp_path, ANTHROPIC_BASE_URL=HERE)) == []


def test_settings_elsewhere_are_connected_by_name(home: Home, tmp_path: Path) -> None:
    """The command names them."""
    other = tmp_path / "other.json"
    connecting.lay(home, "claude", other, wishes.wishes(Reach(base_url=HERE, addresses=(LISTEN,))))

    assert told(home, variables(tmp_path)) == [(Level.FAIL, f"flowpool connect --settings {other}")]
