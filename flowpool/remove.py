"""`flowpool remove`: an account and its secret go, at once and together."""

import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import click

from credentials.backends import open_store
from credentials.credential import Credential
from credentials.errors import CredentialError
from credentials.store import Store
from flowpool import names, proxy
from flowpool.arguments import pass_home
from flowpool.change import NAMES
from home import accounts as book
from home import settings
from home.paths import Home
from routing.words import Account


@click.command
@NAMES
@click.option("--yes", is_flag=True, help="Do not ask first.")
@pass_home
def remove(home: Home, typed: tuple[str, ...], yes: bool) -> None:
    """Forget accounts and delete their secrets from this machine.

    Requests that are on their way end normally. The login itself is not ended: do that at the provider if it may have leaked.
    """
    backend = settings.load(home.config).credentials.backend
    meant = ", ".join(account.name for account in names.find(book.load(home.accounts), typed))
    if not yes and sys.stdin is not None and sys.stdin.isatty():
        click.confirm(f"Remove {meant} and delete the secret?", abort=True, err=True)
    store = open_store(backend, home.state_folder, lambda: [one.id for one in book.load(home.accounts)])
    left = forget(home.accounts, store, typed)
    proxy.tell(home)
    hint = "" if left else "; none is left, so clients use their own login"
    click.echo(f"removed {meant}{hint}")


def forget(path: Path, store: Store, typed: Sequence[str]) -> book.Accounts:
    """Delete the secrets, then the accounts, so that no secret outlives its account; undo the first if the second fails."""
    gone: dict[str, Credential | None] = {}

    def change(known: book.Accounts) -> book.Accounts:
        meant = names.find(known, typed)
        for account in meant:
            gone[account.id] = _kept(store, account)
            store.delete(account.id)
        return tuple(one for one in known if one not in meant)

    try:
        return book.edit(path, change)
    except BaseException:
        for account_id, credential in gone.items():
            if credential is not None:
                with suppress(CredentialError):  # the fault that led here is the one to show
                    store.put(account_id, credential)
        raise


def _kept(store: Store, account: Account) -> Credential | None:
    """Return the secret in case it must be put back; one that cannot be read could not be."""
    try:
        return store.get(account.id)
    except CredentialError:
        return None
