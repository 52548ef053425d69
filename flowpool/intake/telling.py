"""Lets whoever uses the secrets know that some are new: the running proxy, or what its last run left for the next one."""

from collections.abc import Collection

import click

from flowpool import proxy
from flowpool.proxy import Told
from home.errors import HomeError
from home.paths import Home
from routing.words import Account


def tell(home: Home, renewed: Collection[Account]) -> Told:
    """Tell of new accounts and secrets. renewed: the accounts that were there already, whose secret is another now."""
    told = proxy.tell(home)
    if renewed and told is Told.NOBODY:
        _lift(home, renewed)
    return told


def _lift(home: Home, renewed: Collection[Account]) -> None:
    """Without a proxy: end what the next one would hold against the old secrets."""
    if not home.state.exists():
        return
    from home.state import lifting  # noqa: PLC0415  # SQLAlchemy costs 200 ms
    from routing.verdicts import LOGIN_ROWS  # noqa: PLC0415

    try:
        lifting.lift(home.state, [account.id for account in renewed], LOGIN_ROWS)
    except HomeError as error:  # the secrets are replaced; this is about how soon they are used
        for account in renewed:
            click.echo(f"flowpool: {account.name} may stay held for its old secret: {error}", err=True)
