"""link writes a small claude of ours, and takes it away again; nothing else is touched."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from flowpool.launch.binary import MARKER, is_link
from flowpool.launch.link import path_line, text, unlink
from home.paths import Home
from tests.flowpool.cli import Shell
from tests.flowpool.launch.claudes import StandIn
from tests.flowpool.launch.pooled import ALONE


def link(shell: Shell) -> Path:
    """Where it is written."""
    return shell.home / "bin" / "claude"


def test_a_link_is_written_once(shell: Shell) -> None:
    """It can be run by nobody else; a second time nothing changes, and the line for the PATH is said each time."""
    first = shell.run("link").stdout
    before = link(shell).stat()
    second = shell.run("link").stdout

    assert is_link(link(shell))
    assert before.st_mode & 0o777 == 0o700
    assert (link(shell).stat().st_ino, link(shell).stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert first.startswith(f"wrote {link(shell)}\n")
    assert second.startswith(f"there is already {link(shell)}\n")
    line = f'export PATH={link(shell).parent}:"$PATH"'
    assert first.rstrip().endswith(line)
    assert second.rstrip().endswith(line)
    assert list(link(shell).parent.iterdir()) == [link(shell)]


def test_one_of_an_older_flowpool_is_replaced(shell: Shell) -> None:
    """Whatever it ran."""
    link(shell).parent.mkdir(parents=True)
    link(shell).write_text(f"#!/bin/sh\n# {MARKER.decode()}\nexec /gone/python\n")

    assert shell.run("link").stdout.startswith("wrote ")
    assert sys.executable in link(shell).read_text()


def test_on_the_path_nothing_more_is_asked_for(shell: Shell) -> None:
    """Where it comes before the real one."""
    real = StandIn(shell.home.parent / "real" / "claude")
    shell.environ["PATH"] = f"{link(shell).parent}:{real.path.parent}"
    assert "goes through the pool" in shell.run("link").stdout

    shell.environ["PATH"] = f"{real.path.parent}:{link(shell).parent}"
    assert "first on the PATH" in shell.run("link").stdout


def test_removing_leaves_nothing(shell: Shell) -> None:
    """Also where there is nothing."""
    shell.run("link")
    assert shell.run("link", "--remove").stdout == f"removed {link(shell)}\n"
    assert not link(shell).parent.exists()
    assert shell.run("link", "--remove").stdout == "there is no link\n"


def test_a_file_of_somebody_elses_stays(shell: Shell) -> None:
    """Neither written over nor removed."""
    link(shell).parent.mkdir(parents=True)
    link(shell).write_text("mine")

    assert "is not flowpool's" in shell.run("link", code=1).stderr
    assert shell.run("link", "--remove").stdout == "there is no link\n"
    assert link(shell).read_text() == "mine"


def test_unlinking_says_what_it_undid(tmp_path: Path) -> None:
    """And keeps what else is in the folder."""
    home = Home.find({"FLOWPOOL_HOME": str(tmp_path)})
    home.link.parent.mkdir()
    (home.link.parent / "other").write_text("")
    home.link.write_text(text(home, {}))

    assert unlink(home) == [f"removed {home.link}"]
    assert unlink(home) == []
    assert (home.link.parent / "other").exists()


def test_the_home_is_found_again(tmp_path: Path) -> None:
    """Where a variable names it; who names another one when they run it gets that."""
    home = Home.find({"FLOWPOOL_HOME": str(tmp_path / "it's here")}).make()
    home.link.parent.mkdir()
    home.link.write_text(
        text(home, {"FLOWPOOL_HOME": "x"}).replace(f"exec {sys.executable}", "echo $FLOWPOOL_HOME; exec true")
    )
    home.link.chmod(0o700)

    def found(**more: str) -> str:
        line = [str(home.link)]
        return subprocess.run(line, env={"PATH": "/bin", **more}, capture_output=True, text=True, check=True).stdout

    assert found() == f"{home.state_folder}\n"
    assert found(FLOWPOOL_HOME="/other") == "/other\n"
    assert "FLOWPOOL_HOME" not in text(home, {})


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="names are text there")
def test_a_folder_whose_name_is_no_text(shell: Shell, tmp_path: Path) -> None:
    """It is a folder all the same; and the interpreter in the link is not taken for one that is gone."""
    folder = os.fsdecode(os.fsencode(tmp_path) + b"/h\xff")
    shell.environ |= {"FLOWPOOL_HOME": folder}
    shell.run("link")

    assert os.fsencode(folder) in Path(folder, "bin", "claude").read_bytes()


def test_without_its_interpreter_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An environment that was removed is no riddle."""
    monkeypatch.setattr(sys, "executable", "/gone/bin/python")
    home = Home.find({"FLOWPOOL_HOME": str(tmp_path)})
    home.link.parent.mkdir()
    home.link.write_text(text(home, {}))
    home.link.chmod(0o700)
    done = subprocess.run([home.link], capture_output=True, text=True, check=False)

    assert done.returncode == 127
    assert "/gone/bin/python is gone; run flowpool link again" in done.stderr


def test_on_windows_it_is_a_cmd(tmp_path: Path) -> None:
    """It has the same mark in its first line."""
    home = Home.find({"FLOWPOOL_HOME": str(tmp_path)})
    script = text(home, {"FLOWPOOL_HOME": "x"}, platform="win32")

    assert MARKER.decode() in script.splitlines()[0]
    assert script.splitlines()[-1] == f'@"{Path(sys.executable).absolute()}" -P -m flowpool.launch.linked %*'
    assert f"={tmp_path}" in script


PATH_LINES = [
    ("linux", "/bin/bash", 'export PATH=/b:"$PATH"'),
    ("darwin", "/bin/zsh", 'export PATH=/b:"$PATH"'),
    ("linux", "/usr/bin/fish", "fish_add_path --move /b"),
    ("linux", "", 'export PATH=/b:"$PATH"'),
    ("win32", "", '$env:Path = "/b;$env:Path"'),
]


@pytest.mark.parametrize(("platform", "shell", "wanted"), PATH_LINES)
def test_each_shell_has_its_line(platform: str, shell: str, wanted: str) -> None:
    """In its own words."""
    assert path_line(Path("/b"), {"SHELL": shell}, platform) == wanted


@ALONE
def test_without_claude_code_that_is_said(shell: Shell) -> None:
    """The link is written, and how to get what it starts is told."""
    said = shell.run("link")
    assert said.stdout.startswith("wrote ")
    assert said.stderr.startswith("flowpool: there is no claude, neither on the PATH nor where it usually is; install")
    assert said.stderr.endswith("npm install -g @anthropic-ai/claude-code; until then it starts nothing\n")

    StandIn(shell.home.parent / "real" / "claude")
    shell.environ["PATH"] = str(shell.home.parent / "real")
    assert shell.run("link").stderr == ""
