"""`flowpool import`: Claude Code's own login comes into the pool."""

import os
from datetime import UTC, datetime
from pathlib import Path

import click

from flowpool.arguments import FORCE, NO_VERIFY, account_name, pass_home
from flowpool.errors import Failure
from flowpool.intake import placing, taking
from flowpool.vendor import logins
from home import accounts as book
from home import clientlogin, settings
from home.paths import Home

HELP = """Take Claude Code's own login into the pool.

It is read from where Claude Code keeps it, and left there. From then on it has
two owners, and each renewal by one may log the other out: a login of its own is
better, which `flowpool login NAME` gets.

\b
  flowpool import
  flowpool import --from /backup/.credentials.json --name work
"""


@click.command("import", help=HELP, short_help="Take Claude Code's own login.")
@click.option(
    "--from", "file", metavar="FILE", type=click.Path(path_type=Path), help="Another login file than Claude Code's."
)
@click.option("--name", metavar="NAME", callback=account_name, help="What to call it; else the address tells.")
@NO_VERIFY
@FORCE
@pass_home
def import_(home: Home, file: Path | None, name: str | None, no_verify: bool, force: bool) -> None:
    """Read the login, and keep it."""
    chosen = settings.load(home.config)
    known = book.load(home.accounts)
    again = f"flowpool login {name}" if name else "flowpool login"
    place = clientlogin.of_file(file) if file else clientlogin.usual(os.environ)
    login = clientlogin.read(place)
    if login is None:
        raise Failure(f"there is no login of Claude Code's in {place}; log in with Claude Code, or run: {again}")
    it = logins.understood(login, str(login.file or place.item), again)
    source = str(login.file or "")
    offer = taking.Offer(
        credential=it.credential,
        name=name,
        command="flowpool import --name",
        again=again,
        identity=it.identity,
        source=source if book.is_fact(source) else "",
    )
    taken = taking.take(home, chosen, known, offer, datetime.now(UTC), no_verify=no_verify, by_force=force)
    account = taken.account
    whose = placing.told(account.identity) or f"{account.kind}, {account.provider}"
    click.echo(f"imported {account.name}{'' if taken.is_new else ' again'}: {whose}{taken.standing}")
    click.echo(
        f"flowpool: {account.name}'s login has two owners now, Claude Code and flowpool, and each renewal by one may log the "
        f"other out; better give it a login of its own; run: flowpool login {account.name}",
        err=True,
    )
