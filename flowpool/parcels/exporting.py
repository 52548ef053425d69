"""`flowpool accounts export`: all accounts and their secrets, as a parcel for another machine."""

import shlex
import sys
from pathlib import Path

import click

from credentials import files, parcel
from credentials.backends import open_store
from credentials.credential import Credential
from credentials.errors import CredentialError
from credentials.store import Store
from flowpool.errors import Failure
from flowpool.parcels import carrying, passphrase
from flowpool.parcels.carrying import Luggage
from home import accounts as book
from home import settings
from home.paths import Home
from routing.words import AccountId

STDOUT = Path("-")
TWO_OWNERS = (
    "{}: what is renewed has two owners once it is imported elsewhere, and whichever renews it first logs the other out; "
    "stop the proxy here before, or log in anew there, with: flowpool login {}"
)


def run(home: Home, file: Path, passphrase_file: Path | None, *, force: bool) -> None:
    """Write the parcel, and say what is in it."""
    command = f"flowpool accounts export {shlex.quote(str(file))}"
    if file == STDOUT and sys.stdout is None:
        raise Failure("there is no stdout to write to; run: flowpool accounts export FILE")
    _refuse_taken(file, command, force=force)
    known = book.load(home.accounts)
    store = open_store(
        settings.load(home.config).credentials.backend, home.state_folder, lambda: [one.id for one in known]
    )
    luggage = collect(known, store)
    sealed = parcel.seal(carrying.pack(luggage), passphrase.ask(passphrase_file, command, twice=True))
    _write(file, sealed, command, force=force)
    count = len(luggage.accounts)
    click.echo(f"flowpool: exported {'1 account' if count == 1 else f'{count} accounts'}", err=True)
    for account in luggage.accounts:
        if luggage.secrets[account.id].refresh:
            click.echo(f"flowpool: {TWO_OWNERS.format(account.name, account.name)}", err=True)


def collect(known: book.Accounts, store: Store) -> Luggage:
    """Return the accounts whose secrets can be read; the others are named."""
    secrets: dict[AccountId, Credential] = {}
    for account in known:
        try:
            secrets[account.id] = store.get(account.id)
        except CredentialError as error:
            click.echo(f"flowpool: {account.name} is not in it: {error.naming(account.name)}", err=True)
    if not secrets:
        raise Failure("there is no account to export; look at: flowpool accounts")
    return Luggage(accounts=tuple(one for one in known if one.id in secrets), secrets=secrets)


def _refuse_taken(file: Path, command: str, *, force: bool) -> None:
    if file != STDOUT and file.exists() and not force:
        raise Failure(f"{file} is there already; to write over it, run: {command} --force")


def _write(file: Path, data: bytes, command: str, *, force: bool) -> None:
    if file == STDOUT:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    elif force:
        files.write(file, data)
    elif not files.create(file, data):
        _refuse_taken(file, command, force=force)
