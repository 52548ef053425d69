"""What the rest of flowpool asks of a provider, and the values that pass between them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from routing.decisions import GiveUp
from routing.readings import Reading
from routing.rules import Rules
from routing.spent import Spent
from routing.verdicts import Verdict
from routing.words import Account, AccountId, Demand, Kind

type Fields = tuple[tuple[str, str], ...]

SECRET_HEADERS = frozenset({"authorization", "proxy-authorization", "cookie"})
"""Headers that hold credentials whoever the vendor is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """A request's head without any credential.

    path: with its query string. headers: names in lower case, the first value of a repeated one.
    """

    method: str
    path: str
    headers: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An attempt's answer as far as it was read.

    headers: names in lower case, the first value of a repeated one. body: decoded; of an event stream, nothing.
    error_event: the data of the error event that a 200 stream began with.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes = b""
    error_event: bytes | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A whole answer that we give ourselves, or relay after mending."""

    status: int
    headers: Fields
    body: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Ride:
    """How a credential of one kind travels in a request's head.

    header and value: the field, where {} stands for the secret. The comma list in list_header gains and loses members.
    """

    header: str
    value: str
    list_header: str = ""
    gains: frozenset[str] = field(default_factory=frozenset)
    loses: frozenset[str] = field(default_factory=frozenset)


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens that one answer was charged with; None where the provider did not say."""

    input: int | None = None
    output: int | None = None
    cache_read: int | None = None
    cache_write_5m: int | None = None
    cache_write_1h: int | None = None

    @property
    def spent(self) -> Spent:
        """The same, as routing counts it; what was not said is nothing."""
        written = (self.cache_write_5m or 0) + (self.cache_write_1h or 0)
        return Spent(read=self.cache_read or 0, fresh=self.input or 0, written=written, output=self.output or 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorEvent:
    """An error met inside a stream; data is the event's JSON."""

    data: bytes


class StreamReader(Protocol):
    """Reads one event stream as it passes; never changes a byte."""

    usage: Usage
    """What was charged, as far as the stream has told."""
    is_complete: bool
    """Whether the terminal event passed: only then is the answer a success."""
    may_end: bool
    """Whether an end right now would lose nothing, though the terminal event has not passed."""

    def see(self, event: str, data: bytes) -> "bool | ErrorEvent":
        """Take one event; True when it decides that the answer is good, an ErrorEvent when that it is not."""


class Provider(Protocol):
    """One service: everything that differs between vendors."""

    name: str
    secret_headers: frozenset[str]
    """Every header that may hold a credential, in lower case: SECRET_HEADERS and the vendor's own."""
    hosts: frozenset[str]
    """Where the vendor serves its pooled paths, in lower case: in forward mode these alone are opened."""

    def is_pooled(self, head: Head) -> bool:
        """Whether an account of the pool signs this request; every other one passes on the client's own credential."""

    def is_misplaced(self, head: Head) -> bool:
        """Whether the path ends in a pooled path but is not one, as a wrong base URL makes it."""

    def is_foreign(self, head: Head) -> bool:
        """Whether the path is known to be another vendor's, whose client's credential would go to a stranger here."""

    def demand(self, head: Head, body: bytes) -> Demand:
        """What the request needs; a body that cannot be read makes a Demand without a model."""

    def ride(self, kind: Kind) -> Ride:
        """How a credential of this kind travels."""

    def readings(self, headers: Mapping[str, str], *, sent_at: datetime, now: datetime) -> tuple[Reading, ...]:
        """The windows that an answer's headers report, whatever its status."""

    def classify(self, answer: Answer, demand: Demand, rules: Rules, now: datetime) -> Verdict:
        """The row of docs/verdicts.md that the answer falls under (8 to 24)."""

    def stream_reader(self) -> StreamReader:
        """A fresh reader for one event stream."""

    def usage(self, body: bytes) -> Usage | None:
        """What a whole JSON answer was charged with."""

    def relayed(self, answer: Answer, fields: Fields, body: bytes, verdict: Verdict) -> Reply:
        """The answer as the client may see it: fields and body as they came but for what the row mends."""

    def gave_up(
        self, choice: GiveUp, accounts: Mapping[AccountId, Account], readings: tuple[Reading, ...], now: datetime
    ) -> Reply:
        """Own answers A, B and C; readings are those of the account that recovers first."""

    def failed(self, status: int, message: str, *, retry: bool) -> Reply:
        """A vendor-shaped error of our own; retry=False tells the client not to try again."""

    def error_event(self, message: str) -> bytes:
        """The event that ends a broken stream so that the client tries again."""
