"""A service runs an installation that stays, for the home that it was installed from."""

import re
import sys
from pathlib import Path

import pytest

from flowpool import installing
from flowpool.errors import Failure
from flowpool.launch import program
from home.paths import Home


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A home without a file."""
    return Home(config_folder=tmp_path / "home", state_folder=tmp_path / "home").make()


@pytest.fixture
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Temporary files lie where this interpreter does not."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))


@pytest.mark.usefixtures("_elsewhere")
def test_it_is_this_interpreter_and_has_time_to_drain(home: Home) -> None:
    """What is in flight gets drain_s, and the end of it some seconds more."""
    home.config.write_text("limits.drain_s = 20\n")
    found = program.program(home, {"FLOWPOOL_HOME": "x", "PATH": "/bin", "CLAUDE_CONFIG_DIR": "/c"})

    assert found.python == sys.executable
    assert found.stop_s == 35
    assert found.environment == {"FLOWPOOL_HOME": str(home.state_folder), "CLAUDE_CONFIG_DIR": "/c"}
    assert found.log.parent == home.log.parent


def test_what_is_in_a_temporary_folder_is_refused(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """It would be gone when the machine starts again; how to install it for good is said."""
    monkeypatch.setattr("tempfile.tempdir", str(Path(sys.executable).parents[1]))

    with pytest.raises(Failure, match=rf"will not last.*; run: {re.escape(installing.command())}$"):
        program.program(home, {})


@pytest.mark.parametrize(
    ("python", "is_temporary"),
    [
        ("/home/ann/.local/share/uv/tools/flowpool/bin/python", False),
        ("/home/ann/.local/share/pipx/venvs/flowpool/bin/python", False),
        ("/home/ann/.cache/uv/archive-v0/abc/bin/python", True),
        ("/home/ann/.cache/uv/environments-v2/abc/bin/python", True),
        ("/home/ann/.local/share/pipx/.cache/abc/bin/python", True),
        ("/home/ann/.cache/pipx/abc/bin/python", True),
        ("/usr/bin/python3", False),
    ],
)
@pytest.mark.usefixtures("_elsewhere")
def test_what_runs_packages_once_throws_them_away(python: str, is_temporary: bool) -> None:
    """`uvx` and `pipx run` are no installations."""
    assert program.is_temporary(Path(python)) is is_temporary


ENVIRONS = [  # environ, what is carried
    ({}, {}),
    ({"XDG_CONFIG_HOME": "/c", "XDG_STATE_HOME": "/s"}, {"XDG_CONFIG_HOME": "/c", "XDG_STATE_HOME": "/s"}),
    ({"XDG_CONFIG_HOME": "relative", "XDG_STATE_HOME": ""}, {}),
    ({"FLOWPOOL_HOME": "~/pool", "XDG_STATE_HOME": "/s"}, {"FLOWPOOL_HOME": "/state"}),
    ({"PYTHON_KEYRING_BACKEND": "x.Y", "ANTHROPIC_API_KEY": "k"}, {"PYTHON_KEYRING_BACKEND": "x.Y"}),
]


@pytest.mark.parametrize(("environ", "carried"), ENVIRONS)
def test_what_decides_where_files_are_is_carried(environ: dict[str, str], carried: dict[str, str]) -> None:
    """And nothing else of the environment, which may hold secrets."""
    home = Home(config_folder=Path("/config"), state_folder=Path("/state"))

    assert program.environment(home, environ) == carried


def test_one_home_is_told_from_another() -> None:
    """By the folders alone."""
    assert program.leading({"FLOWPOOL_HOME": "/a", "CLAUDE_CONFIG_DIR": "/c"}) == {"FLOWPOOL_HOME": "/a"}
    assert program.leading({"XDG_STATE_HOME": "/a", "PYTHON_KEYRING_BACKEND": "x"}) == {"XDG_STATE_HOME": "/a"}
    assert program.leading({}) == {}
