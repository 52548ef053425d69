"""Runs the real command in a home of its own, and remembers all that it showed."""

import os
import subprocess
import sys
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from tests.forge import Forge

ROOT = Path(__file__).parents[2]
TIMEOUT = 60.0  # seconds for one command
PLANTED = "sk-ant-oat01-PLANTED-on-the-command-line"
IMPORTED = (
    "flowpool.main",
    "flowpool.accounts",
    "flowpool.add",
    "flowpool.alone",
    "flowpool.change",
    "flowpool.remove",
    "flowpool.status",
    "flowpool.views.status",
    "home.state.lifting",
    "home.state.reader",
    "providers.anthropic",
    "flowpool.bound",
    "flowpool.simulate",
    "scipy.optimize",
)

type Ended = tuple[int, bytes, bytes]  # code, stdout, stderr


def planted(name: str) -> str:
    """Return an account's own secret."""
    return f"{PLANTED}-of-{name}"


@dataclass
class Shell:
    """A terminal without a tty, whose FLOWPOOL_HOME is a folder of the test.

    verifies: whether `add` asks the provider; otherwise it runs with --no-verify, for tests reach nothing but loopback.
    """

    home: Path
    environ: dict[str, str] = field(default_factory=dict)
    shown: list[str] = field(default_factory=list)
    verifies: bool = False

    def run(self, *arguments: str, given: str | bytes = "", code: int = 0) -> subprocess.CompletedProcess[str]:
        """Run `flowpool ARGUMENTS` with something on stdin; it must end with this code."""
        if "add" in arguments[:2] and not self.verifies:
            arguments = (*arguments, "--no-verify")
        data = given.encode() if isinstance(given, str) else given
        environ = {"PATH": os.defpath, "FLOWPOOL_HOME": str(self.home), "HOME": str(self.home), "COLUMNS": "80"}
        environ |= {"PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring"} | self.environ
        returned, stdout, stderr = self._forged(arguments, environ, data) or _started(arguments, environ, data)
        encoding = self.environ.get("PYTHONIOENCODING", "utf-8")
        out, err = stdout.decode(encoding), stderr.decode(encoding)
        self.shown += [out, err]
        assert returned == code, err
        return subprocess.CompletedProcess(arguments, code, out, err)

    def _forged(self, arguments: tuple[str, ...], environ: dict[str, str], given: bytes) -> Ended | None:
        """Fork it, unless what it needs is decided when an interpreter starts."""
        if any(name.startswith("PYTHON") for name in self.environ):
            return None
        return _forge().run(["flowpool", *arguments], env=environ, cwd=ROOT, given=given, timeout=TIMEOUT)

    def add(self, name: str, *arguments: str, kind: str = "setup-token", secret: str = "") -> None:
        """Add an account, with a secret of its own."""
        self.run("add", name, "--kind", kind, *arguments, given=secret or planted(name))


@cache
def _forge() -> Forge:
    return Forge(IMPORTED, "flowpool.main:main")


def _started(arguments: tuple[str, ...], environ: dict[str, str], given: bytes) -> Ended:
    answer = subprocess.run(
        [sys.executable, "-m", "flowpool", *arguments],
        input=given,
        env=environ,
        cwd=ROOT,
        capture_output=True,
        timeout=TIMEOUT,
        check=False,
    )
    return answer.returncode, answer.stdout, answer.stderr
