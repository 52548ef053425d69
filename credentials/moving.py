"""Credentials from one store into another: all of them or none, and at every moment each is readable somewhere.

Copied, read back and compared, then erased in the old place. Whoever is killed in between leaves both copies, of which the
newer is right, and the same call again goes on from there.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from credentials.credential import Credential
from credentials.errors import CredentialError, KeyringBroken
from credentials.store import Dated

TRIES = 3  # a credential that is replaced while it moves is copied again


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """What became of each account's credential, by id. missing: it was in neither store. left: its old copy is still there."""

    copied: tuple[str, ...]
    there: tuple[str, ...]
    missing: tuple[str, ...]
    left: tuple[str, ...] = ()


def copy(names: Mapping[str, str], source: Dated, target: Dated) -> Moved:
    """Bring each credential into target, and leave source as it is; of two copies the newer is kept.

    names: by account id, for the messages. When one fails, those that were copied are taken back, and the fault is raised.
    """
    copied: dict[str, int | None] = {}
    there: list[str] = []
    missing: list[str] = []
    try:
        for account_id, name in names.items():
            with _naming(name):
                old = source.saved_at(account_id)
                if old is None:
                    (missing if target.saved_at(account_id) is None else there).append(account_id)
                elif _has(target, account_id, old):
                    there.append(account_id)
                else:
                    copied[account_id] = _copy(account_id, source, target)
    except BaseException:
        _take_back(copied, target)
        raise
    return Moved(copied=tuple(copied), there=tuple(there), missing=tuple(missing))


@contextmanager
def _naming(name: str) -> Iterator[None]:
    """Let a fault name the account."""
    try:
        yield
    except CredentialError as error:
        raise error.naming(name) from None


def _has(target: Dated, account_id: str, old: int) -> bool:
    """Tell whether target has a whole copy that is no older."""
    new = target.saved_at(account_id)
    if new is None or new < old:
        return False
    try:
        target.get(account_id)
    except CredentialError:
        return False
    return True


def _copy(account_id: str, source: Dated, target: Dated) -> int | None:
    """Copy one, make sure that it is kept, and return when it was saved if nothing was there before."""
    credential = source.get(account_id)
    is_new = target.saved_at(account_id) is None
    try:
        saved_at = _put(account_id, credential, target)
    except BaseException:
        if is_new:
            with suppress(CredentialError):
                target.delete(account_id)
        raise
    return saved_at if is_new else None


def _put(account_id: str, credential: Credential, target: Dated) -> int:
    """Put one, and read it back; return when it was saved."""
    target.put(account_id, credential)
    kept = target.get(account_id)
    if kept != credential:
        raise KeyringBroken(f"what was copied of {account_id} reads otherwise")
    return kept.saved_at


def _take_back(copied: Mapping[str, int | None], target: Dated) -> None:
    """Forget what was copied where nothing was before; one that took an older one's place is as good as its source."""
    for account_id, saved_at in copied.items():
        if saved_at is not None:
            with suppress(CredentialError):  # the fault that led here is the one to show
                target.drop(account_id, saved_at)


def move(names: Mapping[str, str], source: Dated, target: Dated) -> Moved:
    """Copy, then erase in source; raise what copying raises. What cannot be erased is still readable, and named in `left`."""
    moved = copy(names, source, target)
    left = tuple(one for one in (*moved.copied, *moved.there) if not _erase(one, source, target))
    return Moved(copied=moved.copied, there=moved.there, missing=moved.missing, left=left)


def _erase(account_id: str, source: Dated, target: Dated) -> bool:
    """Erase an old copy; one that was saved anew meanwhile is copied first."""
    with suppress(CredentialError):
        for _ in range(TRIES):
            old = source.saved_at(account_id)
            if old is not None and not _has(target, account_id, old):
                _copy(account_id, source, target)
            elif source.drop(account_id, old or 0):  # also what is left of one that was half erased
                return True
    return False
