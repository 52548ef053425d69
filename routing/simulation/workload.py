"""What a simulation plays: accounts with their true capacities, the turns of conversations, use from outside.

Times are in seconds from the start, tokens in tokens, capacities in units.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cache

from routing.windows import KNOWN_FAMILIES, WEEK
from routing.words import Family

WINDOW_S = timedelta(hours=5).total_seconds()
WEEK_S = WEEK.total_seconds()

type Tokens = int | float
"""Whole in truth; who makes workloads up by computing need not round them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """One account as it truly is.

    size: the plan in multiples of the smallest; the one thing of these that the Router may know.
    window_5h and week: what they hold. week_resets_at: one of its resets; the others are whole weeks away.
    models: by model or family, the share of the week that it may use, 0 to 1.
    """

    name: str
    size: float = 1.0
    window_5h: float
    week: float
    week_resets_at: float
    models: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One request of a conversation.

    context: the tokens that its prompt cache holds, or should. fresh: those that are new. output: those of the answer.
    ttl: how long after the conversation's last turn its cache is still warm for this one.
    """

    at: float
    conversation: str
    model: str
    context: Tokens
    fresh: Tokens
    output: Tokens
    ttl: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Outside:
    """Use of an account that did not pass the Router."""

    at: float
    account: str
    units: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What a token costs, by its kind."""

    read: float = 0.05
    fresh: float = 1.0
    write: float = 1.25
    output: float = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """All that happens; turns and outside use in any order.

    unit_tokens: how many tokens of cost 1 make a unit.
    """

    accounts: tuple[Plan, ...]
    turns: tuple[Turn, ...]
    unit_tokens: float
    outside: tuple[Outside, ...] = ()
    cost: Cost = field(default_factory=Cost)

    def events(self) -> list[Outside | Turn]:
        """List what happens by time; of one moment, outside use first, then in the order of the file."""
        found: list[Outside | Turn] = [*self.outside, *self.turns]
        return sorted(found, key=lambda event: event.at)

    def price(self, turn: Turn, *, warm: bool) -> float:
        """What a turn costs in units, where its cache is warm or is not."""
        cost = self.cost
        context = turn.context * (cost.read if warm else cost.write)
        return (turn.fresh * cost.fresh + turn.output * cost.output + context) / self.unit_tokens


@cache
def family_of(model: str) -> Family:
    """Name the model's family, or the model itself when it belongs to no known one."""
    name = model.lower()
    return next((family for family in KNOWN_FAMILIES if family in re.split(r"[^a-z]+", name)), Family(name))
