"""What a refused login becomes when its account has, gets or may yet get a newer token: rows 16 and 17 of docs/verdicts.md."""

from dataclasses import replace
from datetime import timedelta
from enum import Enum

from routing.trail import Trail
from routing.verdicts import RENEWED_ROW, STALE_ROW, Hop, Left, Verdict, VerdictKind
from routing.words import AccountId

MOST_CURRENT = 2  # tries of one exchange on one account with a token that had been replaced meanwhile
MOST_RENEWALS = 1
_AT_ONCE = (timedelta(),) * 64  # the counter of tries runs over all rows, so it may be far along when this row comes


class Renewal(Enum):
    """How the login stands that was refused just now."""

    OUTDATED = "outdated"  # the token that was sent is no longer the current one
    DONE = "done"  # a renewal just gave a new one
    FAILED = "failed"  # no new one yet; the Router was told until when
    NONE = "none"  # it cannot be renewed, or was already for this exchange


def relogin(verdict: Verdict, *, renewal: Renewal) -> Verdict:
    """Turn a refused login (row 18) into row 16 or 17 where its account may be asked with a newer token; others stay."""
    if not verdict.asks_renewal:
        return verdict
    match renewal:
        case Renewal.OUTDATED:
            return _anew(verdict, STALE_ROW, "a newer token is there", _AT_ONCE)
        case Renewal.DONE:
            return _anew(verdict, RENEWED_ROW, "its login was renewed", _AT_ONCE)
        case Renewal.FAILED:
            return _anew(verdict, RENEWED_ROW, "its login could not be renewed yet", ())
        case _:  # NONE
            return verdict


def may_renew(trail: Trail, account: AccountId) -> bool:
    """Whether the exchange may have the account's login renewed: until that gave it a new token, waits for recovery disregarded."""
    return _count(trail, account, RENEWED_ROW, is_mended=True) < MOST_RENEWALS


def may_use_current(trail: Trail, account: AccountId) -> bool:
    """Whether the exchange may ask the account again because its token was replaced meanwhile."""
    return _count(trail, account, STALE_ROW) < MOST_CURRENT


def _anew(verdict: Verdict, row: int, because: str, same: tuple[timedelta, ...]) -> Verdict:
    return replace(
        verdict,
        row=row,
        kind=VerdictKind.AUTH,
        because=f"{verdict.because}; {because}",
        same=same,
        hop=Hop.EACH,
        left=Left.OWN,
        hold=None,
        unless_fits=None,
        asks_renewal=False,
    )


def _count(trail: Trail, account: AccountId, row: int, *, is_mended: bool = False) -> int:
    """How many attempts on the account ended so. is_mended: only where it could go out again at once."""
    met = [one.verdict for one in trail.attempts if one.account == account and one.verdict.row == row]
    return sum(bool(verdict.same) or not is_mended for verdict in met)
