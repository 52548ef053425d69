"""What launchd is asked, and what its answers mean."""

import os
from pathlib import Path

import pytest

from flowpool.errors import Failure
from flowpool.launch.launchctl import Launchd
from flowpool.launch.manager import Standing
from tests.flowpool.launch.systems import LAUNCHCTL, Programs

TARGET = f"gui/{os.getuid()}/io.github.flowpool.proxy"


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Programs:
    """Launchd's program, first on the PATH."""
    found = Programs(tmp_path / "bin", launchctl=LAUNCHCTL)
    monkeypatch.setenv("PATH", found.path)
    monkeypatch.setenv("HOME", str(tmp_path))
    found.put("started", printed("running", "(never exited)"))
    return found


def printed(state: str, code: str) -> str:
    """What `launchctl print` says."""
    pid = "\tpid = 7\n" if state == "running" else ""
    return f"{TARGET} = {{\n\tactive count = 1\n\tstate = {state}\n\n{pid}\tlast exit code = {code}\n}}\n"


def launchd(tmp_path: Path) -> Launchd:
    """Its manager."""
    return Launchd(tmp_path / "service.log")


@pytest.mark.parametrize(
    ("state", "code", "standing"),
    [
        ("running", "(never exited)", Standing(is_enabled=True, is_running=True, word="running", pid=7)),
        ("not running", "0", Standing(is_enabled=True, word="not running, last exit code 0")),
        (
            "spawn scheduled",
            "78: EX_CONFIG",
            Standing(is_enabled=True, is_failed=True, word="spawn scheduled, last exit code 78: EX_CONFIG"),
        ),
    ],
)
def test_a_state_is_read(programs: Programs, tmp_path: Path, state: str, code: str, standing: Standing) -> None:
    """Of one that is loaded."""
    programs.put("loaded", printed(state, code))
    assert launchd(tmp_path).look() == standing
    programs.put("disabled", f'\t"{TARGET.rpartition("/")[2]}" => disabled\n')
    assert not launchd(tmp_path).look().is_enabled


def test_one_that_is_not_loaded_does_not_run(programs: Programs, tmp_path: Path) -> None:
    """Launchd knows nothing of it."""
    del programs
    assert launchd(tmp_path).look() == Standing(word="not loaded")


def test_it_is_loaded_once(programs: Programs, tmp_path: Path) -> None:
    """What runs by the same text goes on; what runs by another, or does not run, is ended first; each way it is enabled."""
    manager = launchd(tmp_path)
    enable, load = f"launchctl enable {TARGET}", f"launchctl bootstrap gui/{os.getuid()} {manager.path}"
    manager.start(None, b"a")
    assert programs.changes() == [enable, load]

    programs.forget()
    manager.start(b"a", b"a")
    assert programs.changes() == [enable]

    programs.put("loaded", printed("spawn scheduled", "1"))
    programs.forget()
    manager.start(b"a", b"a")
    assert programs.changes() == [f"launchctl bootout {TARGET}", enable, load]

    programs.forget()
    manager.start(b"a", b"b")
    assert programs.changes() == [f"launchctl bootout {TARGET}", enable, load]


def test_what_is_refused_is_told(programs: Programs, tmp_path: Path) -> None:
    """In launchd's own words."""
    programs.put("fails", "Bootstrap failed: 5: Input/output error\n")
    with pytest.raises(Failure, match="Bootstrap failed: 5: Input/output error; run: flowpool service logs"):
        launchd(tmp_path).start(None, b"a")


def test_it_is_ended_once(programs: Programs, tmp_path: Path) -> None:
    """And nothing is asked for what is not loaded; its log goes with it."""
    manager = launchd(tmp_path)
    manager.stop()
    assert programs.changes() == []
    manager.start(None, b"a")
    (tmp_path / "service.log").write_text("one\ntwo\n")
    assert manager.said(1) == "two"
    assert manager.follow(1) == ("tail", "-n", "1", "-F", str(tmp_path / "service.log"))
    manager.stop()
    manager.forget()
    assert programs.changes()[-1] == f"launchctl bootout {TARGET}"
    assert manager.look() == Standing(word="not loaded")
    assert manager.said(1) == ""
    assert manager.follow(1) == ()


def test_without_a_session_it_says_so(programs: Programs, tmp_path: Path) -> None:
    """Over ssh alone there is none at the screen."""
    launchd(tmp_path).reach()
    programs.put("unreachable", "")
    with pytest.raises(Failure, match="log in at the screen, then run: flowpool service install"):
        launchd(tmp_path).reach()
