"""Whether Claude Code's settings send it to the pool, and whether anybody is there."""

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from credentials.errors import CredentialError
from flowpool.findings.finding import Finding, fail, ok
from flowpool.launch import connect, foreign, touched
from flowpool.launch.environment import is_at
from flowpool.launch.jsonc import Malformed
from flowpool.launch.jsonc_edit import raw
from flowpool.launch.wishes import BASE
from home.checks import Address
from home.paths import Home

PART = "connect"
START = "flowpool start"


def connected(home: Home, ours: Address | None) -> list[Finding]:
    """One line for each file that points at this home's pool; none when no file does. ours: where its proxy is, None when none runs."""
    return [_judged(file, ours) for file in leading(home)]


def leading(home: Home) -> list[Path]:
    """Return the files that point at this home's pool."""
    listen = connect.addresses(home)
    return [file for file in _files(home) if is_at(_address(file), listen)]


def _files(home: Home) -> list[Path]:
    """The person's own settings, and whatever else was connected."""
    found = [connect.usual()]
    with suppress(CredentialError):
        found += [one.file for one in touched.load(home) if one.program == connect.PROGRAM]
    return list({os.path.realpath(file): file for file in reversed(found)}.values())[::-1]


def _judged(file: Path, ours: Address | None) -> Finding:
    if ours is not None:
        return ok(PART, f"{file} points Claude Code at the pool, however it is started")
    undo = "start one, or undo that with `flowpool disconnect`"
    return fail(PART, f"{file} points Claude Code at the pool, where no proxy runs; {undo}", START)


def _address(file: Path) -> str:
    """Return the address in a file; empty when there is none, or when that cannot be read."""
    try:
        data = foreign.read(file)
        shown = raw(data.decode(), BASE) if data else None
        found: Any = json.loads(shown) if shown else ""
    except (CredentialError, Malformed, ValueError):
        return ""
    return found if isinstance(found, str) else ""
