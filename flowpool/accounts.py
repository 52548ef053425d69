"""`flowpool add` and `flowpool accounts`: which accounts the pool has."""

import json
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import click

from credentials.backends import open_store
from credentials.credential import KINDS, Credential, parse
from credentials.errors import BadSecret, CredentialError
from credentials.store import Store
from flowpool import proxy
from flowpool.errors import Failure
from home import accounts as book
from home import settings
from home.paths import Home
from home.schema import PROVIDERS
from routing.words import Account, Kind

LARGEST = 2**20  # bytes of a secret on stdin


@click.command
@click.argument("name")
@click.option("--kind", type=click.Choice(KINDS), help="What the secret is.")
@click.option("--provider", type=click.Choice(PROVIDERS), default=PROVIDERS[0], show_default=True, help="Whose it is.")
@click.option("--no-verify", is_flag=True, help="Do not ask the provider whether it works.")
@click.option("--replace", "again", is_flag=True, help="Give an account that is there already a new secret.")
@click.pass_obj
def add(home: Home, /, name: str, kind: str | None, *, provider: str, no_verify: bool, again: bool) -> None:
    """Add an account; its secret comes from stdin or a hidden prompt, never from the command line."""
    del no_verify  # nothing is asked yet; scripts may say so already
    if not book.is_name(name) or name.startswith("sk-"):  # not quoted: it may be a secret in the wrong place
        raise click.UsageError(f"NAME must be {book.NAME_RULE}; a secret comes from stdin, never as an argument")
    backend = settings.load(home.make().config).credentials.backend
    store = open_store(backend, home.state_folder, lambda: [one.id for one in book.load(home.accounts)])
    found = _find(book.load(home.accounts), name)
    if found and not again:
        raise Failure(f"there is an account {name} already; to give it a new secret add --replace")
    account = _account(found, name, kind, provider)
    _save(home.accounts, store, found, account, parse(account.kind, _read_secret(account)))
    proxy.tell(home)
    click.echo(f"{'replaced the secret of' if found else 'added'} {name} ({account.kind}, {account.provider})")
    if backend == "auto":
        click.echo(f"flowpool: secrets are kept {store.describe()}", err=True)


@click.command
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_obj
def accounts(home: Home, as_json: bool) -> None:
    """List the accounts."""
    known = book.load(home.accounts)
    if as_json:
        click.echo(json.dumps([describe(account) for account in known], indent=2))
    elif not known:
        click.echo("no accounts yet; add one with: flowpool add NAME --kind setup-token")
    elif sys.stdout.isatty():
        from flowpool.views.accounts import view  # noqa: PLC0415  # rich costs 50 ms
        from flowpool.views.screen import show  # noqa: PLC0415

        show(view(tuple(cells(account) for account in known)))
    else:
        for account in known:
            click.echo("\t".join(cells(account)))


def describe(account: Account) -> dict[str, str | bool | int | None]:
    """Return an account's fields as the JSON of `accounts` and `status` has them."""
    return {
        "id": account.id,
        "name": account.name,
        "provider": account.provider,
        "kind": account.kind.value,
        "enabled": account.enabled,
        "rank": account.rank,
    }


def cells(account: Account) -> tuple[str, ...]:
    """Return what a table shows of an account: name, kind, provider, rank, enabled, id."""
    rank = "-" if account.rank is None else str(account.rank)
    state = "enabled" if account.enabled else "disabled"
    return (account.name, account.kind.value, account.provider, rank, state, account.id)


def _find(known: book.Accounts, name: str) -> Account | None:
    return next((account for account in known if account.name == name), None)


def _account(found: Account | None, name: str, kind: str | None, provider: str) -> Account:
    """Return the account as it is to be; what was set on a known one stays."""
    if found and found.provider != provider:
        raise Failure(f"{name} is an account of {found.provider}, not of {provider}")
    if found:
        return replace(found, kind=Kind(kind)) if kind else found
    if kind is None:
        raise click.UsageError(f"--kind is needed: {', '.join(KINDS)}")
    return Account(id=book.new_id(), name=name, provider=provider, kind=Kind(kind))


def _read_secret(account: Account) -> str:
    """Read the secret from a pipe, or ask for it without showing it."""
    if sys.stdin is None or sys.stdin.isatty():
        answer: str = click.prompt(f"{account.kind} of {account.name} (not shown)", hide_input=True, err=True)
        return answer
    data = sys.stdin.buffer.read(LARGEST + 1)
    mend = f"flowpool add {account.name} --kind {account.kind}"
    if len(data) > LARGEST:
        raise BadSecret(f"the secret is longer than {LARGEST} bytes", mend)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise BadSecret("the secret is not text", mend) from None


def _save(path: Path, store: Store, found: Account | None, account: Account, credential: Credential) -> None:
    """Write the secret, then the account, so that no account is ever seen without one; undo the first if the second fails.

    found: the account as it was read before the secret was asked for; None when it is new. Both happen under the lock of
    accounts.toml: of two programs that add one name, the later sees the earlier.
    """
    previous = _stored(store, account)
    written = False

    def change(known: book.Accounts) -> book.Accounts:
        nonlocal written
        current = _find(known, account.name)
        if (current and current.id) != (found and found.id):
            raise Failure(f"{account.name} was added, replaced or removed meanwhile; try again")
        written = True  # perhaps in part, and undoing what was not done is harmless
        store.put(account.id, credential)
        if current is None:
            return (*known, account)
        return tuple(replace(one, kind=account.kind) if one is current else one for one in known)

    try:
        book.edit(path, change)
    except BaseException:
        if written:
            _undo(store, account, previous)
        raise


def _stored(store: Store, account: Account) -> Credential | None:
    """Return the secret that is there; one that cannot be read is as good as none, since it is to be replaced."""
    if account.id not in store.ids():
        return None
    try:
        return store.get(account.id)
    except CredentialError:
        return None


def _undo(store: Store, account: Account, previous: Credential | None) -> None:
    with suppress(CredentialError):  # the fault that led here is the one to show
        if previous is None:
            store.delete(account.id)
        else:
            store.put(account.id, previous)
