"""Anthropic's Messages API, as Claude Code speaks it."""

from collections.abc import Mapping
from datetime import datetime

from providers.anthropic import demand, limited, paths, replies, rides, stream, verdicts
from providers.anthropic.headers import readings
from providers.contract import Answer, Fields, Head, Provider, Reply, Ride, StreamReader, Usage
from routing.decisions import GiveUp
from routing.readings import Reading
from routing.rules import Rules
from routing.verdicts import Verdict
from routing.words import Account, AccountId, Demand, Kind


class Anthropic:
    """Everything that differs between Anthropic and other services."""

    def __init__(self) -> None:
        self.name = "anthropic"
        self.secret_headers = rides.SECRET_HEADERS
        self.hosts = paths.HOSTS

    def is_pooled(self, head: Head) -> bool:
        """Whether an account of the pool signs this request."""
        return paths.is_pooled(head)

    def is_misplaced(self, head: Head) -> bool:
        """Whether the path ends in a pooled path but is not one."""
        return paths.is_misplaced(head)

    def is_foreign(self, head: Head) -> bool:
        """Whether the path is known to be another vendor's."""
        return paths.is_foreign(head)

    def demand(self, head: Head, body: bytes) -> Demand:
        """What the request needs; a body that cannot be read makes a Demand without a model."""
        return demand.demand(head, body, provider=self.name)

    def ride(self, kind: Kind) -> Ride:
        """How a credential of this kind travels."""
        return rides.ride(kind)

    def readings(self, headers: Mapping[str, str], *, sent_at: datetime, now: datetime) -> tuple[Reading, ...]:
        """The windows that an answer's headers report, whatever its status."""
        return readings(headers, sent_at=sent_at, now=now)

    def classify(self, answer: Answer, demand: Demand, rules: Rules, now: datetime) -> Verdict:
        """The row of docs/verdicts.md that the answer falls under (8 to 24)."""
        return verdicts.classify(answer, demand, rules, now)

    def stream_reader(self) -> StreamReader:
        """A fresh reader for one event stream."""
        return stream.MessagesReader()

    def usage(self, body: bytes) -> Usage | None:
        """What a whole JSON answer was charged with."""
        return stream.whole_usage(body)

    def relayed(self, answer: Answer, fields: Fields, body: bytes, verdict: Verdict) -> Reply:
        """The answer as the client may see it: fields and body as they came but for what the row mends."""
        return replies.relayed(answer, fields, body, verdict)

    def gave_up(
        self, choice: GiveUp, accounts: Mapping[AccountId, Account], readings: tuple[Reading, ...], now: datetime
    ) -> Reply:
        """Own answers A, B and C; readings are those of the account that recovers first."""
        return limited.gave_up(choice, accounts, readings, now)

    def failed(self, status: int, message: str, *, retry: bool) -> Reply:
        """A vendor-shaped error of our own; retry=False tells the client not to try again."""
        return replies.failed(status, message, retry=retry)

    def error_event(self, message: str) -> bytes:
        """The event that ends a broken stream so that the client tries again."""
        return replies.error_event(message)


ANTHROPIC: Provider = Anthropic()
