"""Decisions: why each request went where it went, as it was known then; for `flowpool why`.

A choice is noted when it is made, and told, in words, when the state writes it or somebody asks. Nothing that was said is in it.
"""

import logging
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import chain, islice
from typing import Any, Protocol

from addons.exchange import CLIENT, EXCHANGES, Chosen, Exchange, Path
from home.state.stories import Story
from routing import sessions
from routing.decisions import Choice, GiveUp, Use, Wait
from routing.explain import Explanation, Weighed
from routing.trail import Attempt, Trail
from routing.words import Account, AccountId, Demand

KEPT = 1000
"""Requests whose stories are at hand without the state."""
MOST = 8
"""Choices kept of one request: its first ones and its last ones."""
SHORT = 8
"""Letters of a conversation's name that are shown."""
LAST = "last"
IN_FLIGHT = "in_flight"
"""How a request ended that has not."""
_KINDS = {Use: "use", Wait: "wait", GiveUp: "give_up"}

logger = logging.getLogger(__name__)

type Names = Mapping[AccountId, Account]


class Explains(Protocol):
    """What takes down how the accounts stand: Router.explain."""

    def __call__(self, demand: Demand, trail: Trail, now: datetime, /, *, free: bool) -> Explanation:
        """As they stand for the demand; free: with what the strategy thinks of them."""


def note(exchange: Exchange, choice: Choice, now: datetime, explain: Explains) -> None:
    """Note a choice in its exchange, and what it rested on unless it only sends again to the account that was asked."""
    last = exchange.choices[-1] if exchange.choices else None
    if last is not None and _is_same(last.choice, choice):
        last.choice, last.times = choice, last.times + 1
        return
    why = None
    try:
        is_free = exchange.account != CLIENT and not exchange.is_on_primary  # for others there is nobody to choose from
        if exchange.demand is not None and is_free and not _is_retry(choice, exchange.trail):
            why = explain(exchange.demand, exchange.trail, now, free=isinstance(choice, Use) and choice.is_free)
    except Exception:  # the request goes on; only what would be told of it is lost
        logger.exception("flowpool: a choice cannot be explained")
    exchange.choices.append(Chosen(at=now, choice=choice, why=why))
    if len(exchange.choices) > MOST:
        del exchange.choices[MOST // 2]


def _is_same(before: Choice, choice: Choice) -> bool:
    """Whether a request that waits only looked again."""
    if not (isinstance(before, Wait) and isinstance(choice, Wait)):
        return False
    return (before.account, before.because) == (choice.account, choice.because)


def _is_retry(choice: Choice, trail: Trail) -> bool:
    """Whether the account that was just asked is asked again."""
    match choice:
        case Use(account=account) | Wait(account=account):
            return account is not None and trail.last is not None and trail.last.account == account
        case _:
            return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """One request; line: its line of the request log, or as much as there is of one. It holds nothing secret and no flow."""

    line: Mapping[str, Any]
    at: datetime
    demand: Demand
    size: int
    beats: int
    choices: tuple[Chosen, ...]
    trail: Trail
    names: Names

    @property
    def id(self) -> str:
        """The request's id."""
        found: str = self.line["id"]
        return found

    def plain(self) -> dict[str, Any]:
        """Tell it as a document; times in milliseconds."""
        whys = [one.why for one in self.choices if one.why is not None]
        waited = self.trail.recovery_waited + self.trail.waited
        kept = ("status", "answer", "ended", "first_byte_ms", "total_ms", "usage", "account", "because")
        return {
            "id": self.id,
            "at": self.line["at"],
            "path": self.line["path"],
            "model": self.demand.model,
            "family": self.demand.family,
            "session": self.demand.session and self.demand.session[: sessions.SHORT],
            "conversation": self.demand.conversation and self.demand.conversation[:SHORT],
            "size": self.size,
            "stream": self.demand.streams,
            "side": self.demand.side,
            "strategy": whys[0].strategy if whys else None,
            "warm": self._name(whys[0].warm) if whys else None,
            "home": self._name(whys[0].home) if whys else None,
            "choices": [self._chosen(one) for one in self.choices],
            "attempts": [self._attempt(one) for one in self.trail.attempts],
            "waited_ms": _milliseconds(waited),
            "heartbeats": self.beats,
            **{name: self.line.get(name) for name in kept},
        }

    def _name(self, account: AccountId | None) -> str | None:
        known = None if account is None else self.names.get(account)
        return known.name if known else account

    def _chosen(self, one: Chosen) -> dict[str, Any]:
        choice = one.choice
        return {
            "at": _moment(one.at),
            "kind": _KINDS[type(choice)],
            "account": None if isinstance(choice, GiveUp) else self._name(choice.account),
            "because": choice.because,
            "until": _moment(_until(choice)),
            "times": one.times,
            "accounts": None if one.why is None else [_weighed(its) for its in one.why.accounts()],
        }

    def _attempt(self, one: Attempt) -> dict[str, Any]:
        return {
            "account": self._name(one.account),
            "row": one.verdict.row,
            "verdict": one.verdict.kind.value,
            "because": one.verdict.because,
            "status": one.status,
            "sent_at": _moment(one.sent_at),
            "took_ms": _milliseconds(one.ended_at - one.sent_at),
            "waited_ms": _milliseconds(one.waited),
        }


def _weighed(one: Weighed) -> dict[str, Any]:
    return {
        "account": one.name,
        "may": one.may,
        "because": one.because,
        "row": one.row,
        "until": _moment(one.until),
        "order": one.order,
        "in_flight": one.leases,
        "windows": {key: round(used, 4) for key, used in one.windows.items()},
    }


def _until(choice: Choice) -> datetime | None:
    """When a wait ends, or somebody recovers."""
    match choice:
        case Use():
            return None
        case Wait(until=until):
            return until
        case GiveUp(recovers=recovers):
            return None if recovers is None else recovers.until


def _moment(at: datetime | None) -> str | None:
    return None if at is None else at.isoformat(timespec="milliseconds")


def _milliseconds(span: timedelta) -> float:
    return round(span / timedelta(milliseconds=1), 1)


class Decisions:
    """The stories of the requests that are in flight or ended last, bounded; each that ended is given on to be kept."""

    def __init__(self, names: Names, keep: Callable[[Story], None], kept: int = KEPT) -> None:
        self._names, self._keep, self._kept = names, keep, kept
        self._told: OrderedDict[str, Told] = OrderedDict()

    def ended(self, line: Mapping[str, Any], exchange: Exchange) -> None:
        """Take a pooled request that ended."""
        told = _told(line, exchange, self._names)
        if told is None:
            return
        self._told[told.id] = told
        if len(self._told) > self._kept:
            self._told.popitem(last=False)
        self._keep(told)

    def find(self, beginning: str, most: int) -> list[dict[str, Any]]:
        """List the stories of requests whose ids begin so, those that are in flight first; `last`: of the one that came last."""
        live = list(self._live())
        if beginning == LAST:
            latest = max([*live, *list(self._told.values())[-1:]], key=lambda told: told.at, default=None)
            return [] if latest is None else [latest.plain()]
        found = (told for told in chain(live, reversed(self._told.values())) if told.id.startswith(beginning))
        return [told.plain() for told in islice(found, most)]

    def sessions(self) -> set[str]:
        """The ids of all sessions and conversations that they are of."""
        demands = [told.demand for told in chain(self._live(), self._told.values())]
        return {one for demand in demands for one in (demand.session, demand.conversation) if one}

    def _live(self) -> Iterator[Told]:
        """The requests that have not ended, told as far as they came."""
        for flow, exchange in list(EXCHANGES.items()):
            at = exchange.began_at.isoformat(timespec="milliseconds")
            path = flow.request.path.partition("?")[0]
            line = {"id": exchange.id, "at": at, "path": path, "because": exchange.because, "ended": IN_FLIGHT}
            told = None if exchange.is_logged else _told(line, exchange, self._names)
            if told is not None:
                yield told


def _told(line: Mapping[str, Any], exchange: Exchange, names: Names) -> Told | None:
    """What is told of an exchange; None of one for which no account was wanted."""
    if exchange.path is not Path.POOLED or exchange.demand is None:
        return None
    return Told(
        line=line,
        at=exchange.began_at,
        demand=exchange.demand,
        size=exchange.size,
        beats=exchange.beats,
        choices=tuple(exchange.choices),
        trail=exchange.trail,
        names=dict(names),  # as they are called now: what was taken down of each choice is not renamed either
    )
