"""Runs another of our own commands at this terminal."""

import subprocess
import sys


def call(*arguments: str) -> int:
    """Run `flowpool ARGUMENTS` with the standard streams of this process; return what it ended with.

    Ctrl-C is its own: it gets it too, and says what came of it. -P: what lies in the person's folder is no module of ours.
    """
    child = subprocess.Popen([sys.executable, "-P", "-m", "flowpool", *arguments])  # noqa: S603  # this interpreter
    while True:
        try:
            return child.wait()
        except KeyboardInterrupt:
            continue
