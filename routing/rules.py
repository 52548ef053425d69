"""The numbers that a person may set and that decisions rest on; every duration is in seconds."""

from dataclasses import dataclass, field
from enum import StrEnum

PROBE_LEAST_S = 180.0  # the provider allows some 28 calls an hour, which the person's other programs share


class Overage(StrEnum):
    """What to do with an answer that was served as paid extra usage."""

    AVOID = "avoid"
    ALLOW = "allow"


@dataclass(frozen=True, slots=True, kw_only=True)
class Routing:
    """How accounts are ordered.

    switch_at: fraction of a window from which an account comes after all others, 0 to 1.
    reserve_last_resort: whether an account at its reserve serves when nobody else may.
    """

    strategy: str = "headroom"
    switch_at: float = 0.98
    overage: Overage = Overage.AVOID
    reserve_last_resort: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Retry:
    """Waits before the same account is asked again, in seconds.

    budget_s: what all waits between tries of one exchange may add up to.
    renewal_s: how long a request whose account's login was refused waits for it to be renewed.
    stale_s: a connection that was idle for longer, and ends sooner after a request was written to it, had ended before.
    """

    connect: tuple[float, ...] = (0.25, 1.0)
    server_error: tuple[float, ...] = (1.0,)
    overloaded: tuple[float, ...] = (1.0, 2.0)
    throttle_default_s: float = 2.0
    throttle_wait_s: float = 10.0
    budget_s: float = 10.0
    renewal_s: float = 20.0
    stale_s: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Holds:
    """How long an account, or an account for one family, is not asked, in seconds."""

    throttle_s: float = 60.0
    unknown_s: float = 300.0
    forbidden_s: float = 600.0
    auth_s: float = 900.0
    auth_max_s: float = 21600.0
    credits_s: float = 3600.0
    balance_s: float = 86400.0
    retest_s: float = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """How long a request may pause inside the proxy, in seconds.

    margin_s: kept free of the client's own time-out, for the answer itself.
    heartbeat: how often a client that asked for a stream is told that its request waits; 0: never.
    """

    max: float = 240.0
    margin_s: float = 30.0
    heartbeat: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Probing:
    """How accounts are measured while no client asks anything of them.

    every: seconds that readings stay fresh, at least PROBE_LEAST_S.
    """

    usage: bool = True
    paid: bool = False
    every: float = PROBE_LEAST_S


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """All the numbers of one decision, as they stood when the exchange began."""

    routing: Routing = field(default_factory=Routing)
    retry: Retry = field(default_factory=Retry)
    hold: Holds = field(default_factory=Holds)
    wait: Waiting = field(default_factory=Waiting)
    ambiguous: bool = False
