"""The programs that flowpool needs, and those that it serves: whether they are there, and which they are."""

import re
import shlex
import shutil
import subprocess
import sys
from importlib import metadata

from credentials.redaction import redacted
from flowpool import installing
from flowpool.findings.finding import Finding, fail, ok, skip, warn
from flowpool.proxy import clean

LEAST_PYTHON = (3, 12)
LEAST_MITMPROXY, NEXT_MITMPROXY = (12, 2, 3), (13,)
MITMPROXY = "'mitmproxy>=12.2.3,<13'"
PATIENCE = 5.0  # seconds that a client program may take to say its version
LONGEST = 60  # letters of a version
CLIENTS = {"claude": "npm install -g @anthropic-ai/claude-code", "codex": ""}  # how one that is missing is installed


def python(found: tuple[int, ...] = sys.version_info[:3]) -> Finding:
    """Whether this Python is new enough."""
    shown = ".".join(map(str, found))
    if found < LEAST_PYTHON:
        mend = installing.command("--python", "3.13")
        return fail("python", f"{shown} is too old: 3.12 or newer is needed", mend)
    return ok("python", shown)


def mitmproxy() -> Finding:
    """Whether mitmproxy is there, and of a version that flowpool was made for."""
    install = f"{shlex.quote(sys.executable)} -m pip install {MITMPROXY}"
    try:
        found = metadata.version("mitmproxy")
    except metadata.PackageNotFoundError:
        return fail("mitmproxy", "it is not installed beside flowpool", install)
    numbers = tuple(int(number) for number in re.findall(r"\d+", found)[:3])
    if numbers < LEAST_MITMPROXY:
        return fail("mitmproxy", f"{found} is too old: 12.2.3 or newer is needed", install)
    if numbers >= NEXT_MITMPROXY:
        return warn("mitmproxy", f"{found} is newer than flowpool was tried with", install)
    return ok("mitmproxy", found)


def client(name: str) -> Finding:
    """Whether a client program is on PATH, and which version it says it is."""
    path = shutil.which(name)
    if path is None:
        return skip(name, "not on PATH", CLIENTS.get(name, ""))
    quoted = shlex.quote(path)
    try:
        done = subprocess.run(  # noqa: S603  # what PATH has under this name is what a person would start
            [path, "--version"], stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE, check=False
        )
    except subprocess.TimeoutExpired:
        return warn(name, f"{path} did not say its version within {PATIENCE:g} s", f"{quoted} --version")
    except OSError as error:
        return warn(name, f"{path} cannot be started: {error.strerror or type(error).__name__}", f"ls -l {quoted}")
    said = redacted(clean(done.stdout.decode(errors="replace").strip().partition("\n")[0]))[:LONGEST]
    if done.returncode or not said:
        return warn(name, f"{path} ended with {done.returncode} and said no version", f"{quoted} --version")
    return ok(name, f"{said} ({path})")
