"""A stand-in for `claude` as it is watched: a real program that writes the transcript that a plan says, and one that watches it."""

import json
import os
import stat
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[3]

SOURCE = """#!{python} -S
import json, os, signal, sys, time
from datetime import UTC, datetime
home = os.environ["STANDIN"]
arguments = sys.argv[1:]
with open(home + "/runs", "a") as file:
    file.write(json.dumps(arguments) + "\\n")
with open(home + "/runs") as file:
    number = len(file.readlines())
plan = json.load(open(home + "/plan"))
now = plan[min(number, len(plan)) - 1]
flag = next(word for word in arguments if word in ("--session-id", "--resume"))
session = arguments[arguments.index(flag) + 1]
folder = os.environ["CLAUDE_CONFIG_DIR"] + "/projects/-work"
if now.get("deaf"):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
if now.get("error"):
    os.makedirs(folder, exist_ok=True)
    with open(folder + "/" + session + ".jsonl", "a") as file:
        at = datetime.now(UTC).isoformat()
        print(json.dumps({{"type": "assistant", "isApiErrorMessage": True, "error": now["error"], "timestamp": at}}), file=file)
print(now.get("says", "run %d" % number), flush=True)
if now.get("stays"):
    for line in sys.stdin:
        break
if now.get("hangs"):
    while True:
        time.sleep(60)
if now.get("signal"):
    os.kill(os.getpid(), now["signal"])
sys.exit(now.get("code", 0))
"""

WATCHER = """
import os, sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from flowpool.launch import child, resting, resuming
resting.MARGIN = timedelta(0)
recovers = {recovers}
child.EVERY, child.PARTING, resuming.PAUSE, resuming.LONGEST_PAUSE = {every}, {parting}, {pause}, {longest}
launch = resuming.watched(sys.argv[2:])
print("watched", launch.session, file=sys.stderr, flush=True)
sys.exit(resuming.run(
    Path(sys.argv[1]), launch, os.environ, lambda text: print("flowpool:", text, file=sys.stderr, flush=True),
    lambda: None if recovers is None else datetime.now(UTC) + timedelta(seconds=recovers)
))
"""


@dataclass
class Claude:
    """The program and what it did; every run does what the plan says of it, those after the last one what the last one did."""

    folder: Path

    def __post_init__(self) -> None:
        self.folder.mkdir()
        self.program.write_text(SOURCE.format(python=sys.executable))
        self.program.chmod(stat.S_IRWXU)

    @property
    def program(self) -> Path:
        """What is run."""
        return self.folder / "claude"

    @property
    def environ(self) -> dict[str, str]:
        """The whole environment of it, and of who watches it."""
        config = self.folder / "config"
        return {
            "PATH": os.defpath,
            "PYTHONPATH": str(ROOT),
            "STANDIN": str(self.folder),
            "CLAUDE_CONFIG_DIR": str(config),
        }

    def plans(self, *runs: Mapping[str, Any]) -> None:
        """Say what it does: error (in its transcript), says, stays (until a line comes), hangs, deaf (to SIGTERM), signal, code."""
        (self.folder / "plan").write_text(json.dumps(runs))

    @property
    def runs(self) -> list[list[str]]:
        """The arguments of each run."""
        path = self.folder / "runs"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def watcher(
        self,
        *arguments: str,
        parting: float = 5.0,
        pause: float = 0.0,
        longest: float = 30.0,
        recovers: float | None = None,
    ) -> list[str]:
        """The command line that runs it under watch, with short times; recovers: in how many seconds, always, as the pool knows it."""
        source = WATCHER.format(every=0.05, parting=parting, pause=pause, longest=longest, recovers=recovers)
        return [sys.executable, "-c", source, str(self.program), *arguments]

    def run(self, *arguments: str, **times: float) -> subprocess.CompletedProcess[str]:
        """Run it under watch, without a terminal, to its end."""
        return subprocess.run(
            self.watcher(*arguments, **times),
            env=self.environ,
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
