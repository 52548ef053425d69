"""`flowpool login` with the real Claude Code, as far as that goes without a network."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.clients.test_claude_code import claude
from tests.e2e.harness import ROOT
from tests.terminal import CTRL_C, Terminal

pytestmark = pytest.mark.clients

ADDRESS = "/oauth/authorize?code=true&client_id="


def opened(home: Path, *arguments: str) -> Terminal:
    """Run `flowpool login ARGUMENTS` on a terminal, in a home of its own, with a login in the environment that must not count."""
    env = {
        "PATH": os.defpath,
        "HOME": str(home),
        "FLOWPOOL_HOME": str(home),
        "DISABLE_AUTOUPDATER": "1",
        "BROWSER": "true",
        "ANTHROPIC_API_KEY": "sk-ant-api03-TEST-trap",
        "CLAUDE_CODE_OAUTH_TOKEN": "sk-ant-oat01-TEST-trap",
    }
    return Terminal([sys.executable, "-m", "flowpool", "login", *arguments, "--claude", str(claude())], env, ROOT)


def test_the_vendors_program_asks_in_its_own_folder(tmp_path: Path) -> None:
    """It shows where to log in and asks for the code; its files are in the folder, and gone with it after Ctrl-C."""
    with opened(tmp_path, "work") as terminal:
        terminal.until(ADDRESS)
        terminal.until("Paste code here if prompted")
        (folder,) = tmp_path.glob(".flowpool-login-*")
        assert (folder / ".claude.json").exists()
        terminal.type(CTRL_C)
        shown = terminal.end(1)

    assert shown.endswith(
        f"flowpool: the login was stopped; nothing was saved; to begin anew, run: flowpool login work --claude {claude()}\n"
    )
    assert not folder.exists()
    assert not (tmp_path / ".claude.json").exists()
    assert not (tmp_path / ".claude").exists()


def test_a_code_that_nobody_takes_saves_nothing(tmp_path: Path) -> None:
    """Without a network the vendor's program says why and ends; so do we."""
    with opened(tmp_path, "work") as terminal:
        terminal.until("Paste code here if prompted")
        terminal.type("code#state\r")
        shown = terminal.end(1)

    assert "Login failed" in shown
    assert shown.endswith(f"no login came out of it; nothing was saved; run: flowpool login work --claude {claude()}\n")
    assert not (tmp_path / "accounts.toml").exists()
    assert not list(tmp_path.glob(".flowpool-login-*"))


def test_a_setup_token_is_made_in_its_own_folder_too(tmp_path: Path) -> None:
    """Its screen shows an address as well."""
    with opened(tmp_path, "--setup-token") as terminal:
        terminal.until(ADDRESS)
        assert len(list(tmp_path.glob(".flowpool-login-*"))) == 1
        terminal.child.terminate()
        terminal.end(128 + 15)

    assert not list(tmp_path.glob(".flowpool-login-*"))
