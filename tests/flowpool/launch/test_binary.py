"""The real program is found, and never one of ours."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from flowpool.errors import Failure
from flowpool.launch import places
from flowpool.launch.binary import MARKER, find, is_link
from flowpool.launch.loops import marked


@pytest.fixture(autouse=True)
def no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no program of this machine be found."""
    monkeypatch.setattr(places, "_MACHINES", ())


@pytest.fixture
def person(tmp_path: Path) -> dict[str, str]:
    """The variables of somebody with an empty folder and two on the PATH."""
    for name in ("one", "two", "me"):
        (tmp_path / name).mkdir()
    return {"HOME": str(tmp_path / "me"), "PATH": f"{tmp_path / 'one'}{os.pathsep}{tmp_path / 'two'}"}


def program(path: Path, text: str = "#!/bin/sh\n") -> Path:
    """A program."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o700)
    return path


def ours(path: Path) -> Path:
    """A link of ours."""
    return program(path, f"#!/bin/sh\n# {MARKER.decode()}: x\n")


def versioned(person: dict[str, str], number: str) -> Path:
    """A program of that version that is not on the PATH."""
    return program(Path(person["HOME"]) / ".local" / "share" / "claude" / "versions" / number)


def test_the_path_goes_first_and_in_its_order(person: dict[str, str], tmp_path: Path) -> None:
    """A newer one elsewhere does not count: the order is the person's own."""
    second = program(tmp_path / "two" / "claude")
    versioned(person, "99.0.0")
    assert find(person, ours=None) == second

    assert find(person, ours=None) != program(tmp_path / "one" / "claude.txt")
    assert find(person, ours=None) == second
    assert program(tmp_path / "one" / "claude") == find(person, ours=None)


def test_elsewhere_the_highest_version_wins(person: dict[str, str]) -> None:
    """As numbers, not as text; one that tells no version comes last."""
    program(Path(person["HOME"]) / ".local" / "bin" / "claude")
    assert find(person, ours=None).parent.name == "bin"

    versioned(person, "2.1.9")
    newest = versioned(person, "2.1.10")
    assert find(person, ours=None) == newest


def test_none_of_ours_is_found(person: dict[str, str], tmp_path: Path) -> None:
    """Neither our link, nor a symlink to it, nor that of another installation."""
    own = ours(tmp_path / "one" / "claude")
    ours(Path(person["HOME"]) / ".local" / "bin" / "claude")
    (tmp_path / "two" / "claude").symlink_to(own)
    with pytest.raises(Failure, match="npm install"):
        find(person, ours=own)

    real = versioned(person, "2.1.9")
    assert find(person, ours=own) == real
    assert is_link(tmp_path / "two" / "claude")


def test_what_took_our_links_name_is_found_nowhere(person: dict[str, str], tmp_path: Path) -> None:
    """A file where our link is to be is not ours to start either."""
    here = program(tmp_path / "one" / "claude")

    with pytest.raises(Failure):
        find(person, ours=here)


def test_what_cannot_be_run_is_passed_over(person: dict[str, str], tmp_path: Path) -> None:
    """A folder, a file without the right to run it, a link to nothing."""
    (tmp_path / "one" / "claude").mkdir()
    program(tmp_path / "two" / "claude").chmod(0o600)
    local = Path(person["HOME"]) / ".claude" / "local" / "claude"
    local.parent.mkdir(parents=True)
    local.symlink_to("/gone")

    with pytest.raises(Failure, match="there is no claude"):
        find(person, ours=None)


def test_a_folder_that_cannot_be_looked_into_is_passed_over(person: dict[str, str], tmp_path: Path) -> None:
    """Its name is longer than any can be, which is an error as another person's folder is; both are on some PATH."""
    real = program(tmp_path / "two" / "claude")

    assert find(person | {"PATH": f"/{'x' * 300}:{person['PATH']}"}, ours=None) == real


def test_a_wrapper_that_starts_us_again_is_looked_past(person: dict[str, str], tmp_path: Path) -> None:
    """The one behind it is found; where there is none, all that were tried are named."""
    wrapper = program(tmp_path / "one" / "claude")
    again = marked(person, wrapper)
    with pytest.raises(Failure, match=str(wrapper)):
        find(again, ours=None)

    real = program(tmp_path / "two" / "claude")
    assert find(person, ours=None) == wrapper
    assert find(again, ours=None) == real


def test_a_cmd_shim_is_found_with_its_whole_path(tmp_path: Path) -> None:
    """X108: the PATH of Windows holds only what npm made, which nothing starts by its name alone."""
    shim = program(tmp_path / "npm" / "claude.cmd", "@echo off\n")
    shim.chmod(0o600)
    variables = {"PATH": f'C:\\gone;"{tmp_path / "npm"}"', "PATHEXT": ".COM;.EXE;.CMD", "USERPROFILE": str(tmp_path)}

    assert find(variables, ours=None, platform="win32") == shim


def test_pathext_says_which_comes_first(tmp_path: Path) -> None:
    """As Windows itself would choose; without the variable by its own list."""
    folder = tmp_path / "npm"
    shim, native = program(folder / "claude.cmd"), program(folder / "claude.exe")
    variables = {"PATH": str(folder), "USERPROFILE": str(tmp_path)}

    assert find(variables | {"PATHEXT": ".CMD;.EXE"}, ours=None, platform="win32") == shim
    assert find(variables, ours=None, platform="win32") == native
