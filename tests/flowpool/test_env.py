"""env prints what a shell must run, and never a token."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from flowpool.env import SHELLS, lines
from home.checks import Address
from home.paths import Home
from home.settings import parse
from providers.anthropic.placeholder import PLACEHOLDER
from tests.flowpool.cli import Shell
from tests.flowpool.proxy import announce

ADDRESS = Address(host="127.0.0.1", port=3456)
PLAIN = """export ANTHROPIC_BASE_URL=http://127.0.0.1:3456
export ENABLE_TOOL_SEARCH=true
export CLAUDE_CODE_ENABLE_FINE_GRAINED_TOOL_STREAMING=1
"""
KEYED = "admit.key = true\n"
SECRETS = {
    "ANTHROPIC_CUSTOM_HEADERS": "X-Corp: PLANTED-header",
    "CLAUDE_CODE_OAUTH_TOKEN": "PLANTED-token",
    "ANTHROPIC_API_KEY": "PLANTED-key",
    "HTTPS_PROXY": "http://u:PLANTED-proxy@corp:1",
}


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A home for what is asked without a command."""
    return Home.find({"FLOWPOOL_HOME": str(tmp_path / "home")}).make()


def log_in(shell: Shell, text: str = '{"claudeAiOauth": {"accessToken": "PLANTED"}}') -> Path:
    """Let Claude Code have a login of its own; return its file."""
    path = shell.home / ".claude" / ".credentials.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_without_a_proxy_the_settings_count(shell: Shell) -> None:
    """The address of the settings is printed, with what it switches off, and nothing else."""
    log_in(shell)
    answer = shell.run("env")

    assert (answer.stdout, answer.stderr) == (PLAIN, "")


def test_without_a_login_the_placeholder_is_exported(shell: Shell) -> None:
    """Else Claude Code would say "Not logged in"; that is told, and it goes again with the first login."""
    answer = shell.run("env")
    assert answer.stdout == f"{PLAIN}export CLAUDE_CODE_OAUTH_TOKEN={PLACEHOLDER}\n"
    assert answer.stderr.startswith(
        "flowpool: Claude Code has no login of its own: CLAUDE_CODE_OAUTH_TOKEN is a placeh"
    )
    assert len(answer.stderr.splitlines()) == 1

    shell.environ["CLAUDE_CODE_OAUTH_TOKEN"] = PLACEHOLDER
    assert shell.run("env").stdout == PLAIN
    log_in(shell)
    answer = shell.run("env")
    assert (answer.stdout, answer.stderr) == (f"{PLAIN}unset CLAUDE_CODE_OAUTH_TOKEN\n", "")
    assert "Remove-Item Env:CLAUDE_CODE_OAUTH_TOKEN" in shell.run("env", "--shell", "powershell").stdout
    assert "set -e CLAUDE_CODE_OAUTH_TOKEN" in shell.run("env", "--shell", "fish").stdout


@pytest.mark.parametrize("where", ["shell", "settings"])
def test_a_token_of_the_persons_is_a_login(shell: Shell, where: str) -> None:
    """Wherever it is, it stays, and is not printed."""
    if where == "shell":
        shell.environ["CLAUDE_CODE_OAUTH_TOKEN"] = "PLANTED"
    else:
        log_in(shell, "{}").with_name("settings.json").write_text('{"env": {"CLAUDE_CODE_OAUTH_TOKEN": "PLANTED"}}')
    answer = shell.run("env")

    assert (answer.stdout, answer.stderr) == (PLAIN, "")


def test_the_running_proxy_counts_more(shell: Shell) -> None:
    """The real address of a running proxy is printed, whatever the settings say, and that they are wrong is told."""
    announce(shell.home, Address(host="::1", port=4567))
    (shell.home / "config.toml").write_text("broken")
    answer = shell.run("env")

    assert answer.stdout.splitlines()[0] == "export ANTHROPIC_BASE_URL='http://[::1]:4567'"
    assert "config.toml" in answer.stderr


def test_a_port_that_is_not_chosen_yet_cannot_be_printed(shell: Shell) -> None:
    """With port 0 and no proxy env fails, prints nothing on stdout, and says to start it."""
    shell.home.mkdir()
    (shell.home / "config.toml").write_text('listen.claude = "127.0.0.1:0"\n')
    answer = shell.run("env", code=1)

    assert answer.stdout == ""
    assert "flowpool start" in answer.stderr


def test_nothing_secret_is_printed(shell: Shell) -> None:
    """Neither of the person's tokens, headers or proxies, nor our own key but for the header that shows it."""
    shell.environ |= SECRETS
    shell.home.mkdir()
    (shell.home / "config.toml").write_text(KEYED)
    answer = shell.run("env")
    key = (shell.home / "client.key").read_text().strip()

    assert "PLANTED" not in answer.stdout + answer.stderr
    assert answer.stdout.count(key) == 1
    assert "export NO_PROXY=127.0.0.1" in answer.stdout
    assert "ANTHROPIC_API_KEY is set" in answer.stderr


def test_what_the_shell_has_is_not_printed_again(home: Home) -> None:
    """But for the address, and what the person set otherwise stays."""
    chosen = parse(home.config, b"wait.max = 700\n")
    has = {"ENABLE_TOOL_SEARCH": "false", "CLAUDE_CODE_ENABLE_FINE_GRAINED_TOOL_STREAMING": "1"}
    told = lines(home, chosen, ADDRESS, has | {"ANTHROPIC_BASE_URL": "http://127.0.0.1:3456"}, SHELLS["sh"])

    assert told == ["export ANTHROPIC_BASE_URL=http://127.0.0.1:3456", "export API_TIMEOUT_MS=730000"]


@pytest.mark.parametrize("theirs", ["", "X-Corp: a'b\nY: $HOME"])
@pytest.mark.parametrize("name", ["sh", "bash", "dash", "fish", "pwsh"])
def test_a_shell_understands_it(home: Home, name: str, theirs: str) -> None:
    """What it exports is what was meant, once it has run it, and the headers that were there stay."""
    if shutil.which(name) is None:
        pytest.skip(f"no {name} here")
    chosen = parse(home.config, KEYED.encode())
    has = {"PATH": "/usr/bin:/bin", **({"ANTHROPIC_CUSTOM_HEADERS": theirs} if theirs else {})}
    kind = {"fish": "fish", "pwsh": "powershell"}.get(name, "sh")
    script = "\n".join([*lines(home, chosen, ADDRESS, has, SHELLS[kind]), "printenv ANTHROPIC_CUSTOM_HEADERS"])
    done = subprocess.run([name, "-c", script], env=has, capture_output=True, text=True, check=True, timeout=30)
    key = home.client_key.read_text().strip()

    assert done.stdout == "\n".join([*([theirs] if theirs else []), f"x-flowpool-key: {key}", ""])
    got = has | {"ANTHROPIC_CUSTOM_HEADERS": done.stdout.removesuffix("\n")}
    assert not [line for line in lines(home, chosen, ADDRESS, got, SHELLS[kind]) if "HEADERS" in line]


def test_an_older_key_is_told(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    """Two keys would be none; what else is there is not printed, so the person takes it out."""
    chosen = parse(home.config, KEYED.encode())
    told = lines(home, chosen, ADDRESS, {"ANTHROPIC_CUSTOM_HEADERS": "X-Flowpool-Key: old"}, SHELLS["sh"])

    assert not [line for line in told if "HEADERS" in line]
    assert "older key" in capsys.readouterr().err


def test_powershell_knows_more_quotes_than_one() -> None:
    """Each of them would end a text, and what follows would be run."""
    assert SHELLS["powershell"].quote("a\u2019;b'\u201b") == "'a\u2019\u2019;b''\u201b\u201b'"


@pytest.mark.parametrize("kind", SHELLS)
def test_each_shell_has_its_words(shell: Shell, kind: str) -> None:
    """The first line says the address."""
    first = shell.run("env", "--shell", kind).stdout.splitlines()[0]

    assert (
        first
        == {
            "sh": "export ANTHROPIC_BASE_URL=http://127.0.0.1:3456",
            "fish": "set -gx ANTHROPIC_BASE_URL 'http://127.0.0.1:3456'",
            "powershell": "$env:ANTHROPIC_BASE_URL = 'http://127.0.0.1:3456'",
        }[kind]
    )
