"""What an export holds: accounts with their secrets, as one document, and how it comes into another pool."""

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from credentials import record, worth
from credentials.credential import Credential, shares_secret
from credentials.errors import BadParcel, CredentialError
from credentials.store import Store
from flowpool.intake import placing
from home import accounts as book
from home.errors import HomeError
from routing.words import Account, AccountId, Identity

VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Luggage:
    """Accounts, and the secret of each by its id."""

    accounts: book.Accounts
    secrets: Mapping[AccountId, Credential]


@dataclass(slots=True, kw_only=True)
class Arrival:
    """What became of each account, as names here; of those whose name was taken also the name that they brought.

    kept: those whose secret here is the better one, with what makes it so.
    """

    added: dict[str, str] = field(default_factory=dict)
    replaced: list[str] = field(default_factory=list)
    kept: dict[str, str] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)


def pack(luggage: Luggage) -> bytes:
    """Return the document, secrets in clear: for a parcel only."""
    secrets = {account_id: record.dump(credential) for account_id, credential in luggage.secrets.items()}
    document = {"version": VERSION, "accounts": book.render(luggage.accounts).decode(), "secrets": secrets}
    return json.dumps(document).encode()


def unpack(data: bytes, path: Path) -> Luggage:
    """Read a document; raise BadParcel. path: for the messages."""
    try:
        found = json.loads(data)
        accounts = book.parse(path, found["accounts"].encode())
        secrets = {account.id: record.load(found["secrets"][account.id]) for account in accounts}
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError, HomeError):
        raise BadParcel(
            "what is in the file makes no accounts, or a newer flowpool wrote it", "flowpool --version"
        ) from None
    return Luggage(accounts=accounts, secrets=secrets)


def unload(path: Path, store: Store, luggage: Luggage, now: datetime, *, replaces: bool) -> Arrival:
    """Put accounts and secrets into a pool, all under the lock of accounts.toml; undo what was done when anything fails.

    replaces: whether one that is there already, by its id, its identity or its secret, gets the new secret,
    unless that is the poorer one: an export grows old, and its logins are renewed meanwhile.
    """
    before: dict[AccountId, Credential | None] = {}
    arrival = Arrival()

    def change(known: book.Accounts) -> book.Accounts:
        pool = list(known)
        for account in luggage.accounts:
            secret = luggage.secrets[account.id]
            twin = _twin(pool, store, account, secret)
            if twin is None:
                came = replace(
                    account,
                    name=placing.free(account.name, {one.name for one in pool}),
                    source="",  # that file is another machine's
                    primary=account.primary and not any(one.primary for one in pool),
                )
                _keep(store, came, secret, before)
                pool.append(came)
                arrival.added[account.name] = came.name
            elif replaces and (lost := _loss(store, twin, secret, now)):
                arrival.kept[twin.name] = lost
            elif replaces:
                _keep(store, twin, secret, before)
                whose = account.identity if account.identity != Identity() else twin.identity
                pool[pool.index(twin)] = replace(twin, kind=account.kind, identity=whose, source="")
                arrival.replaced.append(twin.name)
            else:
                arrival.skipped[account.name] = twin.name
        return tuple(pool)

    try:
        book.edit(path, change)
    except BaseException:
        _undo(store, before)
        raise
    return arrival


def _twin(pool: list[Account], store: Store, account: Account, secret: Credential) -> Account | None:
    """Return the account that is the same: by id, else by identity, else by secret."""
    for one in pool:
        if one.id == account.id:
            return one
    for one in pool:
        if one.identity.is_same(account.identity):
            return one
    return next((one for one in pool if _opens_the_same(store, one, secret)), None)


def _opens_the_same(store: Store, account: Account, secret: Credential) -> bool:
    try:
        return shares_secret(store.get(account.id), secret)
    except CredentialError:
        return False  # what cannot be read cannot be compared


def _loss(store: Store, account: Account, secret: Credential, now: datetime) -> str:
    """Return what makes the secret that is there the better one; empty when it is not, or cannot be read."""
    try:
        return worth.loss(store.get(account.id), secret, now)
    except CredentialError:
        return ""


def _keep(store: Store, account: Account, secret: Credential, before: dict[AccountId, Credential | None]) -> None:
    """Put a secret, and note first what was there; one that cannot be read could not be put back."""
    if account.id not in before:
        before[account.id] = None
        with suppress(CredentialError):
            before[account.id] = store.get(account.id)
    store.put(account.id, secret)


def _undo(store: Store, before: Mapping[AccountId, Credential | None]) -> None:
    for account_id, credential in before.items():
        with suppress(CredentialError):  # the fault that led here is the one to show
            if credential is None:
                store.delete(account_id)
            else:
                store.put(account_id, credential)
