"""`flowpool primary`: says whose identity a Claude Code has that has no login of its own."""

from dataclasses import replace

import click

from flowpool import names, proxy
from flowpool.arguments import pass_home
from flowpool.errors import Failure
from home import accounts as book
from home.paths import Home
from routing.words import Account

NONE = "none"


@click.command
@click.argument("typed", metavar=f"[NAME|{NONE}]", required=False, shell_complete=names.complete)
@pass_home
def primary(home: Home, typed: str | None) -> None:
    """Make one account the primary.

    Turns go to whichever account has room; this is about the rest. A Claude Code without a login of its own, started by "flowpool run", takes the primary's identity for what belongs to one, such as its profile. One that is logged in keeps its own. "none" takes it away again; without a name it shows which one it is.
    """
    if typed is None:
        click.echo(_shown(book.load(home.accounts)))
        return
    now = book.edit(home.accounts, lambda known: _made(known, typed))
    proxy.tell(home)
    click.echo(_shown(now))


def _made(known: book.Accounts, typed: str) -> book.Accounts:
    """Return the accounts, of which at most the one that was named is the primary. Raises Failure."""
    if typed == NONE:
        return tuple(replace(one, primary=False) for one in known)
    (meant,) = names.find(known, [typed])
    if not meant.enabled:
        raise Failure(f"{meant.name} is disabled; run: flowpool enable {meant.name}")
    return tuple(replace(one, primary=one is meant) for one in known)


def _shown(known: tuple[Account, ...]) -> str:
    name = next((one.name for one in known if one.primary), None)
    if name is None:
        return "no account is the primary; make one with: flowpool primary NAME"
    return f"{name} is the primary: a client without a login of its own has its identity; undo: flowpool primary {NONE}"
