"""connect points every start of Claude Code at the pool, touches its own keys alone, and disconnect gives all back."""

import json
from pathlib import Path

import pytest

from flowpool.errors import Failure
from flowpool.launch import connect
from home.checks import Address
from home.paths import Home
from providers.anthropic.placeholder import PLACEHOLDER
from tests.flowpool.cli import Shell
from tests.flowpool.proxy import announce

SETTINGS = """{
    // plugins of mine
    "enabledPlugins": {
        "formatter@team": true
    },
    "env": { "FOO": "1", "ANTHROPIC_CUSTOM_HEADERS": "X-A: 1" },
    "permissions": {"deny": ["Read(./.env)"]}, /* keep */
    "statusLine": null
}\r
"""
RESTORED = {"ENABLE_TOOL_SEARCH": "true", "CLAUDE_CODE_ENABLE_FINE_GRAINED_TOOL_STREAMING": "1"}


@pytest.fixture
def client(shell: Shell) -> Path:
    """Claude Code's settings, as a person keeps them who is logged in."""
    path = shell.home / ".claude" / "settings.json"
    path.parent.mkdir(parents=True)
    path.write_text(SETTINGS, newline="")
    log_in(path.parent)
    return path


def log_in(folder: Path) -> Path:
    """Let a Claude Code whose folder this is have a login of its own; return its file."""
    file = folder / ".credentials.json"
    file.parent.mkdir(exist_ok=True)
    file.write_text('{"claudeAiOauth": {"accessToken": "x"}}')
    return file


def set_up(shell: Shell, text: str) -> None:
    """Write config.toml."""
    (shell.home / "config.toml").write_text(text)


def env(path: Path) -> dict[str, str]:
    """What plain settings say of the environment."""
    found: dict[str, str] = json.loads(path.read_text())["env"]
    return found


def test_x100_everything_else_stays_to_the_byte(shell: Shell, client: Path) -> None:
    """Plugins, a nested env, comments, order and line ends; twice on and twice off is once."""
    said = shell.run("connect")
    after = client.read_text(newline="")
    assert after == SETTINGS.replace(
        '"X-A: 1" }',
        '"X-A: 1", "ANTHROPIC_BASE_URL": "http://127.0.0.1:3456", "ENABLE_TOOL_SEARCH": "true", '
        '"CLAUDE_CODE_ENABLE_FINE_GRAINED_TOOL_STREAMING": "1" }',
    )
    assert (
        "Claude Code uses http://127.0.0.1:3456, however it is started; to undo it: flowpool disconnect" in said.stdout
    )
    assert said.stderr.splitlines()[-1] == "flowpool: no proxy runs yet; run: flowpool start"
    assert f"Claude Code passes over all of {client}" in said.stderr  # it knows no comments
    assert shell.run("connect").stdout == f"{client}: unchanged, Claude Code uses http://127.0.0.1:3456\n"
    assert client.read_text(newline="") == after

    assert shell.run("disconnect").stdout.startswith(
        f"{client}: as before, without ANTHROPIC_BASE_URL, ENABLE_TOOL_SEARCH"
    )
    assert client.read_text(newline="") == SETTINGS
    assert shell.run("disconnect").stdout == "nothing of flowpool's is in Claude Code's settings\n"
    assert client.read_text(newline="") == SETTINGS


def test_settings_without_comments_are_read(shell: Shell, client: Path) -> None:
    """So nothing is said of that."""
    client.write_text("{}")

    assert "passes over" not in shell.run("connect").stderr


def test_the_persons_own_address_comes_back(shell: Shell, client: Path) -> None:
    """It is said that it is remembered, and its value is not shown."""
    client.write_text('{"env": {"ANTHROPIC_BASE_URL": "https://gateway.example"}}')
    said = shell.run("connect")
    assert "your own ANTHROPIC_BASE_URL comes back with: flowpool disconnect" in said.stderr
    assert "gateway" not in said.stdout + said.stderr
    shell.run("disconnect")

    assert env(client) == {"ANTHROPIC_BASE_URL": "https://gateway.example"}


def test_a_running_proxy_says_where_it_is(shell: Shell, client: Path) -> None:
    """Not the address that config.toml has; and then nothing more needs to be started."""
    announce(shell.home, Address(host="0.0.0.0", port=4711))

    assert "no proxy runs" not in shell.run("connect").stderr
    assert '"http://127.0.0.1:4711"' in client.read_text()


def test_waits_are_minded_as_in_env(shell: Shell, client: Path) -> None:
    """A client waits for as long as a request may pause in the proxy."""
    set_up(shell, "[wait]\nmax = 1200\n")
    client.write_text("{}")
    shell.run("connect")

    assert (
        env(client)
        == {"ANTHROPIC_BASE_URL": "http://127.0.0.1:3456", "API_TIMEOUT_MS": env(client)["API_TIMEOUT_MS"]} | RESTORED
    )
    assert int(env(client)["API_TIMEOUT_MS"]) > 1_200_000


def test_a_key_is_handed_on_in_private(shell: Shell, client: Path) -> None:
    """Beside the person's own headers; never into a file that others can read, nor onto the screen; and it goes again."""
    set_up(shell, "[admit]\nkey = true\n")
    client.write_text('{"env": {"ANTHROPIC_CUSTOM_HEADERS": "X-A: 1"}}')
    client.chmod(0o644)
    client.parent.chmod(0o755)
    assert f"run: chmod 600 '{client}'" in shell.run("connect", code=1).stderr
    client.chmod(0o600)
    said = shell.run("connect")
    key = (shell.home / "client.key").read_text().strip()
    assert env(client)["ANTHROPIC_CUSTOM_HEADERS"] == f"X-A: 1\nx-flowpool-key: {key}"
    assert key not in said.stdout + said.stderr

    set_up(shell, "")
    shell.run("connect")
    assert env(client)["ANTHROPIC_CUSTOM_HEADERS"] == "X-A: 1"
    shell.run("disconnect")
    assert client.read_text() == '{"env": {"ANTHROPIC_CUSTOM_HEADERS": "X-A: 1"}}'


def test_an_address_that_changes_at_each_start_is_refused(shell: Shell, client: Path) -> None:
    """Settings would lead nowhere after the next one."""
    set_up(shell, '[listen]\nclaude = "127.0.0.1:0"\n')

    assert "another at each start" in shell.run("connect", code=1).stderr
    assert client.read_text(newline="") == SETTINGS


def test_a_file_that_is_no_object_is_refused(shell: Shell, client: Path) -> None:
    """With its line, by 2, and left."""
    client.write_text('{\n  "a": 1\n  "b": 2\n}')

    assert shell.run("connect", code=2).stderr.startswith(
        f"flowpool: {client}:3: a comma or }} is missing; it is left as it is"
    )
    assert client.read_text() == '{\n  "a": 1\n  "b": 2\n}'


def test_settings_elsewhere(shell: Shell, client: Path, tmp_path: Path) -> None:
    """Named by the person, made with its folder; disconnect finds them by itself, and takes away what was made."""
    other = tmp_path / "other" / "settings.json"
    shell.run("connect", "--settings", str(other))
    assert env(other)["ANTHROPIC_BASE_URL"] == "http://127.0.0.1:3456"
    assert client.read_text(newline="") == SETTINGS
    assert shell.run("disconnect").stdout == f"{other}: removed, for nothing else was in it\n"

    assert not other.parent.exists()


def test_claude_codes_own_variable_is_minded(shell: Shell, client: Path, tmp_path: Path) -> None:
    """As by Claude Code itself; what was connected before is undone all the same."""
    shell.environ["CLAUDE_CONFIG_DIR"] = str(tmp_path / "config")
    log_in(tmp_path / "config")
    shell.run("connect")
    assert env(tmp_path / "config" / "settings.json") == {"ANTHROPIC_BASE_URL": "http://127.0.0.1:3456"} | RESTORED
    assert client.read_text(newline="") == SETTINGS
    del shell.environ["CLAUDE_CONFIG_DIR"]
    shell.run("disconnect")

    assert not (tmp_path / "config" / "settings.json").exists()


def test_without_a_login_the_placeholder_is_put_there(shell: Shell, client: Path) -> None:
    """Else Claude Code would say "Not logged in"; once there is a login, connect takes it out, as disconnect does."""
    login = client.parent / ".credentials.json"
    login.unlink()
    client.write_text("{}")
    said = shell.run("connect").stdout
    assert env(client)["CLAUDE_CODE_OAUTH_TOKEN"] == PLACEHOLDER
    assert said.count("Claude Code has no login of its own: CLAUDE_CODE_OAUTH_TOKEN is a placeholder") == 1
    shell.run("connect")
    assert env(client)["CLAUDE_CODE_OAUTH_TOKEN"] == PLACEHOLDER

    log_in(client.parent)
    assert "CLAUDE_CODE_OAUTH_TOKEN is out again" in shell.run("connect").stdout
    assert "CLAUDE_CODE_OAUTH_TOKEN" not in env(client)
    login.unlink()
    shell.run("connect")
    shell.run("disconnect")
    assert client.read_text() == "{}"


def test_a_placeholder_of_which_nothing_is_known_goes_too(shell: Shell, client: Path) -> None:
    """With the first connect of one who has a login, and by disconnect."""
    text = f'{{"env": {{"CLAUDE_CODE_OAUTH_TOKEN": "{PLACEHOLDER}"}}}}'
    client.write_text(text)
    assert "is out again" in shell.run("connect").stdout
    assert "CLAUDE_CODE_OAUTH_TOKEN" not in env(client)
    shell.run("disconnect")

    client.write_text(text)
    assert shell.run("disconnect").stdout == f"{client}: as before, without CLAUDE_CODE_OAUTH_TOKEN\n"
    assert env(client) == {}


def test_a_token_of_the_persons_stays(shell: Shell, client: Path) -> None:
    """It is a login, and no placeholder goes beside it."""
    (client.parent / ".credentials.json").unlink()
    client.write_text('{"env": {"CLAUDE_CODE_OAUTH_TOKEN": "mine"}}')
    said = shell.run("connect")

    assert env(client)["CLAUDE_CODE_OAUTH_TOKEN"] == "mine"
    assert "CLAUDE_CODE_OAUTH_TOKEN" not in said.stdout + said.stderr


def test_a_login_beside_other_settings_is_one(shell: Shell, client: Path, tmp_path: Path) -> None:
    """They may be of a Claude Code that has its own folder."""
    (client.parent / ".credentials.json").unlink()
    other = tmp_path / "other" / "settings.json"
    log_in(other.parent)
    shell.run("connect", "--settings", str(other))
    assert "CLAUDE_CODE_OAUTH_TOKEN" not in env(other)

    (other.parent / ".credentials.json").unlink()
    shell.run("connect", "--settings", str(other))
    assert env(other)["CLAUDE_CODE_OAUTH_TOKEN"] == PLACEHOLDER


def test_a_projects_settings_are_refused(shell: Shell, tmp_path: Path) -> None:
    """They are shared with others."""
    path = tmp_path / "project" / ".claude" / "settings.json"
    (tmp_path / "project" / ".git").mkdir(parents=True)

    for command in ("connect", "disconnect"):
        assert "are a project's settings" in shell.run(command, "--settings", str(path), code=2).stderr
    assert not path.exists()


def test_what_the_person_changed_since_stays(shell: Shell, client: Path) -> None:
    """And that is said."""
    shell.run("connect")
    client.write_text(client.read_text().replace("http://127.0.0.1:3456", "https://gateway.example"))
    said = shell.run("disconnect").stdout

    assert f"{client}: changed since, so it stays: ANTHROPIC_BASE_URL\n" in said
    assert '"ANTHROPIC_BASE_URL": "https://gateway.example"' in client.read_text()
    assert "ENABLE_TOOL_SEARCH" not in client.read_text()


def test_two_pools_give_back_what_was_there_in_any_order(shell: Shell, client: Path) -> None:
    """What the second put in place of the first's comes back as the first's, which still knows the person's own."""
    original = '{"env": {"ANTHROPIC_BASE_URL": "https://gateway.example"}}'
    client.write_text(original)
    other = Shell(home=shell.home.parent / "other", environ={"CLAUDE_CONFIG_DIR": str(client.parent)})
    other.home.mkdir()
    set_up(other, 'listen.claude = "127.0.0.1:3999"\n')
    for it in (shell, other):
        it.run("connect")
    assert "changed since" in shell.run("disconnect").stdout
    other.run("disconnect")
    assert env(client)["ANTHROPIC_BASE_URL"] == "http://127.0.0.1:3456"
    shell.run("disconnect")

    assert client.read_text() == original
    assert not (shell.home / "connected.json").exists()


def test_one_file_that_cannot_be_changed_keeps_no_other(shell: Shell, client: Path, tmp_path: Path) -> None:
    """Both are told, and it ends with 1."""
    other = tmp_path / "settings.json"
    shell.run("connect", "--settings", str(other))
    shell.run("connect")
    other.write_text("{")
    said = shell.run("disconnect", code=1).stderr

    assert f"flowpool: {other}:1: " in said
    assert f"flowpool: {client}: as before" in said
    assert client.read_text(newline="") == SETTINGS


def test_undo_makes_nothing_where_nothing_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No folder of ours, no lock."""
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "client"))
    home = Home(config_folder=tmp_path / "home", state_folder=tmp_path / "home")

    assert connect.undo(home) == []
    assert list(tmp_path.iterdir()) == []


def test_undo_raises_with_all_that_was_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """For `uninstall`, which goes on."""
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path))
    home = Home(config_folder=tmp_path / "home", state_folder=tmp_path / "home")
    (tmp_path / "settings.json").write_text("[] // nothing that could be ours")
    assert connect.undo(home) == []
    (tmp_path / "settings.json").write_text('["ANTHROPIC_BASE_URL"]')

    with pytest.raises(Failure, match=r"settings.json:1: it must hold one JSON object"):
        connect.undo(home)
