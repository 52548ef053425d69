"""Takes in a credential that somebody brings: whose it is, whether it is good, where it belongs; then it is kept and told."""

from dataclasses import dataclass, field, replace
from datetime import datetime

import click

from credentials.backends import open_store
from credentials.credential import USUAL, Credential, is_usual
from flowpool.intake import placing, saving, telling, verify, whose
from flowpool.proxy import Told
from home import accounts as book
from home import outbound
from home.paths import Home
from home.schema import PROVIDERS
from home.settings import Settings
from routing.words import Account, Identity, Kind


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A credential, and what came along with it.

    name: as it was typed, None when it was left out. identity: what is known of whose it is. source: as an account's. is_fresh: it
    was made just now. command: what was typed, without a name. again: what to run once there is another secret.
    """

    credential: Credential
    name: str | None
    command: str
    again: str
    provider: str = PROVIDERS[0]
    identity: Identity = field(default_factory=Identity)
    source: str = ""
    is_fresh: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """What became of it. is_new: the account was not there before. standing: what is to be said of both."""

    account: Account
    is_new: bool
    standing: str


def take(
    home: Home, chosen: Settings, known: book.Accounts, offer: Offer, now: datetime, *, no_verify: bool, by_force: bool
) -> Taken:
    """Check it, keep it, and tell the running proxy. known: the accounts that the offer was made for. Raises Failure."""
    backend = chosen.credentials.backend
    store = open_store(backend, home.state_folder, lambda: [one.id for one in book.load(home.accounts)])
    is_first = not {one.id for one in known}.intersection(store.ids())  # or secrets are kept elsewhere by now
    holder = saving.holder(store, known, offer.credential) if offer.name is None else None
    if offer.is_fresh:
        placing.find(known, offer.name, offer.identity, offer.command)  # what does not go together is not asked about
    upstream, way = chosen.providers.anthropic.upstream, outbound.way(chosen.outbound)
    checked = verify.UNASKED
    if not no_verify:
        checked = verify.check(upstream, offer.provider, offer.credential, offer.again, now, way=way)
    if checked.is_accepted and not (offer.is_fresh and offer.identity.owner):
        said = whose.ask(upstream, offer.credential, way)  # the client may remember another login than its file holds
        offer = replace(offer, identity=placing.corrected(offer.identity, said))
    found = placing.find(known, offer.name, offer.identity, offer.command) or holder
    account = _account(known, found, offer)
    wish = saving.Wish(
        found=found,
        account=account,
        credential=offer.credential,
        again=offer.again,
        by_force=by_force,
        is_fresh=offer.is_fresh,
    )
    saving.save(home.accounts, store, wish, now)
    has_it = _tell(home, account, is_new=found is None)
    _warn(account, offer.credential, f"secrets are kept {store.describe()}" if backend == "auto" and is_first else "")
    return Taken(account=account, is_new=found is None, standing=f"{has_it}; {checked.says}")


def _account(known: book.Accounts, found: Account | None, offer: Offer) -> Account:
    """Return the account as it is to be; what was set on a known one stays."""
    kind = Kind(offer.credential.kind)
    base = found or Account(
        id=book.new_id(),
        name=offer.name or placing.fresh_name(known, offer.identity.email),
        provider=offer.provider,
        kind=kind,
    )
    return replace(base, kind=kind, identity=placing.merged(base.identity, offer.identity), source=offer.source)


def _tell(home: Home, account: Account, *, is_new: bool) -> str:
    """Let the proxy know, and return what to say of that."""
    told = telling.tell(home, () if is_new else (account,))
    return "; the running proxy has it" if told is Told.TAKEN and account.enabled else ""


def _warn(account: Account, credential: Credential, kept: str) -> None:
    """Say what a person should know besides."""
    if not is_usual(credential):
        odd = f"a {account.kind} begins with {USUAL} so far, and this secret does not; it was taken, as that may change"
        click.echo(f"flowpool: {odd}; if it is the wrong one, run: flowpool add {account.name} --replace", err=True)
    if kept:
        click.echo(f"flowpool: {kept}", err=True)
