"""Without the pool: the vendor itself is asked, with an account's own secret where one is named."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from providers.anthropic.placeholder import PLACEHOLDER
from tests.flowpool.cli import planted
from tests.flowpool.launch.pooled import KEYS, Pooled
from tests.upstream.tokens import login

ROOT = Path(__file__).parents[3]


def test_directly_nothing_of_ours_is_there(it: Pooled) -> None:
    """Also where a launch or a shell around it has the pool's address; no proxy is asked."""
    it.shell.environ |= {"ANTHROPIC_BASE_URL": it.url, "ANTHROPIC_CUSTOM_HEADERS": "x-flowpool-pin: a", **KEYS}
    it.shell.environ |= {"CLAUDE_CODE_OAUTH_TOKEN": PLACEHOLDER}
    environ = it.start("run", "--direct", "-p").environ

    assert not {"ANTHROPIC_BASE_URL", "ANTHROPIC_CUSTOM_HEADERS", "CLAUDE_CODE_OAUTH_TOKEN"} & environ.keys()
    assert KEYS.items() <= environ.items()
    assert it.heard == []


@pytest.mark.parametrize(
    ("kind", "name"), [("setup-token", "CLAUDE_CODE_OAUTH_TOKEN"), ("api-key", "ANTHROPIC_API_KEY")]
)
def test_directly_on_an_account_its_secret_is_the_clients(it: Pooled, kind: str, name: str) -> None:
    """And nobody else's: no other key, no address that is not the vendor's."""
    secret = {"setup-token": planted("work"), "api-key": planted("work").replace("oat01", "api03")}[kind]
    it.shell.add("work", kind=kind, secret=secret)
    it.shell.environ |= {"ANTHROPIC_BASE_URL": "https://gateway.example", **KEYS}
    answer = it.shell.run("run", "--direct", "--account", "work")
    environ = it.claude.start().environ
    it.claude.path.with_name(".claude.notes").unlink()  # it holds the secret, as it must

    assert environ[name] == secret
    assert not {*KEYS, "CLAUDE_CODE_OAUTH_TOKEN", "ANTHROPIC_BASE_URL"} - {name} & environ.keys()
    assert "gateway.example" not in answer.stderr
    assert "ANTHROPIC_BASE_URL is set, and not passed on" in answer.stderr


def test_directly_on_a_login_it_is_said_when_it_ends(it: Pooled) -> None:
    """Nobody renews it there; one that has ended is not started on."""
    for name, ends in {"ann": time.time() + 3600, "ben": time.time() - 3600}.items():
        it.shell.add(name, kind="oauth", secret=login(planted(name), expires_ms=int(ends * 1000)))
    it.shell.run("run", "--direct", "--account", "ann")
    it.claude.path.with_name(".claude.notes").unlink()

    assert "this session ends when the access token of ann does" in it.shell.shown[-1]
    assert "flowpool refresh ben" in it.shell.run("run", "--direct", "--account", "ben", code=1).stderr
    assert it.claude.starts() == []


def test_directly_on_an_account_without_a_secret_nothing_is_started(it: Pooled) -> None:
    """What gives it one is said."""
    it.shell.add("work")
    (it.shell.home / "secrets.json").unlink()

    assert "work" in it.shell.run("run", "--direct", "--account", "work", code=1).stderr
    assert it.claude.starts() == []


def laid(arguments: list[str]) -> Any:
    """What goes before all settings."""
    assert arguments[0] == "--settings"
    return json.loads(arguments[1] if arguments[1].startswith("{") else Path(arguments[1]).read_text())


def settings(it: Pooled, **found: Any) -> Path:
    """Write the person's own settings."""
    path = Path(it.shell.environ["CLAUDE_CONFIG_DIR"], "settings.json")
    path.write_text(json.dumps(found))
    return path


def test_settings_that_name_the_pool_are_gone_before(it: Pooled) -> None:
    """As `flowpool connect` writes them; another's address stays where no secret of ours could go there."""
    settings(it, env={"ANTHROPIC_BASE_URL": it.url, "ANTHROPIC_CUSTOM_HEADERS": "x-flowpool-key: k\nx-mine: 1"})
    start = it.start("run", "--direct", "-p", "hi")
    assert laid(start.arguments) == {"env": {"ANTHROPIC_BASE_URL": "", "ANTHROPIC_CUSTOM_HEADERS": "x-mine: 1"}}
    assert start.arguments[2:] == ["-p", "hi"]

    settings(it, env={"ANTHROPIC_BASE_URL": "https://gateway.example"})
    assert it.start("run", "--direct", "-p", "hi").arguments == ["-p", "hi"]


@pytest.mark.parametrize("where", ["nowhere", "the person", "the project", "its option"])
def test_no_settings_lead_an_accounts_secret_elsewhere(it: Pooled, tmp_path: Path, where: str) -> None:
    """Wherever they are; the secret is in no argument and in no file."""
    secret = planted("work")
    it.shell.add("work", secret=secret)
    found = {"env": {"ANTHROPIC_BASE_URL": "https://gateway.example", "ANTHROPIC_AUTH_TOKEN": "mine"}}
    given = ["--settings", json.dumps(found)] if where == "its option" else []
    if where == "the person":
        settings(it, **found)
    if where == "the project":
        (project := tmp_path / "project" / ".claude").mkdir(parents=True)
        (project / "settings.local.json").write_text(json.dumps(found))
    line = [sys.executable, "-P", "-m", "flowpool", "run", "--direct", "--account", "work", *given, "-p", "hi"]
    environ = {"FLOWPOOL_HOME": str(it.shell.home), "HOME": str(it.shell.home), "PYTHONPATH": str(ROOT)}
    environ |= {"PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring"} | it.shell.environ
    cwd = tmp_path / "project" if where == "the project" else tmp_path
    done = subprocess.run(line, env=environ, cwd=cwd, capture_output=True, text=True, check=False)
    start = it.claude.start()
    it.claude.path.with_name(".claude.notes").unlink()

    assert start.environ["CLAUDE_CODE_OAUTH_TOKEN"] == secret, done.stderr
    block = laid(start.arguments)["env"]
    assert block["ANTHROPIC_BASE_URL"] == ""
    assert block.get("ANTHROPIC_AUTH_TOKEN", "") == ""
    assert start.arguments[2:] == ["-p", "hi"]
    assert secret not in done.stderr + str(start.arguments)
    assert ("gateway.example" in str(start.arguments), "mine" in str(start.arguments)) == (False, False)


def test_a_token_in_settings_keeps_an_account_from_being_used(it: Pooled) -> None:
    """Ours would have to be written beside it to go first: that is not done."""
    it.shell.add("work")
    path = settings(it, env={"CLAUDE_CODE_OAUTH_TOKEN": "mine"})
    said = it.shell.run("run", "--direct", "--account", "work", code=1).stderr

    assert f"{path} sets CLAUDE_CODE_OAUTH_TOKEN" in said
    assert it.claude.starts() == []


def test_a_program_that_gives_keys_is_not_asked_beside_an_account(it: Pooled) -> None:
    """It would go before the account's secret."""
    it.shell.add("work")
    settings(it, apiKeyHelper="echo key")
    said = it.shell.run("run", "--direct", "--account", "work").stderr
    start = it.claude.start()
    it.claude.path.with_name(".claude.notes").unlink()

    assert laid(start.arguments)["apiKeyHelper"] == ""
    assert "apiKeyHelper is set, and not asked" in said
