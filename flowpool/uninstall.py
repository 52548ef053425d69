"""`flowpool uninstall`: other programs' files are as they were found, nothing of flowpool's runs, and what stays is said."""

import shlex
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import click

from credentials.errors import CredentialError
from flowpool import leftovers, stop
from flowpool import purge as purging
from flowpool.errors import Failure
from flowpool.launch import connect, link, service
from home import settings
from home.errors import HomeError
from home.paths import Home

FAULTS = (OSError, Failure, HomeError, CredentialError)
ALL = "flowpool uninstall --purge"
NO_SERVICE = "no service is installed"  # how service.remove says that there was none


@click.command
@click.option("--purge", is_flag=True, help="Also delete accounts with their secrets, settings and history.")
@click.option("--yes", is_flag=True, help="Do not ask first.")
@click.pass_obj
def uninstall(home: Home, purge: bool, yes: bool) -> None:
    """Undo all that flowpool did outside its own folders.

    Claude Code's settings are as they were before `connect`, link and service are gone, and the proxy has ended. Accounts, secrets,
    settings and history stay unless you say --purge. What fails keeps nothing else from being undone, and ends this with 1.
    """
    _agree(purge=purge, yes=yes)
    exchanges = _exchanges(home)
    undone = {work: _is_done(work, home) for work in (_tidied, connect.undo, link.unlink, _served_no_more, _stopped)}
    is_ok = all(undone.values())
    if purge and not (undone[connect.undo] and undone[_stopped]):
        click.echo(f"flowpool: nothing is deleted before that is undone; then run: {ALL}", err=True)
    elif purge:
        is_ok = _purged(home) and is_ok
    else:
        _tell_what_stays(home)
    for line in (*exchanges, *_rest()):
        click.echo(line)
    if not is_ok:
        sys.exit(1)


def _agree(*, purge: bool, yes: bool) -> None:
    """Ask a person; raise Failure where there is none to be asked."""
    command = ALL if purge else "flowpool uninstall"
    if yes:
        return
    if sys.stdin is None or not sys.stdin.isatty():
        raise Failure(f"there is no terminal to ask at, so nothing was done; run: {command} --yes")
    question = "Stop the proxy, and undo what flowpool did to Claude Code's settings, its link and its service"
    more = ", and delete all accounts with their secrets, all settings and the history" if purge else ""
    click.confirm(f"{question}{more}?", abort=True, err=True)


def _is_done(work: Callable[[Home], Sequence[str]], home: Home) -> bool:
    """Say what a part of it undid; what failed is said too."""
    try:
        for line in work(home):
            click.echo(line)
    except FAULTS as error:
        for line in str(error).splitlines():
            click.echo(f"flowpool: {line}", err=True)
        return False
    return True


def _tidied(home: Home) -> list[str]:
    """Take away what killed programs left, first of all beside Claude Code's settings."""
    return [one.take_away() for one in leftovers.find(home)]


def _served_no_more(home: Home) -> list[str]:
    return [line for line in service.remove(home) if not line.startswith(NO_SERVICE)]


def _stopped(home: Home) -> list[str]:
    said = stop.end(home)
    return [] if said == stop.NONE else [said]


def _purged(home: Home) -> bool:
    """Delete secrets, then the rest: while a secret is left, so is the list of accounts that it can be found by."""
    if not _is_done(lambda home: [purging.secrets(home)], home):
        click.echo(f"flowpool: the rest stays until the secrets are deleted; then run: {ALL}", err=True)
        return False
    try:
        done, left = purging.folders(home)
    except OSError as error:
        click.echo(f"flowpool: {error.filename}: {error.strerror}; then run: {ALL}", err=True)
        return False
    for line in done:
        click.echo(line)
    for path in left:
        click.echo(f"{path} stays: it is not flowpool's; to delete it: rm -r {shlex.quote(str(path))}")
    return True


def _tell_what_stays(home: Home) -> None:
    there = [str(folder) for folder in dict.fromkeys((home.config_folder, home.state_folder)) if folder.exists()]
    if there:
        click.echo(f"accounts, secrets, settings and history stay in {' and '.join(there)}; to delete them: {ALL}")


def _exchanges(home: Home) -> list[str]:
    """Say where whole exchanges are kept: a folder of the person's own, so it stays."""
    try:
        folder = Path(settings.parse(home.config, home.config.read_bytes()).log.bodies).expanduser()
    except (HomeError, OSError, RuntimeError):
        return []
    if not folder.name or not folder.exists():
        return []
    return [f"whole exchanges stay in {folder}; to delete them: rm -r {shlex.quote(str(folder))}"]


def _rest() -> tuple[str, str]:
    """Say what a program cannot do from inside, and what is not its own."""
    return (
        "what you put into your shell's own file, for `flowpool env` or `link`, is yours to take out",
        f"to remove the program itself: {program(Path(sys.prefix))}",
    )


def program(prefix: Path) -> str:
    """Return the command that removes the installation that lives there."""
    parts = prefix.parts
    if "pipx" in parts:
        return "pipx uninstall flowpool"
    if "uv" in parts and "tools" in parts:
        return "uv tool uninstall flowpool"
    return f"{shlex.quote(sys.executable)} -m pip uninstall flowpool"
