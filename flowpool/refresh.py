"""`flowpool refresh`: logins are renewed now."""

from contextlib import suppress
from datetime import UTC, datetime

import click

from credentials import renewer
from credentials.backends import open_store
from credentials.credential import Credential
from credentials.errors import CredentialError
from credentials.renewer import ADOPTED, CURRENT, DEAD, GONE, NONE, RENEWED, SYSTEMIC, WAITING, Outcome
from credentials.store import Store
from flowpool import names, proxy, worker
from flowpool.arguments import pass_home
from home import accounts as book
from home import keeping, settings
from home.paths import Home
from routing.words import Account

GOOD = frozenset({RENEWED, CURRENT, ADOPTED})
HARMLESS = GOOD | {NONE, GONE}
HELP = """Renew logins now, without waiting until they are about to end.

A running proxy does this by itself in time, also for disabled accounts. Without NAME, all accounts that can be renewed are, one after
another. What cannot be renewed (a setup-token, an API key) is left alone.
"""


@click.command(help=HELP, short_help="Renew logins now.")
@click.argument("typed", metavar="[NAME]...", nargs=-1, shell_complete=names.complete)
@click.option("--worker", "is_worker", is_flag=True, hidden=True, help="Renew one login and talk to a program.")
@click.option("--account-id", hidden=True, default="", help="Which one.")
@click.option("--due", "is_due_only", is_flag=True, hidden=True, help="Only if it is due.")
@click.option("--asked-for", "is_asked_for", is_flag=True, hidden=True, help="By a person.")
@pass_home
def refresh(
    home: Home, /, typed: tuple[str, ...], *, is_worker: bool, account_id: str, is_due_only: bool, is_asked_for: bool
) -> None:
    """Renew logins, or be the worker that renews one."""
    if is_worker:
        worker.work(home, account_id, is_due_only=is_due_only, is_asked_for=is_asked_for)
        return
    backend = settings.load(home.config).credentials.backend
    known = book.load(home.accounts)
    store = open_store(backend, home.state_folder, lambda: [one.id for one in book.load(home.accounts)])
    meant = names.find(known, typed) if typed else tuple(one for one in known if _is_refreshable(store, one))
    if not meant:
        click.echo("no account has a login that can be renewed")
        return
    outcomes = [_refresh(home, store, account) for account in meant]
    if any(outcome.name in GOOD for outcome in outcomes):
        proxy.tell(home)
    if any(outcome.name not in HARMLESS for outcome in outcomes):
        raise SystemExit(1)


def _refresh(home: Home, store: Store, account: Account) -> Outcome:
    """Renew one login and say how it went."""
    outcome = renewer.run(
        renewer.command(account.id, is_asked_for=True),
        lambda handed: keeping.keep(home.accounts, store, account, handed),
    )
    credential = _stored(store, account) if outcome.name in GOOD else None
    click.echo(f"{account.name}: {proxy.clean(_said(account, outcome, credential))}", err=outcome.name not in HARMLESS)
    return outcome


def _is_refreshable(store: Store, account: Account) -> bool:
    credential = _stored(store, account)
    return credential is not None and credential.refresh is not None


def _stored(store: Store, account: Account) -> Credential | None:
    with suppress(CredentialError):  # what cannot be read cannot be renewed, and `status` says so
        return store.get(account.id)
    return None


def _said(account: Account, outcome: Outcome, credential: Credential | None) -> str:
    """Say it in one line; a failure's ends with the command that mends it."""
    because, provider = outcome.because, account.provider
    again = "" if "; run: " in because else f"; run: flowpool refresh {account.name}"
    said = {
        RENEWED: f"renewed{_lasts(credential)}",
        ADOPTED: f"took over the newer login of {account.source}{_lasts(credential)}",
        CURRENT: f"not renewed, as {because}{_lasts(credential)}",
        NONE: because,
        GONE: because,
        DEAD: f"its login has ended ({because}); run: flowpool login {account.name}",
        WAITING: f"not renewed: {provider} is not to be asked before {_at(outcome.retry_at)} ({because}){again}",
        SYSTEMIC: f"not renewed: {provider} does not accept how flowpool asks ({because}); no login is to blame{again}",
    }
    return said.get(outcome.name, f"not renewed: {because}{again}")


def _lasts(credential: Credential | None) -> str:
    if credential is None or credential.expires_at is None:
        return ""
    ends = credential.refresh_expires_at
    further = f", its login ends {_at(ends)}" if ends else ""
    return f"; access until {_at(credential.expires_at)}{further}"


def _at(moment: datetime | None) -> str:
    from routing import moments  # noqa: PLC0415  # only who has something to say of times needs it

    return moments.said(moment, datetime.now(UTC)) if moment else "later"
