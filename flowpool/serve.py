"""`flowpool serve`, `mitmdump`, `mitmweb`: the ways to run the proxy. The only file of this package that knows addons/."""

import importlib.util
import os
import sys
from pathlib import Path

import click

from credentials.backends import open_store
from flowpool.arguments import pass_home
from flowpool.errors import Failure
from home import accounts, outbound, settings
from home.paths import Home
from home.settings import Settings

PASS_ON = {"ignore_unknown_options": True, "help_option_names": []}
"""Everything after the program's name, --help included, is the program's own."""


@click.command
@click.option("--no-screen", is_flag=True, hidden=True, help="Say nothing but what begins and ends it.")
@pass_home
def serve(home: Home, no_screen: bool) -> None:
    """Run the proxy in this terminal, until Ctrl-C."""
    chosen = _checked(home)
    from addons import lean  # noqa: PLC0415  # mitmproxy costs half a second

    lean.run(home, chosen, has_screen=not no_screen)


@click.command(context_settings=PASS_ON, add_help_option=False)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@pass_home
def mitmdump(home: Home, arguments: tuple[str, ...]) -> None:
    """Run the proxy inside mitmdump, with its arguments."""
    _become("mitmdump", home, arguments)


@click.command(context_settings=PASS_ON, add_help_option=False)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@pass_home
def mitmweb(home: Home, arguments: tuple[str, ...]) -> None:
    """Run the proxy inside mitmweb, to look at its flows in a browser."""
    _become("mitmweb", home, arguments)


def _become(program: str, home: Home, arguments: tuple[str, ...]) -> None:
    _checked(home)
    full = [*command(program), *arguments]
    sys.stdout.flush()
    sys.stderr.flush()
    os.execv(full[0], full)  # noqa: S606  # no shell, our own interpreter


def _checked(home: Home) -> Settings:
    """Say what is wrong in the user's files before anything starts."""
    chosen = settings.load(home.config)
    outbound.check(home.config, chosen)
    accounts.load(home.accounts)
    open_store(chosen.credentials.backend, home.state_folder).ids()
    return chosen


def command(program: str) -> list[str]:
    """Return the program and its arguments: this interpreter first, so that addons/options.py can start it again."""
    path = Path(sys.executable).parent / program
    if not path.exists():
        raise Failure(f"{program} is not beside {sys.executable}; install flowpool into an environment of its own")
    return [sys.executable, str(path), "-s", str(_pool())]


def _pool() -> Path:
    """Find addons/pool.py without importing it."""
    found = importlib.util.find_spec("addons")
    for folder in (found and found.submodule_search_locations) or ():
        if (pool := Path(folder) / "pool.py").is_file():
            return pool
    raise Failure("addons/pool.py is missing; install flowpool again")
