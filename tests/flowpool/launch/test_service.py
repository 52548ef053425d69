"""`flowpool service`, whole commands beside stand-ins for systemd's programs; tests/e2e/test_service.py has the real ones."""

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner

from flowpool.launch import service as commands
from flowpool.launch import systemd as units
from home import controlkey
from home.paths import Home
from tests.flowpool.cli import Shell
from tests.flowpool.launch.systems import systemd, unit_state
from tests.flowpool.proxy import announce, listening, reply

HEALTH = json.dumps({"status": "ok", "pid": os.getpid()}).encode()


class Place:
    """A person's machine: the shell, the programs of its systemd, and where the unit is to lie."""

    def __init__(self, shell: Shell, folder: Path) -> None:
        self.shell, self.programs = shell, systemd(folder / "bin", os.getpid())
        self.unit = folder / "config" / "systemd" / "user" / "flowpool.service"
        shell.home.mkdir()
        (shell.home / "config.toml").write_text('listen.claude = "127.0.0.1:0"\n')
        temporary = folder / "temporary"
        temporary.mkdir()
        shell.environ |= {
            "PATH": self.programs.path,
            "XDG_CONFIG_HOME": str(folder / "config"),
            "TMPDIR": str(temporary),
            "LOGNAME": "ann",
        }

    @contextmanager
    def proxy(self) -> Iterator[str]:
        """A proxy that is there once the service is started, and says that it is this process; yields its address."""
        with listening(reply(HEALTH), []) as address:
            announce(self.shell.home, address)
            self.by_hand.rename(self.programs.folder / "running.json")
            yield str(address)

    @property
    def by_hand(self) -> Path:
        """What a proxy that runs leaves in its home."""
        return self.shell.home / "running.json"


@pytest.fixture
def place(shell: Shell, tmp_path: Path) -> Place:
    """A machine without a service."""
    return Place(shell, tmp_path)


def test_install_twice_and_uninstall(place: Place) -> None:
    """It is written, enabled, started and answers; again it is unchanged; then nothing of it is left."""
    with place.proxy() as address:
        first = place.shell.run("service", "install")
        text = place.unit.read_bytes()
        place.programs.forget()
        again = place.shell.run("service", "install")
        gone = place.shell.run("service", "uninstall")

    assert first.stdout == (
        f"{place.unit}: installed\nthe proxy answers at {address}; to see how it does: flowpool service status\n"
    )
    assert "loginctl enable-linger" in first.stderr
    assert units.environment(text) == {
        "FLOWPOOL_HOME": str(place.shell.home),
        "PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring",
    }
    assert f'ExecStart="{sys.executable}" -P -m flowpool serve' in text.decode()
    assert again.stdout.startswith(f"{place.unit}: unchanged\n")
    assert gone.stdout == f"stopped the service, which systemd starts no more\nremoved {place.unit}\n"
    assert not place.unit.exists()
    assert place.programs.changes() == [
        f"systemctl --user {what}"
        for what in (
            "daemon-reload",
            "reset-failed flowpool.service",
            "enable flowpool.service",
            "start --no-block flowpool.service",
            "disable --now flowpool.service",
            "daemon-reload",
            "reset-failed flowpool.service",
        )
    ]


def test_nothing_installed_is_nothing_to_undo(place: Place) -> None:
    """And no failure."""
    assert place.shell.run("service", "uninstall").stdout == f"no service is installed: there is no {place.unit}\n"
    assert place.programs.changes() == []


def test_an_older_unit_is_rewritten_and_its_process_replaced(place: Place) -> None:
    """Whatever it said, as long as flowpool wrote it for this home."""
    with place.proxy():
        place.shell.run("service", "install")
        place.unit.write_text(place.unit.read_text().replace(sys.executable, "/old/python"))
        status = place.shell.run("service", "status").stdout
        place.programs.forget()
        assert place.shell.run("service", "install").stdout.startswith(f"{place.unit}: rewritten\n")

    assert "; it is not as this flowpool would write it; run: flowpool service install\n" in status
    assert place.programs.changes()[-2:] == [
        "systemctl --user stop flowpool.service",
        "systemctl --user start --no-block flowpool.service",
    ]


def test_status_tells_all_of_it(place: Place) -> None:
    """Whether it is installed, enabled and runs, since when, and where; 1 unless it runs."""
    assert place.shell.run("service", "status", code=1).stdout == (
        "installed  no; to install it: flowpool service install\n"
    )
    with place.proxy() as address:
        place.shell.run("service", "install")
        assert place.shell.run("service").stdout == (
            f"installed  {place.unit}\nenabled    yes\n"
            f"running    yes, pid {os.getpid()}, at {address}, since Mon 2026-01-05 12:00:00 UTC\n"
        )
    place.programs.put("state", unit_state("failed", "failed", result="exit-code", enabled=False))
    assert place.shell.run("service", "status", code=1).stdout == (
        f"installed  {place.unit}\nenabled    no; to enable it: flowpool service install\n"
        "running    no: failed (exit-code); to start it: flowpool service install; what it said: flowpool service logs\n"
    )


def test_a_unit_of_somebody_else_stays(place: Place) -> None:
    """Neither overwritten nor removed; how to put it out of the way is said."""
    place.unit.parent.mkdir(parents=True)
    place.unit.write_text("[Service]\nExecStart=/mine\n")
    for verb in ("install", "uninstall"):
        err = place.shell.run("service", verb, code=1).stderr
        assert (
            err == f"flowpool: {place.unit} stays: flowpool did not write it; run: mv {place.unit} {place.unit}.old\n"
        )
    assert place.unit.read_text() == "[Service]\nExecStart=/mine\n"
    assert place.programs.changes() == []


def test_the_service_of_another_home_stays(place: Place, tmp_path: Path) -> None:
    """There is one for each person, so it is said how to take that one away."""
    with place.proxy():
        place.shell.run("service", "install")
    text = place.unit.read_bytes()
    place.shell.environ["FLOWPOOL_HOME"] = str(tmp_path / "other")
    for verb in ("install", "uninstall"):
        assert place.shell.run("service", verb, code=1).stderr.endswith(
            f"run: FLOWPOOL_HOME={place.shell.home} flowpool service uninstall\n"
        )
    assert f"; it runs the proxy of FLOWPOOL_HOME={place.shell.home}, " in place.shell.run("service", "status").stdout
    assert place.unit.read_bytes() == text


def test_what_undoes_all_leaves_the_service_of_another_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: Place
) -> None:
    """That is no failure: it is said, and the rest can be undone."""
    with place.proxy():
        place.shell.run("service", "install")
    for name, value in place.shell.environ.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("FLOWPOOL_HOME", str(tmp_path / "other"))
    other = Home(config_folder=tmp_path / "other", state_folder=tmp_path / "other")
    place.programs.forget()

    (line,) = commands.remove(other)
    assert line.startswith(f"{place.unit} stays: it runs the proxy of FLOWPOOL_HOME={place.shell.home}")
    assert place.programs.calls == []
    assert place.unit.exists()


def test_a_service_that_does_not_start_is_told(place: Place) -> None:
    """With where to look; the unit stays, so that it can be mended."""
    place.programs.put("fails", "Job for flowpool.service failed.\n")
    assert place.shell.run("service", "install", code=1).stderr == (
        "flowpool: `systemctl --user start --no-block flowpool.service` failed: Job for flowpool.service failed.;"
        " run: flowpool service logs\n"
    )
    assert place.unit.exists()


def test_without_a_manager_nothing_is_written(place: Place) -> None:
    """What to run is said; what is installed can still be taken away."""
    place.programs.put("unreachable", "Failed to connect to bus: No medium found\n")
    assert "enable-linger" in place.shell.run("service", "install", code=1).stderr
    assert not place.unit.exists()

    (place.programs.folder / "unreachable").unlink()
    with place.proxy():
        place.shell.run("service", "install")
    place.programs.put("unreachable", "Failed to connect to bus: No medium found\n")
    out = place.shell.run("service", "uninstall").stdout
    assert out.startswith("the service was not stopped: your user's systemd does not answer")
    assert not place.unit.exists()


def test_an_installation_that_will_not_last_is_refused(place: Place) -> None:
    """Before anything is written."""
    place.shell.environ["TMPDIR"] = str(Path(sys.executable).parents[1])
    assert "will not last" in place.shell.run("service", "install", code=1).stderr
    assert not place.unit.exists()


def test_wrong_settings_are_told_first(place: Place) -> None:
    """A service that cannot start is not installed."""
    (place.shell.home / "config.toml").write_text("listen = 1\n")
    assert "must be a table" in place.shell.run("service", "install", code=2).stderr
    assert place.programs.calls == []


def test_a_proxy_by_hand_goes_on_without_a_yes(place: Place) -> None:
    """Nobody can be asked, so it is said how; nothing is written."""
    with listening(reply(HEALTH), []) as address:
        announce(place.shell.home, address)
        err = place.shell.run("service", "install", code=1).stderr

    assert err == (
        f"flowpool: a proxy that was started by hand runs (pid {os.getpid()}, {address});"
        " stop it first with `flowpool stop`, or run: flowpool service install --yes\n"
    )
    assert not place.unit.exists()


def test_logs_are_the_journals_else_the_proxys_own(place: Place) -> None:
    """What stands in neither is told as by `flowpool logs`."""
    assert "there is no log yet" in place.shell.run("service", "logs", code=1).stderr
    (place.shell.home / "logs").mkdir()
    (place.shell.home / "logs" / "flowpool.log").write_text("one\ntwo\n")
    assert place.shell.run("service", "logs", "-n", "1").stdout == "two\n"

    with place.proxy():
        place.shell.run("service", "install")
    assert place.shell.run("service", "logs").stdout == "one\ntwo\n"
    place.programs.put("journal", "from the journal\n")
    assert place.shell.run("service", "logs").stdout == "from the journal\n"
    place.shell.run("service", "logs", "-f")
    assert place.programs.calls[-1] == "journalctl --user --unit flowpool.service --lines 50 --follow"


def test_windows_has_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What to do instead is a line to copy; to undo there is nothing."""
    monkeypatch.setattr("flowpool.launch.managers.sys.platform", "win32")
    home = Home(config_folder=tmp_path, state_folder=tmp_path)
    done = CliRunner().invoke(commands.service, ["install"], obj=home)

    assert str(done.exception).startswith("Windows has no such service")
    assert f'schtasks /Create /TN flowpool /SC ONLOGON /RL LIMITED /TR "{sys.executable} -P -m flowpool start"' in str(
        done.exception
    )
    assert commands.remove(home) == []
    assert controlkey.read(home.control_key) is None
