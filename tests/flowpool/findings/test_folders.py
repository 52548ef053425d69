"""Who else can enter our folders or read our secrets is told, with what ends it."""

import sys
from pathlib import Path

import pytest

from flowpool.findings.finding import Level
from flowpool.findings.folders import folders
from home.paths import Home

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there modes say nothing")


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A home of two private folders."""
    home = Home(config_folder=tmp_path / "config", state_folder=tmp_path / "state")
    return home.make()


def test_private_ones_are_one_line(home: Home) -> None:
    """Whatever lies in them, as long as the secrets are private too."""
    for path in (home.secrets, home.control_key):
        path.touch(0o600)
    home.config.touch(0o644)

    (found,) = folders(home)
    assert (found.level, found.message) == (
        Level.OK,
        f"only you can enter {home.config_folder} and {home.state_folder}",
    )


def test_none_is_no_fault(tmp_path: Path) -> None:
    """They are made with the first account, and not by looking."""
    (found,) = folders(Home(config_folder=tmp_path / "x", state_folder=tmp_path / "x"))

    assert found.level is Level.SKIP
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize("mode", [0o701, 0o710, 0o755, 0o777])
def test_an_open_folder_is_a_warning(home: Home, mode: int) -> None:
    """What is in it may still be private."""
    home.state_folder.chmod(mode)
    (found,) = folders(home)

    assert (found.level, found.mend) == (Level.WARN, f"chmod 700 {home.state_folder}")


@pytest.mark.parametrize("name", ["secrets", "control_key", "client_key"])
@pytest.mark.parametrize("mode", [0o604, 0o640, 0o620])
def test_an_open_secret_fails(home: Home, name: str, mode: int) -> None:
    """It is not used until it is private again."""
    path: Path = getattr(home, name)
    path.touch()
    path.chmod(mode)
    (found,) = folders(home)

    assert (found.level, found.mend) == (Level.FAIL, f"chmod 600 {path}")


def test_another_users_folder_fails(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever owns it can read it whatever its mode."""
    monkeypatch.setattr("os.getuid", lambda: 4711)

    assert {found.level for found in folders(home)} == {Level.FAIL}
    assert folders(home)[0].mend == f"sudo chown -R 4711 {home.config_folder}"


def test_a_file_in_its_place_fails(tmp_path: Path) -> None:
    """Nothing can be kept in it."""
    file = tmp_path / "x"
    file.touch(0o600)
    (found,) = folders(Home(config_folder=file, state_folder=file))

    assert (found.level, found.message, found.mend) == (Level.FAIL, f"{file} is no folder", f"ls -ld {file}")
