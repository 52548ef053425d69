"""Whose file it is that describes the service, and how it differs from ours."""

import sys
from pathlib import Path

import pytest

from flowpool import installing
from flowpool.errors import Failure
from flowpool.launch import installed
from flowpool.launch.installed import Difference
from flowpool.launch.program import program
from flowpool.launch.systemctl import Systemd
from home.paths import Home


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """A home that FLOWPOOL_HOME names."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    monkeypatch.setenv("FLOWPOOL_HOME", str(tmp_path / "home"))
    return Home(config_folder=tmp_path / "home", state_folder=tmp_path / "home").make()


@pytest.fixture
def manager(tmp_path: Path) -> Systemd:
    """A manager whose file is the test's."""
    found = Systemd({"XDG_CONFIG_HOME": str(tmp_path)})
    found.path.parent.mkdir(parents=True)
    return found


def test_none_is_none(home: Home, manager: Systemd) -> None:
    """A file that is not there is nobody's."""
    assert installed.read(manager) is None
    assert installed.read_ours(manager, home) is None


def test_ours_does_not_differ(home: Home, manager: Systemd) -> None:
    """As long as it is what would be written now."""
    text = manager.text(program(home))
    manager.path.write_bytes(text)
    assert installed.read_ours(manager, home) == text
    assert installed.differs(home, manager, text) is None

    older = text.replace(b"RestartSec=1", b"RestartSec=9")
    manager.path.write_bytes(older)
    assert installed.read_ours(manager, home) == older
    assert installed.differs(home, manager, older) == Difference(
        "it is not as this flowpool would write it", "flowpool service install"
    )


def test_another_homes_is_told(home: Home, manager: Systemd, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the folders that lead there, also where those are the usual ones."""
    text = manager.text(program(home))
    manager.path.write_bytes(text.replace(str(home.state_folder).encode(), b"/else where"))
    with pytest.raises(Failure, match=r"run: FLOWPOOL_HOME='/else where' flowpool service uninstall$"):
        installed.read_ours(manager, home)

    lines = [line for line in text.splitlines() if b"FLOWPOOL_HOME" not in line]
    usual = installed.differs(home, manager, b"\n".join(lines))
    assert usual == Difference(
        "it runs the proxy of the usual folders, and there is one service for each person",
        "env -u FLOWPOOL_HOME flowpool service uninstall",
        is_foreign=True,
    )
    monkeypatch.delenv("FLOWPOOL_HOME")
    ours = installed.differs(home, manager, text)
    assert ours
    assert ours.what.startswith(f"it runs the proxy of FLOWPOOL_HOME={home.state_folder},")


def test_a_strangers_is_told(home: Home, manager: Systemd) -> None:
    """It has not our mark."""
    assert installed.differs(home, manager, b"[Service]\n") == Difference(
        "flowpool did not write it", f"mv {manager.path} {manager.path}.old", is_foreign=True
    )


def test_beside_an_installation_that_will_not_last_it_is_anothers(
    home: Home, manager: Systemd, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What runs from a temporary folder would write none."""
    text = manager.text(program(home))
    monkeypatch.setattr("tempfile.tempdir", str(Path(sys.executable).parents[1]))

    assert installed.differs(home, manager, text) == Difference(
        "another installation of flowpool wrote it", installing.command()
    )
