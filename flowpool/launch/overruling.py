"""How a launch goes before what Claude Code's settings put into its environment: by `--settings`, with that alone, for that launch."""

import hashlib
import json
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from credentials import files
from flowpool.errors import Failure
from flowpool.launch import environment
from flowpool.launch.places import WINDOWS
from flowpool.launch.precedence import HELPER, OPTION, Seen, options
from home.paths import Home

PATTERN = "launch-*.json"
LASTS = 30 * 86_400.0  # seconds; longer than a session that might still read its file
_SHOWN = (environment.BASE, environment.NO_PROXY, environment.NO_PROXY.lower(), environment.AUTHORITIES)
"""What may stand in a command line, which everybody on this machine can read."""
_SIZE = 8  # bytes of a digest


def overruled(
    home: Home,
    seen: Seen,
    values: Mapping[str, str],
    arguments: Sequence[str],
    *,
    asks_helper: bool = True,
    platform: str = sys.platform,
) -> tuple[str, ...]:
    """Return the arguments with which these variables have these values, whatever settings say; as they are when none is given.

    asks_helper: False where no program may be asked for a key. A person's own `--settings` keeps all else that it says. Raises Failure
    where it cannot be read, FileFault and FolderError.
    """
    more = {} if asks_helper or not seen.helper else {HELPER: ""}
    if not values and not more:
        return tuple(arguments)
    if seen.given is None:
        raise Failure(
            f"what {OPTION} names is no JSON object, so nothing can be added to it, and other settings would lead Claude Code "
            "elsewhere; correct it, or leave it out and run: flowpool run"
        )
    block = seen.given.get("env")
    laid = {**seen.given, **more, "env": {**(block if isinstance(block, dict) else {}), **values}}
    shown = json.dumps(laid)
    is_open = not seen.given and platform != WINDOWS and all(_is_open(name, value) for name, value in values.items())
    return OPTION, shown if is_open else str(_file(home, shown)), *_without(arguments)


def told(seen: Seen, values: Mapping[str, str]) -> list[str]:
    """Return a line on what cannot be had otherwise, for an organisation sets it."""
    fixed = sorted(seen.managed & values.keys())
    return [f"{seen.where[name]} sets {name}, and nothing goes before it: ask who manages it" for name in fixed]


def forgotten(folder: Path, now: float) -> None:
    """Delete files of launches that are long over."""
    for path in folder.glob(PATTERN):
        with suppress(OSError):
            if now - path.stat().st_mtime > LASTS:
                path.unlink()


def _without(arguments: Sequence[str]) -> list[str]:
    """Leave out the person's own `--settings`, which are in ours."""
    kept = list(arguments)
    for begin, end, _ in reversed(list(options(arguments, OPTION))):
        del kept[begin:end]
    return kept


def _is_open(name: str, value: Any) -> bool:
    return not value or (name in _SHOWN and "@" not in value)


def _file(home: Home, text: str) -> Path:
    """Write it where only the person can read it. It stays: Claude Code reads it more than once."""
    digest = hashlib.blake2b(text.encode(), digest_size=_SIZE).hexdigest()
    path = home.state_folder / PATTERN.replace("*", digest)
    home.make()
    forgotten(path.parent, time.time())
    files.write(path, text.encode())
    return path
