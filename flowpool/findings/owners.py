"""Logins that have more than one owner: in the client's own files, and twice in the pool."""

from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

from credentials.credential import Credential, shares_secret
from flowpool.findings import clientfiles
from flowpool.findings.finding import Finding, ok, warn
from flowpool.findings.keeping import Kept
from home.accounts import Accounts
from home.clientlogin import Place
from routing.words import Account

OWNERS, DUPLICATES = "owners", "duplicates"


def owners(place: Place, known: Accounts, kept: Kept) -> list[Finding]:
    """Name the accounts whose login Claude Code has too: whichever renews it first logs the other out."""
    own = clientfiles.login(place)
    if own is None:
        return [ok(OWNERS, "Claude Code has no login of its own in a file")]
    theirs, who = own
    found: list[Finding] = []
    for account in known:
        if _is_shared(account, kept[account.id], theirs, place.file):
            two = f"two owners: Claude Code has the same login in {place.file}, and whichever renews it first"
            mend = f"flowpool login {account.name}"
            found.append(warn(OWNERS, f"{two} logs the other out", mend, account=account.name))
        elif account.identity.is_same(who):
            found.append(
                ok(OWNERS, "Claude Code is logged in to it as well, by a login of its own", account=account.name)
            )
    return found or [ok(OWNERS, "Claude Code's own login is not in the pool")]


def _is_shared(account: Account, mine: object, theirs: Credential, path: Path) -> bool:
    """Tell whether it is one login: the same secret, or taken from that file, after which either may have renewed it."""
    if not isinstance(mine, Credential):
        return False
    was_taken = bool(account.source) and Path(account.source).expanduser() == path.absolute()
    return shares_secret(mine, theirs) or (mine.refresh is not None and was_taken)


def duplicates(known: Accounts, kept: Kept) -> list[Finding]:
    """Name the accounts that are one: they meet the same limits, so the second adds nothing."""
    found = list(_twins(known, kept))
    return found or [ok(DUPLICATES, "no two accounts are one")]


def _twins(known: Accounts, kept: Kept) -> Iterator[Finding]:
    for one, other in combinations(known, 2):
        mine, theirs = kept[one.id], kept[other.id]
        has_same = isinstance(mine, Credential) and isinstance(theirs, Credential) and shares_secret(mine, theirs)
        if has_same or one.identity.is_same(other.identity):
            why = "has the secret" if has_same else "is the login"
            yield warn(
                DUPLICATES,
                f"it {why} of {one.name}: both meet the same limits",
                f"flowpool remove {other.name}",
                account=other.name,
            )
