"""The link: by way of the pool where the proxy answers at once, else as if it were not there."""

from __future__ import annotations

import json
import os
import platform as platforms
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from flowpool.launch import binary, linked, starting
from tests.flowpool.cli import Shell
from tests.flowpool.launch.claudes import StandIn, Started
from tests.flowpool.launch.pooled import ALONE, KEYS, Pooled, answering, pooled
from tests.flowpool.proxy import announce, listening, reply

HEAVY = ("click", "rich", "sqlalchemy", "mitmproxy", "providers.anthropic", "keyring", "cryptography", "asyncio")


class Linked:
    """Our link, first on the PATH."""

    def __init__(self, it: Pooled) -> None:
        it.shell.run("link")
        self.it = it
        self.path = it.shell.home / "bin" / "claude"

    def run(
        self, *arguments: str, code: int = 0, more: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run it, as a person's shell would, with more variables."""
        environ = self.it.shell.environ | {"HOME": str(self.it.shell.home), **(more or {})}
        environ["PATH"] = f"{self.path.parent}:{environ['PATH']}"
        done = subprocess.run(
            ["claude", *arguments], env=environ, executable=self.path, capture_output=True, text=True, check=False
        )
        self.it.shell.shown += [done.stdout, done.stderr]
        assert done.returncode == code, done.stderr
        return done

    def start(self, *arguments: str, **more: str) -> tuple[Started, str]:
        """How it started the real one, and what it said."""
        said = self.run(*arguments, more=more).stderr
        found = self.it.claude.starts()[-1]
        assert found.arguments == list(arguments)
        return found, said


@pytest.fixture
def link(it: Pooled) -> Linked:
    """The link of a pool whose proxy answers."""
    return Linked(it)


@pytest.fixture
def alone(shell: Shell, tmp_path: Path) -> Linked:
    """The link of a pool without a proxy."""
    return Linked(pooled(shell, tmp_path))


def test_it_goes_through_the_pool(link: Linked) -> None:
    """As run does, and says nothing."""
    start, said = link.start("-p", "say hi")

    assert start.environ["ANTHROPIC_BASE_URL"] == link.it.url
    assert start.environ["ENABLE_TOOL_SEARCH"] == "true"
    assert said == ""


def test_its_code_is_the_real_ones(link: Linked) -> None:
    """Whatever it is."""
    type(link.it.claude)(link.it.claude.path, "sys.exit(9)")

    link.run(code=9)


@pytest.mark.parametrize("name", KEYS)
def test_with_an_api_key_it_steps_aside(link: Linked, name: str) -> None:
    """The person chose another mode: nothing of theirs is taken away, and the proxy is not asked."""
    start, said = link.start("-p", **{name: KEYS[name]})

    assert (start.environ[name], "ANTHROPIC_BASE_URL" in start.environ) == (KEYS[name], False)
    assert said == f"flowpool: Claude Code is started without the pool: {name} is set\n"
    assert link.it.heard == []


def test_beside_an_api_key_nothing_of_ours_is_passed_on(link: Linked) -> None:
    """Its key would go to whoever is at the person's own address."""
    more = {"ANTHROPIC_API_KEY": "mine", "ANTHROPIC_CUSTOM_HEADERS": "x-flowpool-key: k\nX-Mine: 1"}
    start, _ = link.start("-p", ANTHROPIC_BASE_URL="https://gateway.example", **more)
    assert start.environ["ANTHROPIC_CUSTOM_HEADERS"] == "X-Mine: 1"
    assert start.environ["ANTHROPIC_BASE_URL"] == "https://gateway.example"

    start, _ = link.start("-p", ANTHROPIC_BASE_URL=link.it.url, **more)
    assert "ANTHROPIC_BASE_URL" not in start.environ


@pytest.mark.parametrize("command", ["mcp", "update", "--version"])
def test_for_management_it_is_not_there(link: Linked, command: str) -> None:
    """Nothing is said, nobody is asked."""
    start, said = link.start(command, "list")

    assert (said, link.it.heard, "ANTHROPIC_BASE_URL" in start.environ) == ("", [], False)


def test_without_a_proxy_it_steps_aside(alone: Linked) -> None:
    """In one line; an address of the person's own stays."""
    start, said = alone.start("-p", ANTHROPIC_BASE_URL="https://gateway.example")

    assert start.environ["ANTHROPIC_BASE_URL"] == "https://gateway.example"
    assert said == "flowpool: Claude Code is started without the pool: no proxy runs; start one with: flowpool start\n"


def test_without_a_proxy_its_address_is_left_out(alone: Linked) -> None:
    """What a shell or a launch around it has of ours leads to nobody."""
    start, _ = alone.start(
        "-p", ANTHROPIC_BASE_URL="http://127.0.0.1:3456", ANTHROPIC_CUSTOM_HEADERS="x-flowpool-pin: a"
    )

    assert not {"ANTHROPIC_BASE_URL", "ANTHROPIC_CUSTOM_HEADERS"} & start.environ.keys()


def test_without_a_proxy_settings_lead_to_nobody_either(alone: Linked) -> None:
    """What `flowpool connect` wrote is gone before; settings of the person's own are heeded."""
    path = Path(alone.it.shell.environ["CLAUDE_CONFIG_DIR"], "settings.json")
    path.write_text(json.dumps({"env": {"ANTHROPIC_BASE_URL": "http://localhost:3456"}}))
    alone.run("-p", "hi")
    path.write_text(json.dumps({"env": {"ANTHROPIC_BASE_URL": "https://gateway.example"}}))
    alone.run("-p", "hi")
    ours, theirs = alone.it.claude.starts()

    assert ours.arguments == ["--settings", '{"env": {"ANTHROPIC_BASE_URL": ""}}', "-p", "hi"]
    assert theirs.arguments == ["-p", "hi"]


@pytest.mark.parametrize("found", [{"env": {"ANTHROPIC_API_KEY": "sk-ant-api03-x"}}, {"apiKeyHelper": "echo"}])
def test_with_a_key_in_settings_it_steps_aside(link: Linked, found: dict[str, object]) -> None:
    """As with one in the environment."""
    Path(link.it.shell.environ["CLAUDE_CONFIG_DIR"], "settings.json").write_text(json.dumps(found))
    start, said = link.start("-p")

    assert "ANTHROPIC_BASE_URL" not in start.environ
    assert said.endswith(" is set\n")


def test_settings_that_cannot_be_read_do_not_keep_it(alone: Linked) -> None:
    """Claude Code is started as it was asked for, and one more line says why it may lead nowhere."""
    path = Path(alone.it.shell.environ["CLAUDE_CONFIG_DIR"], "settings.json")
    path.write_text(json.dumps({"env": {"ANTHROPIC_BASE_URL": "http://localhost:3456"}}))
    _, said = alone.start("--settings", "{", "-p")

    assert len(said.splitlines()) == 2


def test_a_proxy_that_says_nothing_is_not_waited_for(alone: Linked) -> None:
    """Longer than half a second."""
    with listening(None, []) as address:
        announce(alone.it.shell.home, address)
        begun = time.monotonic()
        _, said = alone.start("-p")

    assert "did not answer within 0.5 s" in said
    assert time.monotonic() - begun < 5


ANSWERS = [
    (b'{"status": "draining", "pid": PID, "in_flight": 2}', "about to end"),
    (b'{"status": "ok", "pid": 1}', "another program"),
    (b"<html>", "another program"),
]


@pytest.mark.parametrize(("answer", "why"), ANSWERS)
def test_what_is_not_our_proxy_is_not_used(alone: Linked, answer: bytes, why: str) -> None:
    """Nor one that is about to end."""
    with listening(reply(answer.replace(b"PID", b"%d" % os.getpid())), []) as address:
        announce(alone.it.shell.home, address)
        start, said = alone.start("-p")

    assert "ANTHROPIC_BASE_URL" not in start.environ
    assert why in said
    assert len(said.splitlines()) == 1


def test_with_broken_settings_it_steps_aside(link: Linked) -> None:
    """The first fault is told."""
    link.it.config("broken")
    start, said = link.start("-p")

    assert "ANTHROPIC_BASE_URL" not in start.environ
    assert said.startswith("flowpool: Claude Code is started without the pool: ")
    assert "config.toml" in said
    assert len(said.splitlines()) == 1


def test_with_a_home_that_cannot_be_it_steps_aside(link: Linked) -> None:
    """A name of somebody who is not there."""
    start, said = link.start("-p", FLOWPOOL_HOME="~nobody-here/x")

    assert "ANTHROPIC_BASE_URL" not in start.environ
    assert "without the pool" in said


def test_another_installations_link_is_passed_over(link: Linked, tmp_path: Path) -> None:
    """Neither of two starts the other."""
    other = tmp_path / "other" / "claude"
    other.parent.mkdir()
    other.write_text(link.path.read_text())
    other.chmod(0o700)
    start, _ = link.start("-p", PATH=f"{other.parent}:{link.it.shell.environ['PATH']}")

    assert start.program == str(link.it.claude.path)


def wrapper(path: Path, script: str) -> Path:
    """Somebody's own claude, which starts the one on the PATH."""
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o700)
    return path


def test_a_wrapper_that_starts_us_is_looked_past(link: Linked, tmp_path: Path) -> None:
    """The real one behind it gets its turn, with the wrapper's words."""
    its = wrapper(tmp_path / "wrapper" / "claude", f'exec {link.path} --verbose "$@"')
    link.run("-p", more={"PATH": f"{its.parent}:{link.it.shell.environ['PATH']}"})

    assert link.it.claude.start().arguments == ["--verbose", "-p"]


@ALONE
def test_wrappers_alone_come_to_an_end(link: Linked, tmp_path: Path) -> None:
    """Those that take our place, and those that start us as their child, each with a word."""
    its = wrapper(tmp_path / "wrapper" / "claude", f'exec {link.path} "$@"')
    link.it.claude.path.unlink()
    alone = {"PATH": f"{its.parent}:/usr/bin:/bin"}
    said = link.run("-p", code=127, more=alone).stderr
    assert f"every claude there is starts flowpool again: {its}" in said

    wrapper(its, f'{link.path} "$@"\nexit $?')
    assert f"again and again: {its}" in link.run("-p", code=127, more=alone).stderr


@ALONE
def test_without_claude_code_it_ends_as_a_shell_would(link: Linked) -> None:
    """How to get it is said."""
    link.it.claude.path.unlink()

    assert "npm install -g @anthropic-ai/claude-code" in link.run("-p", code=127).stderr


def test_what_lies_where_it_is_started_is_no_module_of_ours(link: Linked, tmp_path: Path) -> None:
    """A folder that somebody opens with Claude Code is not to be trusted."""
    for name in ("flowpool", "json", "socket"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit(66)")
    line = [str(link.path), "-p"]
    environ = link.it.shell.environ | {"HOME": str(tmp_path)}
    done = subprocess.run(line, env=environ, cwd=tmp_path, capture_output=True, check=False)

    assert done.returncode == 0, done.stderr


def test_little_is_loaded_before_the_real_one_is_started(link: Linked) -> None:
    """It stands before every start: what is slow to load stays out, and X107: nothing asks Windows who it is."""
    code = (
        "import sys, platform\nfrom flowpool.launch import linked, starting\n"
        "platform.system = platform.uname = platform.machine = lambda *_: 1 / 0\n"
        "import flowpool.launch.starting\nlinked.become = starting.become = lambda *_: 0\n"
        "import flowpool.launch.launching as launching\nlaunching.become = lambda *_: 0\n"
        "sys.argv = ['claude', '-p']\nprint(linked.main(), *sys.modules)"
    )
    environ = link.it.shell.environ | {"FLOWPOOL_HOME": str(link.it.shell.home), "HOME": str(link.it.shell.home)}
    done = subprocess.run([sys.executable, "-P", "-c", code], env=environ, capture_output=True, text=True, check=True)
    result, *loaded = done.stdout.split()

    assert (result, done.stderr) == ("0", "")
    assert link.it.heard
    assert not set(HEAVY) & set(loaded)
    assert callable(platforms.system)


def test_a_console_that_cannot_show_a_letter_ends_nothing(alone: Linked) -> None:
    """X107: what is said goes out with the letters that a console of Windows has."""
    home = str(alone.it.shell.home / "ж")
    done = alone.run("-p", more={"FLOWPOOL_HOME": f"~{home}/x", "PYTHONIOENCODING": "cp1252"})

    assert "without the pool" in done.stderr


def test_it_runs_on_windows_as_a_child(it: Pooled, monkeypatch: pytest.MonkeyPatch) -> None:
    """X108: the whole path of a `claude.cmd`, whose code is ours."""
    shim = StandIn(it.claude.path.with_name("claude.cmd"), "sys.exit(4)")
    for name, value in it.shell.environ.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("FLOWPOOL_HOME", str(it.shell.home))
    monkeypatch.setattr(sys, "argv", ["claude", "-p", "two words"])
    find, become = binary.find, starting.become
    monkeypatch.setenv("PATH", str(shim.path.parent))
    monkeypatch.setenv("PATHEXT", ".EXE;.CMD")
    monkeypatch.setattr(binary, "find", lambda variables, ours: find(variables, ours=ours, platform="win32"))
    monkeypatch.setattr(
        "flowpool.launch.launching.become",
        lambda program, arguments, environ: become(program, arguments, environ, platform="win32"),
    )

    assert linked.main() == 4
    assert shim.start().program == str(shim.path)
    assert shim.start().arguments == ["-p", "two words"]


def test_a_launch_inside_another_is_as_one_alone(it: Pooled, link: Linked) -> None:
    """A session whose shell starts claude again, through the link or by run, and without the pool as it was before."""
    outer = it.start("run", "--", "-p")
    it.shell.environ |= {n: v for n, v in outer.environ.items() if n not in ("FLOWPOOL_STARTED", "PATH")}
    inner, said = link.start("-p")

    ours = {"ANTHROPIC_BASE_URL", "FLOWPOOL_CHANGED", "ENABLE_TOOL_SEARCH"}
    assert {name: inner.environ[name] for name in ours} == {name: outer.environ[name] for name in ours}
    assert said == ""
    assert not ours & it.start("run", "--direct", "-p").environ.keys()
    with answering(it):
        assert link.start("-p")[0].environ["ANTHROPIC_BASE_URL"] == it.url


def test_without_an_account_and_a_login_it_steps_aside(link: Linked, tmp_path: Path) -> None:
    """Claude Code says that it is not logged in, and our line why nobody else stands in."""
    (tmp_path / "client" / ".credentials.json").unlink()
    start, said = link.start("-p")
    assert "ANTHROPIC_BASE_URL" not in start.environ
    assert said == (
        "flowpool: Claude Code is started without the pool: the pool has no account yet; run: flowpool login NAME\n"
    )

    link.it.shell.add("work")
    start, said = link.start("-p")
    assert start.environ["ANTHROPIC_BASE_URL"] == link.it.url
    assert said.startswith("flowpool: no account is the primary")
