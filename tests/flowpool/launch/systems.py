"""Stand-ins for the programs of a system's manager of services: each notes how it was called, and answers by files beside it."""

import os
import stat
from pathlib import Path

SYSTEMCTL = """
case "$*" in
"--user show-environment") [ -e "$here/unreachable" ] && { cat "$here/unreachable" >&2; exit 1; } ;;
"--user show "*) cat "$here/state" ;;
"--user start "*)
  [ -e "$here/fails" ] && { cat "$here/fails" >&2; exit 1; }
  cp "$here/started" "$here/state"
  [ ! -e "$here/running.json" ] || cp "$here/running.json" "$FLOWPOOL_HOME/running.json" ;;
"--user disable --now "*) cp "$here/ended" "$here/state" ;;
esac
exit 0
"""
JOURNALCTL = """
cat "$here/journal" 2>/dev/null
"""
LAUNCHCTL = """
case "$1" in
print) case "$2" in */*/*) cat "$here/loaded" 2>/dev/null || exit 113 ;; *) [ ! -e "$here/unreachable" ] || exit 125 ;; esac ;;
print-disabled) cat "$here/disabled" 2>/dev/null ;;
bootstrap) [ -e "$here/fails" ] && { cat "$here/fails" >&2; exit 5; }; cp "$here/started" "$here/loaded" ;;
bootout) rm "$here/loaded" ;;
esac
exit 0
"""


class Programs:
    """A folder of them. calls: how they were called so far, one line each."""

    def __init__(self, folder: Path, **scripts: str) -> None:
        self.folder = folder
        folder.mkdir()
        for name, script in scripts.items():
            program = folder / name
            program.write_text(f'#!/bin/sh\nhere={folder}\necho "{name} $*" >>"$here/calls"\n{script}')
            program.chmod(stat.S_IRWXU)

    @property
    def path(self) -> str:
        """A PATH on which they come first."""
        return f"{self.folder}{os.pathsep}{os.defpath}"

    @property
    def calls(self) -> list[str]:
        """What was asked of them."""
        file = self.folder / "calls"
        return file.read_text().splitlines() if file.exists() else []

    def changes(self) -> list[str]:
        """The same, without what only looks."""
        looks = ("show", "print")
        return [call for call in self.calls if not any(f" {look}" in call for look in looks)]

    def forget(self) -> None:
        """Note calls anew."""
        (self.folder / "calls").unlink(missing_ok=True)

    def put(self, name: str, text: str) -> None:
        """Set what one of them answers."""
        (self.folder / name).write_text(text)


def unit_state(active: str, sub: str, *, pid: int = 0, enabled: bool = True, result: str = "success") -> str:
    """What `systemctl show` prints."""
    return (
        f"ActiveState={active}\nSubState={sub}\nUnitFileState={'enabled' if enabled else 'disabled'}\nMainPID={pid}\n"
        f"ActiveEnterTimestamp=Mon 2026-01-05 12:00:00 UTC\nResult={result}\n"
    )


def systemd(folder: Path, pid: int = 0) -> Programs:
    """Systemd's programs, of a user whose service does not run yet, and has this pid once it is started."""
    programs = Programs(folder, systemctl=SYSTEMCTL, journalctl=JOURNALCTL)
    programs.put("state", unit_state("inactive", "dead", enabled=False))
    programs.put("ended", unit_state("inactive", "dead", enabled=False))
    programs.put("started", unit_state("active", "running", pid=pid))
    return programs
