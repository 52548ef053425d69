"""What the Router can answer when it is asked who should serve."""

from dataclasses import dataclass
from datetime import datetime
from enum import Enum

from routing.words import AccountId


class Answer(Enum):
    """What the client gets when nobody serves: docs/verdicts.md, "Our own answers"."""

    LIMITED = "A"  # accounts will recover: 429 with the soonest reset
    LOCKED_OUT = "B"  # every account's credential was refused: 502
    NONE_ENABLED = "C"  # 503
    RELAY = "relay"  # the last answer
    RELAY_EARLIER = "relay_earlier"  # the last answer that was not about a credential


@dataclass(frozen=True, slots=True, kw_only=True)
class Barred:
    """Why one account may not serve, and from when it may again.

    row: the verdict row of the hold that bars it; None when no hold does (disabled, asked before).
    until: None when no end is known.
    """

    account: AccountId
    because: str
    row: int | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """Send it on this account.

    is_move: whether a refusal elsewhere brought it here, so that it counts on the account's ramp.
    is_free: whether the strategy chose, not a habit, a retry or a wish.
    """

    account: AccountId
    because: str
    is_move: bool = False
    is_free: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """Pause until then, and ask again.

    account: the account that is to be asked again; None waits for any account to recover.
    is_for_room: whether it waits for its turn on an account, on its ramp or below its cap, instead of a recovery.
    queue: the accounts whose next free place it is to have, below their caps; then others wait behind it.
    """

    until: datetime
    account: AccountId | None
    because: str
    is_for_room: bool = False
    queue: tuple[AccountId, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class GiveUp:
    """Answer the client now.

    recovers: the account that recovers first and when, for an honest LIMITED answer.
    barred: every account that was passed over, and why.
    """

    answer: Answer
    because: str
    recovers: Barred | None = None
    barred: tuple[Barred, ...] = ()


type Choice = Use | Wait | GiveUp
