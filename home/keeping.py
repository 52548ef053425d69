"""Keeps a renewed login: in the store where the spent one still is, and what it told of its owner in accounts.toml."""

from contextlib import suppress
from dataclasses import asdict, fields, replace
from pathlib import Path

from credentials import files
from credentials.credential import Credential
from credentials.errors import CredentialError, NotStored
from credentials.renewal import fingerprint
from credentials.renewer import CURRENT, FAILED, GONE, RENEWED, Handed, Outcome
from credentials.store import Store
from home import accounts as book
from home.errors import HomeError
from routing.words import Account, Identity


def keep(path: Path, store: Store, account: Account, handed: Handed) -> Outcome:
    """Write a pair, durable when this returns; whoever does it a second time changes nothing.

    path: of accounts.toml. account: as it was when the renewal began. Under the lock that adding and removing take: an account
    that has another login by now, or is gone, stays so. A pair that belongs to somebody else is not written at all.
    Raises CredentialError, or what else the disk does, when it may go better another time.
    """
    whose = _identity(handed)
    with files.lock(path):
        current = _current(path, account)
        if current is None:
            return Outcome(GONE, f"{account.name} was removed meanwhile")
        if current.identity.contradicts(whose):
            return Outcome(FAILED, _mixed_up(current, whose))
        outcome = _put(store, current, handed)
    if outcome.name == RENEWED:
        with suppress(HomeError, CredentialError, OSError):  # what matters is kept
            _fill_in(path, current, whose)
    return outcome


def _identity(handed: Handed) -> Identity:
    known = {one.name for one in fields(Identity)}
    return Identity(**{name: told for name, told in handed.whose.items() if name in known and book.is_fact(told)})


def _current(path: Path, account: Account) -> Account | None:
    """Return the account as it is now. A file that cannot be read just now does not say that it is gone."""
    try:
        known = book.load(path)
    except HomeError:
        return account
    return next((one for one in known if one.id == account.id), None)


def _put(store: Store, account: Account, handed: Handed) -> Outcome:
    try:
        stored = store.get(account.id)
    except NotStored:
        return Outcome(GONE, f"the secret of {account.name} was removed meanwhile")
    is_spent_there = stored.refresh is not None and fingerprint(stored.refresh) == handed.spent
    if not is_spent_there and not _is_same(stored, handed.credential):
        return Outcome(CURRENT, f"{account.name} was given another login meanwhile")
    if is_spent_there and stored != handed.credential:  # the pair may be the same, and only end later
        store.put(account.id, handed.credential)
    return Outcome(RENEWED)


def _is_same(one: Credential, other: Credential) -> bool:
    return one.access == other.access and one.refresh == other.refresh


def _mixed_up(account: Account, whose: Identity) -> str:
    ours, theirs = (one.email or one.owner or one.organization for one in (account.identity, whose))
    return (
        f"what came is the login of {theirs}, and {account.name} is that of {ours}: nothing was changed;"
        f" its own refresh token is used up"
    )


def _fill_in(path: Path, account: Account, whose: Identity) -> None:
    """Add what was not known of the owner; what is known stays."""
    told = {name: value for name, value in asdict(whose).items() if value and not getattr(account.identity, name)}
    if told:
        book.edit(
            path,
            lambda known: tuple(
                replace(one, identity=replace(one.identity, **told)) if one.id == account.id else one for one in known
            ),
        )
