"""`flowpool credentials`: where secrets are kept, and how they get elsewhere."""

import shlex
import sys

import click

from credentials import files, moving
from credentials.backends import open_place, open_store
from credentials.errors import CredentialError, NoKeyring
from credentials.store import Store
from flowpool.arguments import pass_home
from home import accounts as book
from home import settings
from home.paths import Home

PLACES = ("keyring", "file")
IN = {"keyring": "in the system's keyring", "file": "in secrets.json"}


@click.group(invoke_without_command=True)
@click.pass_context
def credentials(ctx: click.Context) -> None:
    """Say where secrets are kept, and whether each can be read."""
    if ctx.invoked_subcommand is None:
        _show()


@pass_home
def _show(home: Home) -> None:
    known = book.load(home.accounts)
    backend = settings.load(home.config).credentials.backend
    store = open_store(backend, home.state_folder, lambda: [account.id for account in known])
    click.echo(f"secrets are kept {store.describe()}")
    for account in known:
        click.echo(f"{account.name}: {_readable(store, account.id, account.name)}")


def _readable(store: Store, account_id: str, name: str) -> str:
    try:
        store.get(account_id)
    except CredentialError as error:
        return f"unreadable: {error.naming(name)}"
    return "readable"


@credentials.command
@click.argument("place", type=click.Choice(PLACES))
@pass_home
def move(home: Home, place: str) -> None:
    """Keep all secrets in the keyring, or in the file, from now on.

    They are copied, read back and compared; only then the old ones are erased. When anything fails, all are readable where they were;
    when it is interrupted, run it again.
    """
    backend = settings.load(home.config).credentials.backend
    old = next(other for other in PLACES if other != place)
    carry = moving.copy if backend == old else moving.move  # who reads the old place alone must still find them there
    with files.lock(home.accounts):  # none comes or goes meanwhile
        names: dict[str, str] = {account.id: account.name for account in book.load(home.accounts)}
        target = open_place(place, home.state_folder, lambda: names)
        try:
            source = open_place(old, home.state_folder, lambda: names)
        except NoKeyring:
            if backend == old or not all(target.saved_at(account_id) for account_id in names):
                raise
            click.echo(_said(len(names), place, "already"))
            return
        moved = carry(names, source, target)
        is_emptied = old == "file" and carry is moving.move and not moved.left
        strays = set(source.ids()).difference(names) if is_emptied else ()
    for account_id in moved.missing:
        name = names[account_id]
        click.echo(f"flowpool: {name} has no secret; run: flowpool add {name} --replace", err=True)
    if strays:
        those = "1 secret" if len(strays) == 1 else f"{len(strays)} secrets"
        click.echo(
            f"flowpool: {home.secrets} still holds {those} of no account that accounts.toml names, and nothing else; "
            f"if you miss none, run: rm {shlex.quote(str(home.secrets))}",
            err=True,
        )
    _tell(home, place, moved, backend=backend, old=old)


def _said(count: int, place: str, when: str) -> str:
    those = "the secret of 1 account is" if count == 1 else f"the secrets of {count} accounts are"
    return f"{those} {IN[place]} {when}" if count else "there is no secret to move"


def _tell(home: Home, place: str, moved: moving.Moved, *, backend: str, old: str) -> None:
    """Say what was done, and what is left to do for the person: config.toml is theirs."""
    count = len(moved.copied) + len(moved.there)
    click.echo(_said(count, place, "now" if moved.copied else "already"))
    again = f"flowpool credentials move {place}"
    line = f'in {home.config}, under [credentials]: backend = "{place}"'
    if count and backend == old:
        click.echo(
            f"flowpool: they are still {IN[old]} as well, which is the one place where {home.config} lets them be looked for; "
            f"to finish, stop the proxy if one runs, and set, {line}; then, before the proxy is started again, run: {again}",
            err=True,
        )
    elif backend == "auto" and place == "file":
        click.echo(f"flowpool: one that is saved anew goes to the keyring again unless you set, {line}", err=True)
    if moved.left:
        click.echo(f"flowpool: {len(moved.left)} could not be erased {IN[old]}; run: {again}", err=True)
        sys.exit(1)
