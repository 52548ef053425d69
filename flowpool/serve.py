"""`flowpool serve`: becomes mitmdump with our addons. The only file of this package that knows addons/."""

import importlib.util
import os
import sys
from pathlib import Path

import click

from credentials.backends import open_store
from flowpool.errors import Failure
from home import accounts, settings
from home.paths import Home


@click.command
@click.pass_obj
def serve(home: Home) -> None:
    """Start the proxy in this terminal."""
    chosen = settings.load(home.make().config)
    accounts.load(home.accounts)
    open_store(chosen.credentials.backend, home.state_folder).ids()  # an unreadable file is said before anything starts
    arguments = command()
    sys.stdout.flush()
    sys.stderr.flush()
    os.execv(arguments[0], arguments)  # noqa: S606  # no shell, our own interpreter


def command() -> list[str]:
    """Return the program and its arguments: this interpreter first, so that addons/options.py can start it again."""
    program = Path(sys.executable).parent / "mitmdump"
    if not program.exists():
        raise Failure(f"mitmdump is not beside {sys.executable}; install flowpool into an environment of its own")
    return [sys.executable, str(program), "-s", str(_pool())]


def _pool() -> Path:
    """Find addons/pool.py without importing it."""
    found = importlib.util.find_spec("addons")
    for folder in (found and found.submodule_search_locations) or ():
        if (pool := Path(folder) / "pool.py").is_file():
            return pool
    raise Failure("addons/pool.py is missing; install flowpool again")
