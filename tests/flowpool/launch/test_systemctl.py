"""What systemd is asked, and what its answers mean."""

import os
from pathlib import Path

import pytest

from flowpool.errors import Failure
from flowpool.launch import systemctl
from flowpool.launch.manager import Standing
from flowpool.launch.systemctl import Systemd
from tests.flowpool.launch.systems import Programs, systemd, unit_state

UNIT = b"ExecStart=a\nTimeoutStopSec=1\n"


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Programs:
    """Systemd's programs, first on the PATH."""
    found = systemd(tmp_path / "bin")
    monkeypatch.setenv("PATH", found.path)
    return found


NOON = "Mon 2026-01-05 12:00:00 UTC"
STATES = [
    (
        unit_state("active", "running", pid=7),
        Standing(is_enabled=True, is_running=True, word="active (running)", pid=7, since=NOON),
    ),
    (
        unit_state("reloading", "reload", pid=7),
        Standing(is_enabled=True, is_running=True, word="reloading (reload)", pid=7, since=NOON),
    ),
    (unit_state("inactive", "dead", enabled=False), Standing(word="inactive (dead)", since=NOON)),
    (
        unit_state("failed", "failed", result="exit-code"),
        Standing(is_enabled=True, is_failed=True, word="failed (exit-code)", since=NOON),
    ),
    (
        unit_state("activating", "auto-restart"),
        Standing(is_enabled=True, is_failed=True, word="activating (auto-restart)", since=NOON),
    ),
    (
        unit_state("activating", "start", pid=8),
        Standing(is_enabled=True, word="activating (start)", pid=8, since=NOON),
    ),
]


@pytest.mark.parametrize(("said", "standing"), STATES)
def test_a_state_is_read(programs: Programs, said: str, standing: Standing) -> None:
    """A service that waits to be started again has failed."""
    programs.put("state", said)

    assert Systemd().look() == standing


def test_no_answer_is_no_state(programs: Programs) -> None:
    """What systemd cannot tell is not known."""
    programs.put("state", "")

    assert Systemd().look().word.startswith("not known")


@pytest.mark.parametrize(
    ("before", "stops"),
    [(None, False), (UNIT, False), (UNIT.replace(b"=1", b"=2"), False), (b"ExecStart=b\n", True)],
)
def test_a_unit_is_taken_up(programs: Programs, before: bytes | None, stops: bool) -> None:
    """It is enabled and started; one that runs otherwise than it says now is ended first. Nobody waits for a start that may fail."""
    Systemd().start(before, UNIT)

    assert programs.changes() == [
        "systemctl --user daemon-reload",
        "systemctl --user reset-failed flowpool.service",
        "systemctl --user enable flowpool.service",
        *(["systemctl --user stop flowpool.service"] if stops else []),
        "systemctl --user start --no-block flowpool.service",
    ]


def test_one_that_is_tried_again_is_ended_first(programs: Programs) -> None:
    """Systemd would not start it before its turn."""
    programs.put("state", unit_state("activating", "auto-restart"))
    Systemd().start(UNIT, UNIT)

    assert programs.changes()[-2:] == [
        "systemctl --user stop flowpool.service",
        "systemctl --user start --no-block flowpool.service",
    ]


def test_it_is_ended_and_forgotten(programs: Programs, tmp_path: Path) -> None:
    """Also where nobody managed it: the link that enables it is a file."""
    manager = Systemd({"XDG_CONFIG_HOME": str(tmp_path)})
    link = manager.path.parent / "default.target.wants" / "flowpool.service"
    link.parent.mkdir(parents=True)
    link.symlink_to(manager.path)
    manager.stop()
    manager.forget()

    assert not link.is_symlink()
    assert programs.changes() == [
        "systemctl --user disable --now flowpool.service",
        "systemctl --user daemon-reload",
        "systemctl --user reset-failed flowpool.service",
    ]


def test_it_is_forgotten_without_systemctl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """There is nobody to tell."""
    monkeypatch.setenv("PATH", str(tmp_path))
    Systemd({"XDG_CONFIG_HOME": str(tmp_path)}).forget()


@pytest.mark.parametrize(("given", "folder"), [("/c", "/c"), ("relative", "~/.config"), ("", "~/.config")])
def test_the_unit_lies_where_systemd_looks(given: str, folder: str) -> None:
    """A folder that is no whole path is ignored, as systemd does."""
    found = Systemd({"XDG_CONFIG_HOME": given}).path

    assert found == Path(folder).expanduser() / "systemd" / "user" / "flowpool.service"


def test_without_a_manager_it_says_what_brings_one(programs: Programs, monkeypatch: pytest.MonkeyPatch) -> None:
    """Behind `su` or ssh without a session the address is missing, or the manager itself."""
    programs.put("unreachable", "Failed to connect to bus: No medium found\n")
    with pytest.raises(Failure) as error:
        Systemd({}).reach()

    uid = os.getuid()
    assert str(error.value) == (
        "your user's systemd does not answer (Failed to connect to bus: No medium found); run: "
        f"sudo loginctl enable-linger {uid}; export XDG_RUNTIME_DIR=/run/user/{uid}, then: flowpool service install"
    )
    monkeypatch.setattr(Path, "exists", lambda _: True)
    with pytest.raises(Failure, match=f"run: export XDG_RUNTIME_DIR=/run/user/{uid}, then: flowpool service install$"):
        Systemd({}).reach()


def test_without_systemd_there_is_another_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line for cron."""
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Failure, match=r"there is no systemctl.* run: flowpool start.*@reboot"):
        Systemd({}).reach()


def test_the_journal_is_shown(programs: Programs) -> None:
    """Its last lines; nothing where it has none."""
    assert Systemd().said(5) == ""
    programs.put("journal", "one\ntwo\n")
    assert Systemd().said(5) == "one\ntwo"
    assert programs.calls[-1] == "journalctl --user --unit flowpool.service --no-pager --quiet --lines 5"
    assert Systemd().follow(5)[-1] == "--follow"


def test_lingering_is_told_until_it_is_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is the person's to turn on."""
    monkeypatch.setattr(systemctl, "LINGERING", tmp_path)
    monkeypatch.setattr("getpass.getuser", lambda: "ann")
    assert "loginctl enable-linger" in Systemd().hints()[0]
    (tmp_path / "ann").touch()
    assert Systemd().hints() == ()
