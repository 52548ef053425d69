"""Which account a login belongs to, and what a new one is called. Pure."""

import itertools
import re
from collections.abc import Collection, Sequence

from flowpool.errors import Failure
from home import accounts as book
from routing.words import Account, Identity

LONGEST = 32  # characters of a name
PLAIN = "account"  # what accounts are called of which nothing is known

_UNFIT = re.compile(r"[^a-z0-9._-]+")


def find(known: Sequence[Account], name: str | None, identity: Identity, command: str) -> Account | None:
    """Return the account that is to get this login's secret, None when it is to be a new one.

    name: as it was typed, None when it was left out. command: as it was typed, without a name. Raises Failure when the name and
    the identity do not go together.
    """
    same = next((account for account in known if account.identity.is_same(identity)), None)
    if name is None:
        return same
    if same and same.name != name:
        raise Failure(
            f"this login ({told(identity)}) is the account {same.name} already, and not {name}; run: {command} {same.name}"
        )
    named = next((account for account in known if account.name == name), None)
    if named and named.identity.contradicts(identity):
        raise Failure(
            f"{name} is {told(named.identity)}, this login is {told(identity)}; "
            f"take another name for it, or run: flowpool remove {name}"
        )
    return named


def told(identity: Identity) -> str:
    """Say whose a login is, as far as that is known; empty when nothing is."""
    parts = (
        identity.email or identity.owner,
        identity.organization_name or identity.organization,
        identity.plan,
    )
    return ", ".join(part for part in parts if part)


def fit(identity: Identity) -> Identity:
    """Return what can be kept of an identity that came from elsewhere."""
    return Identity(
        owner=_fit(identity.owner),
        organization=_fit(identity.organization),
        email=_fit(identity.email),
        organization_name=_fit(identity.organization_name),
        plan=_fit(identity.plan),
    )


def merged(known: Identity, new: Identity) -> Identity:
    """Return what is known by now: the new, and the old where the new does not say."""
    return Identity(
        owner=new.owner or known.owner,
        organization=new.organization or known.organization,
        email=new.email or known.email,
        organization_name=new.organization_name or known.organization_name,
        plan=new.plan or known.plan,
    )


def corrected(remembered: Identity, said: Identity) -> Identity:
    """Return whose a login is: the provider's word, and what somebody remembers where that is of the same login."""
    if remembered.contradicts(said):
        remembered = Identity(plan=remembered.plan)  # which came with the login itself
    return merged(remembered, said)


def fresh_name(known: Sequence[Account], email: str) -> str:
    """Return a name that is free: me of me@example.org, else me-2; account-1 when there is no address to take it from."""
    taken = {account.name for account in known}
    if stem := _stem(email):
        return free(stem, taken)
    return next(name for number in itertools.count(1) if (name := _numbered(PLAIN, number)) not in taken)


def free(name: str, taken: Collection[str]) -> str:
    """Return the name, or the first of NAME-2, NAME-3 … that nobody has; never longer than a name may be."""
    if name not in taken:
        return name
    return next(other for number in itertools.count(2) if (other := _numbered(name, number)) not in taken)


def _stem(email: str) -> str:
    local = email.partition("@")[0].lower()
    stem = _UNFIT.sub("-", local).lstrip("._-")[:LONGEST].rstrip("._-")
    return stem if book.is_name(stem) and not stem.startswith("sk-") else ""


def _numbered(stem: str, number: int) -> str:
    ending = f"-{number}"
    return stem[: LONGEST - len(ending)] + ending


def _fit(text: str) -> str:
    return text if book.is_fact(text) else ""
