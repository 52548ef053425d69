"""Runs the real command in a home of its own, and remembers all that it showed."""

import os
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from tests.command import run

ROOT = Path(__file__).parents[2]
PLANTED = "sk-ant-oat01-PLANTED-on-the-command-line"


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
        done = run(arguments, environ, given=data)
        encoding = self.environ.get("PYTHONIOENCODING", "utf-8")
        out, err = done.stdout.decode(encoding), done.stderr.decode(encoding)
        self.shown += [out, err]
        assert done.returncode == code, err
        return subprocess.CompletedProcess(arguments, code, out, err)

    def add(self, name: str, *arguments: str, kind: str = "setup-token", secret: str = "") -> None:
        """Add an account, with a secret of its own."""
        self.run("add", name, "--kind", kind, *arguments, given=secret or planted(name))
