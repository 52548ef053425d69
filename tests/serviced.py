"""What a person does with the service, beside a systemd user manager of its own (tools/with-systemd); prints what was seen as JSON."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

PATIENCE = 30.0  # seconds
PAUSE = 0.05  # seconds between two looks


def main() -> None:
    """Install it, kill it, reload it, take it away."""
    seen: dict[str, object] = {"installed": flowpool("service", "install")}
    seen["status"] = flowpool("service", "status")
    first = pid()
    os.kill(first, signal.SIGKILL)
    until(
        lambda: running() not in (None, first) and shown("ActiveState") == "active"
    )  # before that a reload does nothing
    seen["restarts"], second = shown("NRestarts"), pid()
    seen["killed"] = second == running()
    subprocess.run(["systemctl", "--user", "reload", "flowpool.service"], check=True)
    until(lambda: pid() == running() != second)
    seen["reloaded"] = [shown("ActiveState"), shown("NRestarts")]
    third = pid()
    seen["again"] = flowpool("service", "install")
    seen["same"] = pid() == third
    seen["doctor"] = [line for line in flowpool("doctor", check=False).splitlines() if " service " in line]
    seen["uninstalled"] = flowpool("service", "uninstall")
    seen["left"] = [shown("LoadState"), running(), Path(f"/proc/{third}").exists()]
    sys.stdout.write(json.dumps(seen))


def flowpool(*arguments: str, check: bool = True) -> str:
    """Run a command of ours; return what it says."""
    line = [sys.executable, "-m", "flowpool", *arguments]
    return subprocess.run(line, stdout=subprocess.PIPE, text=True, check=check).stdout


def shown(name: str) -> str:
    """One property of the service."""
    line = ["systemctl", "--user", "show", "flowpool.service", "--value", f"--property={name}"]
    return subprocess.run(line, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()


def pid() -> int:
    """The process that systemd takes for the service's own."""
    return int(shown("MainPID"))


def running() -> int | None:
    """The process that says that it serves."""
    path = Path(os.environ["FLOWPOOL_HOME"], "running.json")
    return int(json.loads(path.read_text())["pid"]) if path.exists() else None


def until(is_so: Callable[[], bool]) -> None:
    """Wait for what systemd does by itself."""
    over = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < over
        time.sleep(PAUSE)


if __name__ == "__main__":
    main()
