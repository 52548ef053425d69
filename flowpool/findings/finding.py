"""What was found of one part, and how bad it is."""

import shlex
import sys
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path


class Level(StrEnum):
    """How a part stands."""

    OK = "ok"
    SKIP = "skip"  # not looked at, or not there and not needed
    WARN = "warn"  # it works, and may surprise
    FAIL = "fail"  # it does not work


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One line of doctor.

    account: its name, where the line is about one account. mend: the command that mends it; empty where nothing needs to be.
    """

    part: str
    level: Level
    message: str
    mend: str = ""
    account: str = ""


def ok(part: str, message: str, *, account: str = "") -> Finding:
    """A part that is as it should be."""
    return Finding(part=part, level=Level.OK, message=message, account=account)


def skip(part: str, message: str, mend: str = "", *, account: str = "") -> Finding:
    """A part that was not looked at."""
    return Finding(part=part, level=Level.SKIP, message=message, mend=mend, account=account)


def warn(part: str, message: str, mend: str, *, account: str = "") -> Finding:
    """A part that works, and may surprise."""
    return Finding(part=part, level=Level.WARN, message=message, mend=mend, account=account)


def fail(part: str, message: str, mend: str, *, account: str = "") -> Finding:
    """A part that does not work."""
    return Finding(part=part, level=Level.FAIL, message=message, mend=mend, account=account)


def told(error: Exception, mend: str) -> tuple[str, str]:
    """Part an error's text into what is wrong and the command that mends it; mend: for one that names none."""
    first, *more = str(error).splitlines() or [type(error).__name__]
    problem, _, named = first.partition("; run: ")
    others = f" (and {len(more)} more)" if more else ""
    return f"{problem}{others}", named or mend


def editing(path: Path) -> str:
    """Return the command that opens a file for a person."""
    if sys.platform == "win32":
        return f'notepad "{path}"'
    return f"${{EDITOR:-vi}} {shlex.quote(str(path))}"
