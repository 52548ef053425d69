"""Processes: whether one is still the one that was meant. A process id alone is given to another program sooner or later."""

import sys
from pathlib import Path

_STARTED = 19  # of the fields behind the name in /proc/PID/stat: field 22 of all, in ticks since the machine started
_PATIENCE = 5.0  # seconds for ps


def born(pid: int) -> str:
    """Tell when a process started, in words that another process of the same id would hardly get.

    Empty when there is none, when it has ended and is only kept for its parent, or where this system does not tell.
    """
    if sys.platform == "linux":
        return _by_proc(pid)
    return "" if sys.platform == "win32" else _by_ps(pid)


def _by_proc(pid: int) -> str:
    try:
        text = Path(f"/proc/{pid}/stat").read_bytes()
    except (OSError, ValueError):
        return ""
    state, *rest = text.rpartition(b")")[2].split()  # the name before it may hold anything
    return "" if state in b"ZX" else rest[_STARTED - 1].decode("ascii")


def _by_ps(pid: int) -> str:
    import subprocess  # noqa: PLC0415  # `status` asks on Linux, and may take no longer

    command = ["/bin/ps", "-o", "stat=,lstart=", "-p", str(pid)]
    try:
        told = subprocess.run(  # noqa: S603  # a number is all that is given
            command, capture_output=True, check=False, timeout=_PATIENCE, env={"LC_ALL": "C", "TZ": "UTC"}
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    state, _, started = told.stdout.decode("ascii", "replace").strip().partition(" ")
    return "" if state.startswith("Z") else " ".join(started.split())
