"""Whether a credential may take another's place: a good one is never lost to a poorer."""

from datetime import datetime
from enum import IntEnum

from credentials.credential import OAUTH, Credential


class State(IntEnum):
    """What can be done with a credential; the more, the higher."""

    DEAD = 0
    STALE = 1  # its access has ended, and can be renewed
    LIVE = 2


def state(credential: Credential, now: datetime) -> State:
    """Tell by its ends alone; an end that is not known has not come."""
    if not _is_over(credential.expires_at, now):
        return State.LIVE
    return State.STALE if can_renew(credential, now) else State.DEAD


def can_renew(credential: Credential, now: datetime) -> bool:
    """Tell whether its access can be exchanged for a new one."""
    return credential.refresh is not None and not _is_over(credential.refresh_expires_at, now)


def loss(kept: Credential, offered: Credential, now: datetime, *, is_fresh: bool = False) -> str:
    """Return why what is kept is better than what would take its place; empty when it is not.

    is_fresh: what is offered was made just now, so it cannot be the older of two generations of one login.
    """
    if kept.kind == offered.kind == OAUTH and can_renew(kept, now) and offered.refresh is None:
        return "it renews itself, and the new one cannot"
    if state(offered, now) < state(kept, now):
        return "it is live, and the new one has expired" if state(kept, now) is State.LIVE else "the new one is dead"
    if not is_fresh and _is_older(kept, offered):
        return "it was renewed later than the new one, which may be spent"
    return ""


def _is_older(kept: Credential, offered: Credential) -> bool:
    if kept.refresh is None or offered.refresh is None or kept.expires_at is None or offered.expires_at is None:
        return False
    return offered.expires_at < kept.expires_at


def _is_over(end: datetime | None, now: datetime) -> bool:
    return end is not None and end <= now
