"""Whether the system starts the proxy, and by a file that this flowpool would write."""

import os
from pathlib import Path

import pytest

from flowpool.findings.finding import Finding, ok, skip, warn
from flowpool.findings.service import service
from flowpool.launch.binary import MARKER
from flowpool.launch.program import program
from flowpool.launch.systemctl import Systemd
from home.paths import Home
from tests.flowpool.launch.systems import Programs, systemd, unit_state

RENEW = "flowpool service install"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """A home that FLOWPOOL_HOME names, of a person whose folders are the test's."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    monkeypatch.setenv("FLOWPOOL_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return Home(config_folder=tmp_path / "home", state_folder=tmp_path / "home").make()


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Programs:
    """Systemd's programs."""
    found = systemd(tmp_path / "bin", os.getpid())
    monkeypatch.setenv("PATH", found.path)
    return found


def install(home: Home) -> Path:
    """Write the unit as it is to be."""
    manager = Systemd()
    manager.path.parent.mkdir(parents=True)
    manager.path.write_bytes(manager.text(program(home)))
    return manager.path


@pytest.mark.usefixtures("programs")
def test_settings_that_point_here_are_enough(home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Then nobody points Claude Code at it by hand."""
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path))
    (tmp_path / "settings.json").write_text('{"env": {"ANTHROPIC_BASE_URL": "http://127.0.0.1:3456"}}')

    assert service(home) == skip("service", "none is installed: you start the proxy yourself", RENEW)


@pytest.mark.usefixtures("programs")
def test_none_is_nobodys_fault(home: Home) -> None:
    """What then is to be done by hand is said; with the link it is less."""
    found = service(home)
    assert (found.level, found.mend) == ("skip", "flowpool setup")
    assert found.message.startswith("neither a service nor the link is there")

    home.link.parent.mkdir(parents=True, exist_ok=True)
    home.link.write_bytes(b"#!/bin/sh\n# " + MARKER + b"\n")
    assert service(home) == skip("service", "none is installed: you start the proxy yourself", RENEW)


def test_windows_has_none(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """And nothing is missing."""
    monkeypatch.setattr("flowpool.launch.managers.sys.platform", "win32")
    assert service(home) == skip("service", "this system has none for one person's own programs")


@pytest.mark.parametrize(
    ("state", "found"),
    [
        (unit_state("active", "running", pid=7), ok("service", "systemd runs it, pid 7")),
        (
            unit_state("active", "running", pid=7, enabled=False),
            warn("service", "systemd runs it, but will not start it by itself", RENEW),
        ),
        (
            unit_state("failed", "failed", result="exit-code"),
            warn("service", "systemd does not run it: failed (exit-code)", "flowpool service logs"),
        ),
    ],
)
def test_how_it_stands_is_told(home: Home, programs: Programs, state: str, found: Finding) -> None:
    """By its manager's word."""
    install(home)
    programs.put("state", state)
    assert service(home) == found


@pytest.mark.usefixtures("programs")
def test_another_versions_unit_is_told(home: Home) -> None:
    """It is written anew by installing it again."""
    path = install(home)
    path.write_bytes(path.read_bytes().replace(b"-P -m", b"-m"))
    assert service(home) == warn("service", f"{path}: it is not as this flowpool would write it", RENEW)


def test_what_cannot_be_asked_is_told(home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A unit in a place without systemd, and one that cannot be read."""
    path = install(home)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert service(home) == warn("service", "systemctl is not on the PATH, so nothing runs a service", "flowpool start")
    path.unlink()
    path.mkdir()
    assert service(home).message.startswith(f"{path}: not a plain file")
