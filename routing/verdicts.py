"""What an answer means for the exchange: the row it falls under, and what that row allows next."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum, StrEnum

from routing.words import Family


class VerdictKind(StrEnum):
    """The word for a row in logs and listings."""

    OK = "ok"
    LIMIT = "limit"
    MODEL_LIMIT = "model_limit"
    THROTTLE = "throttle"
    BARE = "bare"
    OVERAGE = "overage"
    AUTH = "auth"
    FORBIDDEN = "forbidden"
    CREDIT = "credit"
    SERVER = "server"
    OVERLOADED = "overloaded"
    CLIENT_FAULT = "client_fault"
    TRANSPORT = "transport"


class Hop(Enum):
    """Whether the request may be sent again on another account."""

    NO = "no"
    ONE = "one"  # one hop per exchange, shared by all rows that say so
    EACH = "each"  # every account at most once


class Left(Enum):
    """What the client gets when nothing else may be tried."""

    RELAY = "relay"  # this answer, as the provider shapes it for relaying
    OWN = "own"  # the first of our own answers A, B, C that fits


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthLadder:
    """A hold that doubles with every further failure of the account."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SoonestReset:
    """A hold until the soonest known reset of the account, or for a fixed span when none is known."""

    otherwise: timedelta


type HoldEnd = datetime | AuthLadder | SoonestReset


@dataclass(frozen=True, slots=True, kw_only=True)
class HoldOrder:
    """A verdict's demand that an account is not asked for a while.

    family: None holds the account for every family.
    windows: keys of the windows that the hold rests on; empty when it rests on none.
    """

    until: HoldEnd
    family: Family | None = None
    windows: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """One answer's meaning; docs/verdicts.md has the table that the rows number.

    same: waits before the same account is asked again; one counter per account runs over all rows.
    because: a few words for people, such as "7d limit until Thu 09:00".
    unless_fits: what to use instead when the first of `same` no longer fits the exchange's budget.
    asks_renewal: whether a newer token of the same login may mend it (see relogin.py).
    """

    row: int
    kind: VerdictKind
    because: str
    same: tuple[timedelta, ...] = ()
    hop: Hop = Hop.NO
    left: Left = Left.RELAY
    hold: HoldOrder | None = None
    unless_fits: "Verdict | None" = None
    asks_renewal: bool = False

    @property
    def is_refusal(self) -> bool:
        """Whether the answer was taken by no row that lets it through."""
        return self.row != OK_ROW

    @property
    def as_row(self) -> int:
        """The row whose rules it follows: an error event (row 24) is judged as the row of its type."""
        return _ROW_OF_KIND.get(self.kind, self.row) if self.row == ERROR_EVENT_ROW else self.row

    @property
    def is_for_a_time(self) -> bool:
        """Whether it comes with a hold; once that has ended, it says no more of the account."""
        return self.hold is not None or self.row == RENEWED_ROW

    @property
    def blames_credential(self) -> bool:
        """Whether the account's login was refused, which is no answer to the request."""
        return self.as_row in LOGIN_ROWS or self.row == STALE_ROW


RESERVE_ROW = 0  # of no answer: a reserve that is reached, which its readings tell
OK_ROW = 8
PAID_ROW = 9  # served already, as paid overage
SPEND_ROW = 11
STALE_ROW = 16  # the token that was sent had been replaced
RENEWED_ROW = 17  # the login had to be renewed
AUTH_ROW = 18
FORBIDDEN_ROW = 19
THROTTLE_ROW = 14
BALANCE_ROW = 20
ERROR_EVENT_ROW = 24
LOCKED_ROWS = frozenset({AUTH_ROW, FORBIDDEN_ROW})
LOGIN_ROWS = LOCKED_ROWS | {RENEWED_ROW}  # what a new credential ends
RECOVERING_ROWS = frozenset(
    {RESERVE_ROW, 9, 12, 13, THROTTLE_ROW, RENEWED_ROW, BALANCE_ROW}
)  # own answer A: what bars the account ends by itself
_ROW_OF_KIND = {VerdictKind.AUTH: AUTH_ROW, VerdictKind.FORBIDDEN: FORBIDDEN_ROW}
