"""What a service runs: this installation's proxy, for one home."""

import os
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from flowpool import installing
from flowpool.errors import Failure
from home import paths, settings
from home.paths import Home

FOLDERS = ("XDG_CONFIG_HOME", "XDG_STATE_HOME")  # where a home lies that no FLOWPOOL_HOME names
CARRIED = ("CLAUDE_CONFIG_DIR", "PYTHON_KEYRING_BACKEND")  # what else decides where logins are found
GRACE_S = 15.0  # beside drain_s: to say goodbye to what is cut, and to save the state
SHORT_LIVED = frozenset({"archive-v0", "builds-v0", "environments-v2"})  # where `uvx` keeps what it may throw away
LENDERS = (("pipx", ".cache"), (".cache", "pipx"))  # the same of `pipx run`


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """One proxy as a system's manager is to run it.

    python: the interpreter, with its whole path. environment: what it cannot know otherwise. stop_s: how long it may take to end.
    log: where what it says outside its own log goes, where the manager keeps no journal.
    """

    python: str
    stop_s: float
    log: Path
    environment: Mapping[str, str] = field(default_factory=dict)


def program(home: Home, environ: Mapping[str, str] = os.environ) -> Program:
    """Return the proxy of this installation and home. Raises Failure when the installation will not last, and SettingsError."""
    python = os.path.abspath(sys.executable)  # noqa: PTH100  # resolve() would leave the virtual environment
    if is_temporary(Path(python)):
        raise Failure(
            f"{python} will not last, and a service needs a flowpool that stays; "
            f"install it first, then install the service from there; run: {installing.command()}"
        )
    chosen = settings.load(home.config)
    return Program(
        python=python,
        stop_s=chosen.limits.drain_s + GRACE_S,
        log=home.log.with_name("service.log"),
        environment=environment(home, environ),
    )


def environment(home: Home, environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables without which the service would look after another home, or find other logins."""
    given = {name: value for name, value in environ.items() if value}
    if paths.VARIABLE in given:
        where = {paths.VARIABLE: str(home.state_folder)}
    else:
        where = {name: given[name] for name in FOLDERS if os.path.isabs(given.get(name, ""))}  # noqa: PTH117
    return where | {name: given[name] for name in CARRIED if name in given}


def leading(variables: Mapping[str, str]) -> dict[str, str]:
    """Return those that lead to a home; empty when it is the one of the usual folders."""
    return {name: variables[name] for name in (paths.VARIABLE, *FOLDERS) if name in variables}


def is_temporary(python: Path) -> bool:
    """Tell whether an interpreter lies where files are thrown away: a temporary folder, or the cache of a runner of packages."""
    places = {Path(tempfile.gettempdir()), Path(tempfile.gettempdir()).resolve()}
    if any(python.is_relative_to(place) or python.parent.resolve().is_relative_to(place) for place in places):
        return True
    parts = python.parts
    return bool(SHORT_LIVED.intersection(parts)) or any(pair in LENDERS for pair in pairwise(parts))
