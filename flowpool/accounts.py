"""`flowpool accounts`: which accounts the pool has."""

import json
import sys

import click

from flowpool.arguments import pass_home
from home import accounts as book
from home.paths import Home
from routing.words import Account


@click.command
@click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")
@pass_home
def accounts(home: Home, as_json: bool) -> None:
    """List the accounts, with their kinds and ranks.

    `flowpool status` shows how full they are.
    """
    known = book.load(home.accounts)
    if as_json:
        click.echo(json.dumps([book.describe(account) for account in known], indent=2))
    elif not known:
        click.echo("no accounts yet; add one with: flowpool add NAME --kind setup-token")
    elif sys.stdout.isatty():
        from flowpool.views.accounts import view  # noqa: PLC0415  # rich costs 50 ms
        from flowpool.views.screen import show  # noqa: PLC0415

        show(view(tuple(cells(account) for account in known)))
    else:
        for account in known:
            click.echo("\t".join(cells(account)))


def cells(account: Account) -> tuple[str, ...]:
    """Return what a table shows of an account: name, kind, provider, rank, enabled, id."""
    rank = "-" if account.rank is None else str(account.rank)
    state = "enabled" if account.enabled else "disabled"
    return (account.name, account.kind.value, account.provider, rank, state, account.id)
