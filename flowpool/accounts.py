"""`flowpool accounts`: which accounts the pool has, and how they come to another machine."""

import json
import sys
from pathlib import Path

import click

from flowpool.arguments import pass_home
from flowpool.parcels import passphrase
from home import accounts as book
from home.paths import Home
from routing.words import Account

FILE = click.argument("file", metavar="FILE|-", type=click.Path(path_type=Path, allow_dash=True))


@click.group(invoke_without_command=True)
@click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")
@click.pass_context
def accounts(ctx: click.Context, as_json: bool) -> None:
    """List the accounts, with their kinds and ranks.

    `flowpool status` shows how full they are.
    """
    if ctx.invoked_subcommand is None:
        _list(as_json)


@accounts.command
@FILE
@passphrase.OPTION
@click.option("--force", is_flag=True, help="Write over a file that is there.")
@pass_home
def export(home: Home, file: Path, *, passphrase_file: Path | None, force: bool) -> None:
    """Write all accounts into a file, for another machine.

    Their secrets are in it, encrypted with a passphrase. `flowpool accounts import FILE` on another machine reads it; - is stdout. Who has the file and the passphrase has the accounts.
    """
    from flowpool.parcels import exporting  # noqa: PLC0415  # listing needs none of it

    exporting.run(home, file, passphrase_file, force=force)


@accounts.command("import")
@FILE
@passphrase.OPTION
@click.option("--replace", is_flag=True, help="Give accounts that are there already the secrets of the file.")
@pass_home
def import_(home: Home, file: Path, *, passphrase_file: Path | None, replace: bool) -> None:
    """Take accounts in from a file of another machine.

    `flowpool accounts export` wrote it, with the secrets in it. - is stdin. One that is there already is left as it is; one whose name is taken gets another name. All or nothing.
    """
    from flowpool.parcels import importing  # noqa: PLC0415

    importing.run(home, file, passphrase_file, replaces=replace)


@pass_home
def _list(home: Home, as_json: bool) -> None:
    """Show them to a person, a script or a program."""
    known = book.load(home.accounts)
    if as_json:
        click.echo(json.dumps([book.describe(account) for account in known], indent=2))
    elif not known:
        click.echo("no accounts yet; add one with: flowpool login NAME")
    elif sys.stdout is not None and sys.stdout.isatty():
        from flowpool.views.accounts import view  # noqa: PLC0415  # rich costs 50 ms
        from flowpool.views.screen import show  # noqa: PLC0415

        show(view(tuple(cells(account) for account in known)))
    else:
        for account in known:
            click.echo("\t".join(cells(account)))


def cells(account: Account) -> tuple[str, ...]:
    """Return what a table shows of an account: name, kind, provider, rank, enabled, id, and last where there is any its cap, whether it is the primary, and its reserves."""
    rank = "-" if account.rank is None else str(account.rank)
    state = "enabled" if account.enabled else "disabled"
    bounds = _bounds(account)
    return (account.name, account.kind.value, account.provider, rank, state, account.id, *([bounds] if bounds else []))


def _bounds(account: Account) -> str:
    kept = account.reserves
    words = [] if account.cap is None else [f"cap {account.cap}"]
    words += ["primary"] if account.primary else []
    words += [f"{part:.0%} of {key} kept back" for part, key in ((kept.session, "5h"), (kept.week, "7d")) if part]
    return ", ".join(words)
