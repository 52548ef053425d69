"""When a login ends for good, and how early a person is told so.

A refresh token lives about 29 days from the login however often it is exchanged, so a month's notice would always be on; only
what cannot be renewed (a setup token lives a year) is announced that early.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum

from routing.moments import said

URGENT = timedelta(days=7)
SOON = timedelta(days=30)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lifetime:
    """How long an account's credential lasts.

    expires_at: when what is sent ends. refresh_expires_at: when it can be renewed no more. None: not known, or never.
    """

    expires_at: datetime | None = None
    refresh_expires_at: datetime | None = None
    is_refreshable: bool = False

    @property
    def ends_at(self) -> datetime | None:
        """When only a new login helps; None when that is not known."""
        return self.refresh_expires_at if self.is_refreshable else self.expires_at


UNKNOWN = Lifetime()


class Level(Enum):
    """How pressing a login's end is."""

    NONE = "none"
    SOON = "soon"
    URGENT = "urgent"
    OVER = "over"


def expiry(lifetime: Lifetime, now: datetime) -> tuple[Level, str]:
    """Say how pressing a login's end is, and in a few words when it is; no words for NONE."""
    end = lifetime.ends_at
    level = Level.NONE if end is None else _level(end - now, is_long_lived=not lifetime.is_refreshable)
    if end is None or level is Level.NONE:
        return Level.NONE, ""
    verb = "ended" if level is Level.OVER else "ends"
    return level, f"its login {verb} {said(end, now)}"


def _level(left: timedelta, *, is_long_lived: bool) -> Level:
    if left <= timedelta():
        return Level.OVER
    if left <= URGENT:
        return Level.URGENT
    return Level.SOON if is_long_lived and left <= SOON else Level.NONE
