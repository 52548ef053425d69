"""Where a Claude Code may be that is not on the PATH, and how new each is."""

import json
from pathlib import Path

import pytest

from flowpool.launch.places import PACKAGE, elsewhere, version


def package(folder: Path, number: object) -> Path:
    """Install a package as npm does; return its program."""
    folder.mkdir(parents=True)
    (folder / "package.json").write_text(json.dumps({"name": PACKAGE, "version": number}))
    program = folder / "cli.js"
    program.write_text("")
    return program


def test_the_vendors_installer_tells_by_the_name(tmp_path: Path) -> None:
    """Its program is named by its version, and the link in the person's folder leads to it."""
    program = tmp_path / "versions" / "2.1.332"
    program.parent.mkdir()
    program.write_text("")
    link = tmp_path / "claude"
    link.symlink_to(program)

    assert version(link) == (2, 1, 332)


def test_npm_tells_by_the_package(tmp_path: Path) -> None:
    """Of a program in it, of a link to that, and of a shim beside it."""
    program = package(tmp_path / "lib" / "node_modules" / PACKAGE, "2.0.10-beta.1")
    (tmp_path / "bin").mkdir()
    link = tmp_path / "bin" / "claude"
    link.symlink_to(program)
    shim = tmp_path / "lib" / "claude.cmd"
    shim.write_text("")

    assert [version(one) for one in (program, link, shim)] == [(2, 0, 10)] * 3


@pytest.mark.parametrize("number", ["", "next", None, 7, [2]])
def test_what_tells_nothing_is_the_oldest(tmp_path: Path, number: object) -> None:
    """Neither do a package that is damaged, or another one, or none."""
    program = package(tmp_path / PACKAGE, number)
    (tmp_path / "package.json").write_text("{")

    assert version(program) == version(tmp_path / "gone") == ()


def test_each_place_is_looked_at(tmp_path: Path) -> None:
    """What the installers, npm's settings and managers of Node's versions use, for this person and for all."""
    node = tmp_path / ".nvm" / "versions" / "node" / "v22.1.0" / "bin"
    node.mkdir(parents=True)
    installed = tmp_path / ".local" / "share" / "claude" / "versions" / "2.1.3"
    installed.mkdir(parents=True)
    (tmp_path / ".npmrc").write_text("registry = x\nprefix = ~/packages\n")
    found = list(elsewhere({"HOME": str(tmp_path), "NPM_CONFIG_PREFIX": "/opt/npm"}, "linux", ("claude",)))

    wanted = [
        ".local/bin/claude",
        ".claude/local/claude",
        ".volta/bin/claude",
        ".bun/bin/claude",
        "packages/bin/claude",
    ]
    assert {tmp_path / one for one in wanted} <= set(found)
    assert {node / "claude", installed, Path("/opt/npm/bin/claude"), Path("/opt/homebrew/bin/claude")} <= set(found)


def test_windows_has_its_own_places(tmp_path: Path) -> None:
    """There npm puts its shims into the roaming folder, without a folder for programs."""
    variables = {"USERPROFILE": str(tmp_path), "APPDATA": str(tmp_path / "Roaming"), "HOME": "/elsewhere"}
    found = list(elsewhere(variables, "win32", ("claude.exe", "claude.cmd")))

    assert {tmp_path / ".local/bin/claude.exe", tmp_path / "Roaming" / "npm" / "claude.cmd"} <= set(found)
    assert not [path for path in found if str(path).startswith(("/opt", "/usr", "/elsewhere"))]
