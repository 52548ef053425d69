"""What a strategy is asked: in which order it likes the accounts that stand in front, given what is known of each."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import NamedTuple, Protocol

from routing.forecast import Forecast
from routing.readings import Reading
from routing.windows import Window
from routing.words import Account, AccountId, Demand

NO_RESERVES: Mapping[timedelta, float] = MappingProxyType({})


@dataclass(slots=True, kw_only=True)  # not frozen: every choice builds one per account, in a third of the time
class Candidate:
    """One account that may serve; nobody changes it.

    readings: those of its windows that count for the demand.
    reserves: by a window's length, the fraction of it that is held back for what this request is not.
    leases: requests in flight there. given_at: the ordinal of the last free choice that was sent there, 0 for none.
    pressed: whether its 5-hour window will run out before its reset at its recent rate; found out for strategies that read it.
    """

    account: Account
    readings: tuple[Reading, ...] = ()
    reserves: Mapping[timedelta, float] = field(default=NO_RESERVES)
    leases: int = 0
    given_at: int = 0
    pressed: bool = False

    def reserve(self, window: Window) -> float:
        """What is held back of a window, 0 to 1."""
        return self.reserves.get(window.length, 0.0) if self.reserves else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Free:
    """A free choice: no warm cache, pin or refusal decides it.

    candidates: in the order of the person's accounts; none of them is better than another by rank, fullness or kind.
    home: the account that served the conversation last, whose cache of it has gone cold.
    latest: the account that got the latest free choice of any conversation.
    forecast: what the demand and those at work beside it will want.
    """

    demand: Demand
    candidates: tuple[Candidate, ...]
    now: datetime
    home: AccountId | None = None
    latest: AccountId | None = None
    forecast: Forecast | None = None


class Liking(NamedTuple):
    """How well an account is liked, the smaller key the better, and the words for a choice that it decided."""

    key: tuple[float, ...]
    because: str


type Likings = Mapping[AccountId, Liking]
"""By account; one of which too little is known is absent, and comes after all others."""


class Strategy(Protocol):
    """One way to order accounts; it forbids none. More use of an account must never bring it forward."""

    @property
    def reads_ranks(self) -> bool:
        """Whether it orders by rank itself; otherwise a better rank stands in front of it."""

    @property
    def reads_windows(self) -> bool:
        """Whether it needs readings; then an account without any is measured first, by one request."""

    @property
    def reads_pressure(self) -> bool:
        """Whether it looks at Candidate.pressed; otherwise that is not found out, which saves time, and all stand as not pressed."""

    def order(self, free: Free) -> Likings:
        """How each candidate is liked."""
