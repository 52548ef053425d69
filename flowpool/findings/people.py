"""Other people on this machine: whoever runs a program here can use the pool, and so spend its quota."""

import os
import sys
from pathlib import Path

from flowpool.findings.finding import Finding, ok, skip, warn

PART = "other users"
USERS = Path("/etc/passwd")
FIRST, LAST = 1000, 60_000  # ids of people; below are the system's own, above are nobody's and containers'
_NO_SHELL = ("nologin", "false", "sync")
_FIELDS = 7  # of a line of that file: name, password, id, group, about, home, shell


def others(path: Path = USERS, me: int | None = None, *, is_keyed: bool = False) -> Finding:
    """Count the people who can log in here beside us; only Linux keeps them in this file. is_keyed: only who shows a key is served."""
    if not sys.platform.startswith("linux"):
        return skip(PART, "not looked at on this system")
    mine = os.getuid() if me is None else me
    try:
        lines = path.read_text(errors="replace").splitlines()
    except OSError:
        return skip(PART, f"{path} cannot be read")
    count = sum(_is_person(line.split(":"), mine) for line in lines)
    if not count:
        return ok(PART, "nobody else can log in here")
    who = "1 other person" if count == 1 else f"{count} other people"
    if is_keyed:
        return ok(PART, f"{who} can log in here, and only who shows the key can use the pool")
    problem = f"{who} can log in here, and programs of any user can use the pool unless [admit] key is on"
    return warn(PART, problem, f"cut -d: -f1,3,7 {path}")


def _is_person(fields: list[str], me: int) -> bool:
    if len(fields) != _FIELDS or not fields[2].isdecimal():
        return False
    number = int(fields[2])
    return FIRST <= number < LAST and number != me and not fields[6].endswith(_NO_SHELL)
