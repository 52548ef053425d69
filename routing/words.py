"""The values that a choice speaks of: accounts, what a request needs, and their names."""

from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from typing import NewType

AccountId = NewType("AccountId", str)
ConversationId = NewType("ConversationId", str)
ExchangeId = NewType("ExchangeId", str)
Family = NewType("Family", str)
SessionId = NewType("SessionId", str)


class Kind(StrEnum):
    """How an account's credential was issued; it decides how the credential rides and what it costs."""

    SETUP_TOKEN = "setup-token"  # noqa: S105 - a kind of credential, not one
    OAUTH = "oauth"
    API_KEY = "api-key"

    @property
    def is_subscription(self) -> bool:
        """Whether use is covered by a plan; an API key is billed per token."""
        return self is not Kind.API_KEY


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """Whose login it is, in the provider's words; each empty where it did not say.

    owner and organization: ids that never change; two accounts with the same pair are one.
    """

    owner: str = ""
    organization: str = ""
    email: str = ""
    organization_name: str = ""
    plan: str = ""

    def is_same(self, other: "Identity") -> bool:
        """Whether both are known to be one person's login to one organization."""
        return bool(self.owner) and (self.owner, self.organization) == (other.owner, other.organization)

    def contradicts(self, other: "Identity") -> bool:
        """Whether both are known, and not to be the same."""
        known = [(self.owner, other.owner), (self.organization, other.organization)]
        return any(mine and theirs and mine != theirs for mine, theirs in known)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reserves:
    """What is held back of an account, as fractions of its limits: of its 5-hour windows, of its weekly ones."""

    session: float = 0.0
    week: float = 0.0

    def __bool__(self) -> bool:
        """Whether anything is."""
        return self.session > 0 or self.week > 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """One login or key that can pay for requests to one provider.

    rank: the operator's explicit order, lower first; None comes after every ranked account.
    reserves: what only pinned requests may use. cap: the most requests in flight there; None: as many as come.
    source: the file of another program that keeps the same login and renews it too; empty when there is none.
    primary: whether what is bound to an identity goes out on it, for clients without a login; at most one's is.
    """

    id: AccountId
    name: str
    provider: str
    kind: Kind
    enabled: bool = True
    rank: int | None = None
    reserves: Reserves = field(default_factory=Reserves)
    cap: int | None = None
    identity: Identity = field(default_factory=Identity)
    source: str = ""
    primary: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """What one client request needs from whoever serves it.

    model: as the client named it; empty when the body named none.
    family: the model's line, or the model itself when it belongs to no known line.
    conversation: the unit of stickiness; None when the request cannot be told from others.
    session: the client's session id; several conversations (subagents) may share one.
    cache_ttl: how long the prompt cache that this request writes stays warm.
    side: a call that measures nothing and must never wait (count_tokens, the client's start-up check).
    startup: the client's start-up check, the one side call that a bare 429 does not send to another account.
    patience: how long the client said it will wait for an answer.
    tokens: about how long its prompt is, as far as its size tells; 0 when it does not. weight: what a token of its model costs, beside
    one of an ordinary model.
    replayable: whether sending it twice is harmless whatever happened to the first (GET, HEAD).
    pin: the account that its client was launched to use.
    streams: whether the answer was asked for as an event stream.
    """

    provider: str
    model: str
    family: Family
    conversation: ConversationId | None = None
    session: SessionId | None = None
    cache_ttl: timedelta = field(default=timedelta(hours=1))
    side: bool = False
    startup: bool = False
    patience: timedelta = field(default=timedelta(seconds=600))
    replayable: bool = False
    pin: AccountId | None = None
    tokens: int = 0
    weight: float = 1.0
    streams: bool = False
