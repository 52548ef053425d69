"""One client request's life in the pool, kept beside its flow and never inside it.

mitmproxy serialises a flow's metadata and attributes into flow files, mitmweb and dumps, so nothing here is reachable from the flow.
An Exchange does not refer to its flow either: that would keep both alive for ever.
"""

import time
import uuid
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import Enum
from weakref import WeakKeyDictionary

from mitmproxy import http

from addons.record import Record
from credentials.secret import Secret
from home.tables import Limits
from providers.contract import ErrorEvent, Provider, Reply, Usage
from routing.decisions import Choice, Wait
from routing.explain import Explanation
from routing.readings import Reading
from routing.rules import Rules
from routing.trail import Trail
from routing.transport import Failure
from routing.verdicts import Verdict
from routing.words import AccountId, Demand, ExchangeId

CLIENT = AccountId("client")
"""Who pays when a request goes out on the client's own credential."""


class Path(Enum):
    """Whose business a request is."""

    POOLED = "pooled"  # an account of the pool signs it
    PASSED = "passed"  # the client's own credential signs it
    LOCAL = "local"  # answered here, never forwarded


class Course(Enum):
    """How an answer is to be read, decided from its head."""

    WHOLE = "whole"  # read to its end, then judged
    GATE = "gate"  # an event stream: held until its first deciding event
    STREAM = "stream"  # passed on as it comes
    UNREAD = "unread"  # judged by its head alone


class Ended(Enum):
    """How the exchange ended, as the request log tells it."""

    COMPLETE = "complete"
    CUT = "cut"
    CLIENT_LEFT = "client_left"
    REFUSED = "refused"
    PASSED = "passed"


@dataclass(frozen=True, slots=True)
class Send:
    """Send the request on the account that the exchange names."""


@dataclass(frozen=True, slots=True)
class Pause:
    """Ask again after so many seconds."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Relay:
    """Give the client the flow's response as it stands."""


@dataclass(frozen=True, slots=True)
class Resume:
    """Go on with the answer that is still coming from the upstream."""


type Step = Send | Pause | Relay | Resume


@dataclass(slots=True)
class Chosen:
    """One choice of the Router's, and what it rested on; times: how often in a row it was the same."""

    at: datetime
    choice: Choice
    why: Explanation | None = None
    times: int = 1


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer came; broken when its body ended too early, unread when only its head was looked at."""

    broken: bool = False
    unread: bool = False


@dataclass(frozen=True, slots=True)
class Failed:
    """No answer came that could be judged."""

    failure: Failure
    why: str
    timed_out: bool = False


type AttemptEnd = Answered | Failed | ErrorEvent
"""An ErrorEvent is what a stream began with, behind the gate."""


@dataclass(slots=True, kw_only=True, weakref_slot=True)
class Exchange:
    """What flowpool knows of one client request, from its head to its last byte.

    own: the client's secret header fields, in order. signed: the secret that the last attempt went out with. key: what it showed to open /_flowpool/. pin: the name of the account that its client was launched to use, unread.
    is_torn: whether a header hid further lines. lacks_login: whether its client has no login of its own and shows flowpool's placeholder.
    end: how the attempt in flight ended; None while it lives. step: what the replay layer does next.
    pause: the wait that the request is in, is_queued: whether in a queue, paused_at (monotonic) its beginning; woken_from: the end of one, not for room, that it was woken from. floor: the clock is never earlier than this for this exchange.
    leftover: what the client would get of the last attempt if nothing else may be tried; None: the flow's response as it is.
    may_resume: whether the last attempt's answer is still coming and could be taken after all.
    renewal_due: until when (monotonic) it waits for its account's login to be renewed; None while it does not.
    kept: the last answer that may be relayed although later ones were about a credential; kept_of: whose it is.
    served: whose answer the client gets; None while it gets none, or one of our own.
    record: what is kept of it for the folder of whole exchanges; None: nothing.
    size: of its body, in bytes. choices: what the Router chose for it, see addons/decisions.py.
    heartbeat: how often, in seconds, the client is told that its request waits; None: never. beats: how often it was told; from the
    first on it has its head. is_told: whether it got a refusal as the last event of its stream.
    """

    provider: Provider | None = None
    limits: Limits = field(default_factory=Limits)
    rules: Rules = field(default_factory=Rules)
    path: Path = Path.LOCAL
    own: tuple[tuple[bytes, bytes], ...] = field(default=(), repr=False)
    key: str = field(default="", repr=False)
    pin: str = field(default="", repr=False)
    signed: Secret | None = field(default=None, repr=False)
    id: ExchangeId = field(default_factory=lambda: ExchangeId(uuid.uuid4().hex[:12]))
    began: float = field(default_factory=time.monotonic)
    began_at: datetime = field(default_factory=lambda: datetime.now(UTC))
    is_torn: bool = False
    lacks_login: bool = False
    demand: Demand | None = None
    trail: Trail = field(init=False)
    account: AccountId | None = None
    because: str = ""
    sent_at: datetime | None = None
    waited: timedelta = field(default_factory=timedelta)
    renewal_due: float | None = None
    pause: Wait | None = None
    is_queued: bool = False
    paused_at: float = 0.0
    woken_from: datetime | None = None
    pause_length: timedelta = field(default_factory=timedelta)
    floor: datetime | None = None
    end: AttemptEnd | None = None
    step: Step = field(default_factory=Relay)
    course: Course = Course.WHOLE
    verdict: Verdict | None = None
    readings: tuple[Reading, ...] = ()
    leftover: Reply | None = None
    may_resume: bool = False
    kept: Reply | None = None
    kept_of: AccountId | None = None
    served: AccountId | None = None
    record: Record | None = field(default=None, repr=False)
    size: int = 0
    choices: list[Chosen] = field(default_factory=list)
    heartbeat: float | None = None
    beats: int = 0
    is_told: bool = False
    faulty: bool = False
    first_byte: float | None = None
    usage: Usage | None = None
    is_complete: bool = False
    answer: str | None = None
    client_left: bool = False
    is_over: bool = False
    is_logged: bool = False

    def __post_init__(self) -> None:
        """Begin the trail with the exchange."""
        self.trail = Trail(started_at=self.began_at, exchange=self.id)

    def now(self) -> datetime:
        """The wall clock, but never before an instant that this exchange has already waited for."""
        now = datetime.now(UTC)
        return now if self.floor is None else max(now, self.floor)

    @property
    def is_pooled(self) -> bool:
        """Whether an account of the pool pays; without any account the client's own credential does."""
        return self.path is Path.POOLED and self.account != CLIENT

    @property
    def is_on_primary(self) -> bool:
        """Whether the primary pays for what is bound to an identity, since its client has none."""
        return self.path is Path.PASSED and self.lacks_login and self.account not in (None, CLIENT)

    @property
    def is_signed(self) -> bool:
        """Whether a credential of an account of ours goes out with it."""
        return self.is_pooled or self.is_on_primary


EXCHANGES: WeakKeyDictionary[http.HTTPFlow, Exchange] = WeakKeyDictionary()
