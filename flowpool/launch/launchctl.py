"""The manager of launchd's agents."""

import os
import re
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from flowpool.errors import Failure
from flowpool.launch import launchd
from flowpool.launch.manager import PATIENCE, Done, Standing, call, must
from flowpool.launch.program import Program

PAUSE = 0.1  # seconds between two looks whether it has ended

_LINE = re.compile(r"^\t(state|pid|last exit code) = (.*)$", re.MULTILINE)
_DISABLED = re.compile(rf'"{re.escape(launchd.LABEL)}" => (disabled|true)')


class Launchd:
    """`launchctl`, for the person who is logged in."""

    name = "launchd"
    journal = ""

    def __init__(self, log: Path) -> None:
        """log: where the agent's stderr goes."""
        self.path = Path.home() / "Library" / "LaunchAgents" / f"{launchd.LABEL}.plist"
        self._log = log
        self._domain = f"gui/{_uid()}"
        self._target = f"{self._domain}/{launchd.LABEL}"

    def text(self, program: Program) -> bytes:
        """The property list."""
        return launchd.agent(program)

    def environment(self, text: bytes) -> Mapping[str, str] | None:
        """The variables of an agent of ours."""
        return launchd.environment(text)

    def reach(self) -> None:
        """Ask for the domain of the person's session: there is none over ssh alone."""
        done = call("launchctl", "print", self._domain)
        if done.code:
            raise Failure(
                f"launchd has no session of yours ({done.said}); log in at the screen, then run: flowpool service install;"
                " until then, run: flowpool start"
            )

    def look(self) -> Standing:
        """How the agent stands."""
        done = self._print()
        found = dict(_LINE.findall(done.out))
        if done.code:
            return Standing(word="not loaded")
        state, code, pid = found.get("state", "not known"), found.get("last exit code", ""), found.get("pid", "")
        is_running = state == "running"
        return Standing(
            is_enabled=not _DISABLED.search(call("launchctl", "print-disabled", self._domain).out),
            is_running=is_running,
            is_failed=not is_running and code.partition(":")[0] not in ("", "0", "(never exited)"),
            word=state if is_running or not code else f"{state}, last exit code {code}",
            pid=int(pid) if pid.isdigit() else None,
        )

    def start(self, before: bytes | None, after: bytes) -> None:
        """Load it, which starts it; one that was loaded from another text, or does not run, is unloaded first."""
        is_well = before == after and self.look().is_running
        if not is_well:
            self.stop()
        must("launchctl", "enable", self._target)
        if not is_well:
            must("launchctl", "bootstrap", self._domain, str(self.path))

    def stop(self) -> None:
        """Unload it, which ends it, and wait until it has ended: what is loaded sooner is refused."""
        if self._print().code:
            return
        done = call("launchctl", "bootout", self._target)
        over = time.monotonic() + PATIENCE
        while not self._print().code:
            if time.monotonic() > over:
                raise Failure(f"launchd did not end it ({done.said}); run: launchctl bootout {self._target}")
            time.sleep(PAUSE)

    def forget(self) -> None:
        """Nothing is left of what is unloaded but its log."""
        self._log.unlink(missing_ok=True)

    def said(self, count: int) -> str:
        """What it wrote to stderr."""
        from flowpool.logs import last  # noqa: PLC0415  # not while installing

        return "\n".join(last(self._log, count))

    def follow(self, count: int) -> tuple[str, ...]:
        """Tail, going on."""
        return ("tail", "-n", str(count), "-F", str(self._log)) if self._log.exists() else ()

    def hints(self) -> tuple[str, ...]:
        """Say when it starts."""
        return ("it starts when you log in, and ends when you log out",)

    def _print(self) -> Done:
        return call("launchctl", "print", self._target)


def _uid() -> int:
    """Return whose session it is; on Windows nobody's."""
    return os.getuid() if sys.platform != "win32" else 0
