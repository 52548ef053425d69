"""Writes a secret and its account: both or neither, and never a poorer secret over a good one."""

from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from credentials import ends, worth
from credentials.credential import Credential, shares_secret
from credentials.errors import CredentialError
from credentials.store import Store
from flowpool.errors import Failure
from flowpool.intake import placing
from home import accounts as book
from routing.words import Account


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What is to be kept.

    found: the account as it was read before; None when it is new. account: as it is to be. again: what to run once there is
    another secret. by_force: also over a better secret. is_fresh: the credential was made just now.
    """

    found: Account | None
    account: Account
    credential: Credential
    again: str
    by_force: bool = False
    is_fresh: bool = False


def save(path: Path, store: Store, wish: Wish, now: datetime) -> None:
    """Write the secret, then the account, so that no account is ever seen without one; undo the first if the second fails.

    Both happen under the lock of accounts.toml: of two programs that add one name or one secret, the later sees the earlier.
    """
    previous: Credential | None = None
    written = False

    def change(known: book.Accounts) -> book.Accounts:
        nonlocal previous, written
        account = wish.account
        current = next((one for one in known if one.name == account.name), None)
        if (current and current.id) != (wish.found and wish.found.id):
            raise Failure(f"{account.name} was added, replaced or removed meanwhile; look at: flowpool accounts")
        _refuse_one_identity(known, account)
        previous = stored(store, account)
        _refuse_loss(previous, wish, now)
        if previous is None or not shares_secret(previous, wish.credential):
            _refuse_twin(store, known, wish)
        written = True  # perhaps in part, and undoing what was not done is harmless
        store.put(account.id, ends.the_sooner(wish.credential, previous) if previous else wish.credential)
        if current is None:
            return (*known, account)
        changed = replace(current, kind=account.kind, identity=account.identity, source=account.source)
        return tuple(changed if one is current else one for one in known)

    try:
        book.edit(path, change)
    except BaseException:
        if written:
            _undo(store, wish.account, previous)
        raise


def holder(store: Store, known: book.Accounts, credential: Credential) -> Account | None:
    """Return the account that has this secret already; what cannot be read cannot be compared."""
    for one in known:
        kept = None
        with suppress(CredentialError):
            kept = store.get(one.id)
        if kept and shares_secret(kept, credential):
            return one
    return None


def stored(store: Store, account: Account) -> Credential | None:
    """Return the secret that is there; one that cannot be read is as good as none."""
    if account.id not in store.ids():
        return None
    try:
        return store.get(account.id)
    except CredentialError:
        return None


def _refuse_one_identity(known: book.Accounts, account: Account) -> None:
    """Raise Failure when another account is the same login: both would meet the same limits."""
    for one in known:
        if one.id != account.id and one.identity.is_same(account.identity):
            raise Failure(
                f"this login ({placing.told(account.identity)}) is the account {one.name} already, and not {account.name}; "
                f"run: flowpool login {one.name}"
            )


def _refuse_loss(previous: Credential | None, wish: Wish, now: datetime) -> None:
    """Raise Failure when what is there is better than what would take its place."""
    if previous is None or wish.by_force:
        return
    name = wish.account.name
    lost = worth.loss(previous, wish.credential, now, is_fresh=wish.is_fresh)
    if not lost and _shares_what_was_its_own(previous, wish, now):
        lost = "it has one owner, and the new one has two"
    if lost:
        raise Failure(
            f"the secret that {name} has is better: {lost}; nothing was saved; add --force to replace it all the same, "
            f"or run: flowpool login {name}"
        )


def _shares_what_was_its_own(previous: Credential, wish: Wish, now: datetime) -> bool:
    """Tell whether a login of the account's own would give way to one that another program keeps, too."""
    is_own = wish.found is not None and not wish.found.source and worth.can_renew(previous, now)
    return is_own and bool(wish.account.source) and not shares_secret(previous, wish.credential)


def _refuse_twin(store: Store, known: book.Accounts, wish: Wish) -> None:
    """Raise Failure when another account has this secret: both would meet the same limits."""
    others = tuple(one for one in known if one.id != wish.account.id)
    if one := holder(store, others, wish.credential):
        raise Failure(
            f"the account {one.name} has this secret already; make another one for {wish.account.name}, then run: {wish.again}"
        )


def _undo(store: Store, account: Account, previous: Credential | None) -> None:
    with suppress(CredentialError):  # the fault that led here is the one to show
        if previous is None:
            store.delete(account.id)
        else:
            store.put(account.id, previous)
