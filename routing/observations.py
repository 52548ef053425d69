"""What the Router is told: the only way in which it learns anything."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from routing.gauges import Gauge
from routing.health import Standing
from routing.lifetimes import Lifetime
from routing.readings import Reading
from routing.remembered import Remembered
from routing.spent import Spent
from routing.trail import Trail
from routing.verdicts import Verdict
from routing.words import Account, AccountId, Demand, ExchangeId


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountsChanged:
    """The accounts as they now stand; one that is absent was removed, and all that was known of it is dropped.

    unsigned: those whose secret is not at hand, and why; they may not serve until it is.
    lifetimes: how long their credentials last; of one that is absent, what was known before stays.
    """

    accounts: tuple[Account, ...]
    unsigned: Mapping[AccountId, str] = field(default_factory=dict)
    lifetimes: Mapping[AccountId, Lifetime] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Dispatched:
    """A request goes out on an account: the exchange's lease moves there (a side call takes none); is_move, is_free: as its Use says."""

    exchange: ExchangeId
    account: AccountId
    demand: Demand
    at: datetime
    is_move: bool = False
    is_free: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """An attempt was judged: readings are merged, holds set (a refusal) or lifted (row 8)."""

    exchange: ExchangeId
    account: AccountId
    demand: Demand
    verdict: Verdict
    sent_at: datetime
    at: datetime
    readings: tuple[Reading, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Paused:
    """A request pauses until some account may serve it: it is in flight nowhere.

    queue: as its Wait says; it keeps its place among those who wait for one of these accounts until it goes out or ends.
    """

    exchange: ExchangeId
    at: datetime
    queue: tuple[AccountId, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Pinned:
    """The operator wishes that these accounts serve; none of them: that the Router chooses again.

    session: the session or conversation that it is about, which then has one account at most; None: all, in the order of their accounts.
    moves: whether running conversations are to move there, too, once each. forces: whether it ends the wishes for sessions and launches.
    """

    accounts: tuple[AccountId, ...]
    at: datetime
    session: str | None = None
    moves: bool = False
    forces: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Succeeded:
    """The answer reached its end: the conversation sticks to the account while its cache is warm.

    spent: what it used up; None where the provider did not say.
    """

    exchange: ExchangeId
    account: AccountId
    demand: Demand
    at: datetime
    spent: Spent | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """The exchange is over, however it ended: its lease ends.

    Holds of row 19 that this exchange set are taken back when every account it asked answered so.
    """

    exchange: ExchangeId
    trail: Trail
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class CredentialChanged:
    """An account has a new credential: what the old one was refused for (rows 17 to 19) no longer bars it."""

    account: AccountId
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class RenewalFailed:
    """A login could not be renewed.

    until: when that is tried again; None: never, the login has ended.
    bars: whether the access token serves no more, so that the account is not asked until then (None: until a new credential comes).
    """

    account: AccountId
    at: datetime
    because: str
    until: datetime | None
    bars: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """The provider was asked whether it accepts an account's credential.

    because: its own words where it refused, or empty. What was met later than at stands whatever it said.
    """

    account: AccountId
    standing: Standing
    at: datetime
    because: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What is known of an account's windows although no client was answered: it was asked for that alone.

    It sets no hold, and lifts those alone whose windows it shows with room.
    """

    account: AccountId
    sent_at: datetime
    at: datetime
    readings: tuple[Reading, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Gauged:
    """Measuring an account met this; it slows measuring down, and nothing else."""

    account: AccountId
    gauge: Gauge


@dataclass(frozen=True, slots=True, kw_only=True)
class HoldsLifted:
    """The operator ended an account's holds: they and the readings that they rest on are believed no more."""

    account: AccountId
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """What an earlier Router remembered, told after the accounts: what still stands now is taken in."""

    remembered: Remembered
    at: datetime


type Observation = (
    AccountsChanged
    | CredentialChanged
    | RenewalFailed
    | Checked
    | Measured
    | Gauged
    | HoldsLifted
    | Restored
    | Pinned
    | Paused
    | Dispatched
    | Answered
    | Succeeded
    | Ended
)
