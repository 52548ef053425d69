"""The manager of systemd's user services."""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from flowpool.errors import Failure
from flowpool.launch import systemd
from flowpool.launch.manager import Done, Standing, call, must
from flowpool.launch.program import Program

NAME = "flowpool.service"
RUNTIME = "XDG_RUNTIME_DIR"
KEPT = ("ActiveState", "SubState", "UnitFileState", "MainPID", "ActiveEnterTimestamp", "Result")
RUNNING = frozenset({"active", "reloading", "deactivating"})
LINGERING = Path("/var/lib/systemd/linger")  # has a file for each user whose manager runs without a session


class Systemd:
    """`systemctl --user`."""

    name = "systemd"
    journal = f"journalctl --user --unit {NAME}"

    def __init__(self, environ: Mapping[str, str] = os.environ) -> None:
        given = {name: value for name, value in environ.items() if name in ("XDG_CONFIG_HOME", RUNTIME)}
        folder = Path(given.get("XDG_CONFIG_HOME") or "")
        self._runtime = given.get(RUNTIME, "")
        self.path = (folder if folder.is_absolute() else Path.home() / ".config") / "systemd" / "user" / NAME

    def text(self, program: Program) -> bytes:
        """The unit."""
        return systemd.unit(program)

    def environment(self, text: bytes) -> Mapping[str, str] | None:
        """The variables of a unit of ours."""
        return systemd.environment(text)

    def reach(self) -> None:
        """Ask the manager for anything that only a running one knows."""
        if shutil.which("systemctl") is None:
            raise Failure(
                "there is no systemctl, so no systemd that would run a service; run: flowpool start,"
                " and for every start of the machine: (crontab -l; echo '@reboot flowpool start') | crontab -"
            )
        done = _user("show-environment")
        if done.code:
            raise Failure(f"your user's systemd does not answer ({done.said}); run: {_way(self._runtime)}")

    def look(self) -> Standing:
        """How the unit stands."""
        done = _user("show", NAME, f"--property={','.join(KEPT)}")
        found = dict(line.partition("=")[::2] for line in done.out.splitlines() if "=" in line)
        state, pid = found.get("ActiveState", ""), found.get("MainPID", "")
        if done.code or not state:
            return Standing(word=f"not known: {done.said}")
        return Standing(
            is_enabled=found.get("UnitFileState") == "enabled",
            is_running=state in RUNNING,
            is_failed=state == "failed" or found.get("SubState") == "auto-restart",
            word=_word(found),
            pid=int(pid) if pid.isdigit() and int(pid) else None,
            since=found.get("ActiveEnterTimestamp", ""),
        )

    def start(self, before: bytes | None, after: bytes) -> None:
        """Enable and start it; one that runs by another text is ended first, as it should.

        Nobody waits for the start, which has no end while a service that fails is tried again.
        """
        _must("daemon-reload")
        _user("reset-failed", NAME)  # the times that it failed before count no more
        _must("enable", NAME)
        is_other = before is not None and systemd.needs_restart(before, after)
        if is_other or self.look().is_failed:  # one that is tried again and again would not be started before its turn
            _must("stop", NAME)
        _must("start", "--no-block", NAME)

    def stop(self) -> None:
        """Disable and stop it."""
        _must("disable", "--now", NAME)

    def forget(self) -> None:
        """Let the manager find that the unit is gone, and remove the link that enabled it where no manager did."""
        (self.path.parent / "default.target.wants" / NAME).unlink(missing_ok=True)
        if shutil.which("systemctl") is not None and not _user("daemon-reload").code:
            _user("reset-failed", NAME)

    def said(self, count: int) -> str:
        """What the journal has of it."""
        if shutil.which("journalctl") is None:
            return ""
        done = call("journalctl", "--user", "--unit", NAME, "--no-pager", "--quiet", "--lines", str(count))
        return "" if done.code else done.out.rstrip("\n")

    def follow(self, count: int) -> tuple[str, ...]:
        """Journalctl, going on."""
        return "journalctl", "--user", "--unit", NAME, "--lines", str(count), "--follow"

    def hints(self) -> tuple[str, ...]:
        """Say how it runs without a session, unless it does."""
        import getpass  # noqa: PLC0415  # for this line alone

        if (LINGERING / getpass.getuser()).exists():
            return ()
        return ("it ends with your last session; to let it run without one: loginctl enable-linger",)


def _user(*arguments: str) -> Done:
    return call("systemctl", "--user", *arguments)


def _must(*arguments: str) -> Done:
    return must("systemctl", "--user", *arguments)


def _word(found: Mapping[str, str]) -> str:
    """The state as people read it: "active (running)", "failed (exit-code)"."""
    more = found.get("Result", "") if found.get("ActiveState") == "failed" else found.get("SubState", "")
    return f"{found.get('ActiveState', '')} ({more})" if more else found.get("ActiveState", "")


def _way(runtime: str) -> str:
    """Return what brings a person to their manager: the address alone may be missing, as behind `su`, or the manager, too."""
    uid = os.getuid()
    usual = f"/run/user/{uid}"
    if runtime != usual and Path(usual, "systemd").exists():
        return f"export XDG_RUNTIME_DIR={usual}, then: flowpool service install"
    return f"sudo loginctl enable-linger {uid}; export XDG_RUNTIME_DIR={usual}, then: flowpool service install"
