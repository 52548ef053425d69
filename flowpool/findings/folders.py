"""Whether other users of the machine can enter our folders or read our secrets."""

import os
import shlex
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

from flowpool.findings.finding import Finding, fail, ok, skip, warn
from home.paths import Home

PART = "folders"
OTHERS = stat.S_IRWXG | stat.S_IRWXO


def folders(home: Home) -> list[Finding]:
    """One line when all is well, else one for each folder and file that is not."""
    if sys.platform == "win32":
        return [skip(PART, "not looked at: on Windows the profile folder's own rights keep others out")]
    places = tuple(dict.fromkeys((home.config_folder, home.state_folder)))
    there = [folder for folder in places if folder.exists()]
    if not there:
        return [skip(PART, f"{places[0]} is not there yet")]
    found = [*_open_folders(there), *_open_files((home.secrets, home.control_key, home.client_key))]
    return found or [ok(PART, f"only you can enter {' and '.join(map(str, there))}")]


def _open_folders(paths: list[Path]) -> Iterator[Finding]:
    for path in paths:
        about = path.stat()
        if not path.is_dir():
            yield fail(PART, f"{path} is no folder", f"ls -ld {shlex.quote(str(path))}")
        elif about.st_uid != os.getuid():
            yield fail(PART, f"{path} belongs to another user", f"sudo chown -R {os.getuid()} {shlex.quote(str(path))}")
        elif about.st_mode & OTHERS:
            yield warn(PART, f"other users can enter {path}", f"chmod 700 {shlex.quote(str(path))}")


def _open_files(paths: tuple[Path, ...]) -> Iterator[Finding]:
    for path in paths:
        if path.exists() and path.stat().st_mode & OTHERS:
            yield fail(PART, f"{path} can be read or changed by other users", f"chmod 600 {shlex.quote(str(path))}")
