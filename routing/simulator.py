"""Plays a workload against a real Router in pretend time, and counts what came of it.

What happens, happens in the order of time, outside use before turns of the same moment. Answers come at once, so no two
turns are in flight together, and the Router learns only what a live one would. What is not played: a request that the Router would
let wait for an account to recover is refused at once.
"""

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from math import fsum

from routing.decisions import Use
from routing.observations import AccountsChanged, Answered, Dispatched, Ended, Succeeded
from routing.readings import Reading
from routing.router import Router
from routing.rules import Rules
from routing.simulation.answers import TAKEN, reading, verdict
from routing.simulation.workload import Outside, Plan, Turn, Workload, family_of
from routing.simulation.world import Refused, Served, World
from routing.trail import Attempt, Trail
from routing.verdicts import Verdict
from routing.words import Account, AccountId, ConversationId, Demand, ExchangeId, Identity, Kind

START = datetime(2026, 1, 5, tzinfo=UTC)  # any moment would do
PROVIDER = "anthropic"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a strategy made of a workload.

    attempts_refused: refusals met on the way, by served and refused turns; they cost nothing.
    served_units: each served turn at the price of a warm cache, so that a rebuilt one earns nothing.
    lost_units: left in weeks that ended. rebuilt_tokens: context written by served turns; moved_warm_tokens: of these, what was
    warm on another account. moves: turns served by another account than their conversation's turn before.
    """

    served_turns: int = 0
    refused_turns: int = 0
    attempts_refused: int = 0
    served_units: float = 0.0
    lost_units: float = 0.0
    rebuilt_tokens: int = 0
    moved_warm_tokens: int = 0
    moves: int = 0


def play(workload: Workload, strategy: str, rules: Rules | None = None) -> Outcome:
    """Play it to its end under one strategy; ValueError when there is none of that name."""
    rules = Rules() if rules is None else rules
    return _Play(workload, replace(rules, routing=replace(rules.routing, strategy=strategy))).run()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """A turn as the Router sees it."""

    turn: Turn
    exchange: ExchangeId
    demand: Demand
    at: datetime


class _Play:
    """One play as it goes."""

    def __init__(self, workload: Workload, rules: Rules) -> None:
        self._workload = workload
        self._world = World(workload)
        self._router = Router(rules)
        self._router.observe(AccountsChanged(accounts=tuple(map(_account, workload.accounts))))
        self._served: list[Served] = []
        self._attempts_refused = 0

    def run(self) -> Outcome:
        events = self._workload.events()
        for number, event in enumerate(events):
            if isinstance(event, Outside):
                self._world.use(event)
            else:
                self._exchange(_asked(event, ExchangeId(str(number))))
        return self._outcome(events[-1].at if events else 0.0)

    def _exchange(self, asked: _Asked) -> None:
        """Ask one account after another until one takes the turn, or the Router knows no other."""
        trail = Trail(started_at=asked.at)
        while isinstance(choice := self._router.choose(asked.demand, trail, asked.at), Use):
            self._router.observe(
                Dispatched(
                    exchange=asked.exchange,
                    account=choice.account,
                    demand=asked.demand,
                    at=asked.at,
                    is_move=choice.is_move,
                )
            )
            met = self._world.ask(asked.turn, choice.account)
            if isinstance(met, Served):
                self._take(met, asked, choice.account)
                break
            trail = trail.grown(self._refuse(met, asked, choice.account))
        self._router.observe(Ended(exchange=asked.exchange, trail=trail, at=asked.at))

    def _take(self, met: Served, asked: _Asked, account: AccountId) -> None:
        self._served.append(met)
        gauges = self._world.gauges(asked.turn, account)
        readings = tuple(reading(gauge, START, asked.at) for gauge in gauges)
        self._answer(TAKEN, asked, account, readings)
        self._router.observe(Succeeded(exchange=asked.exchange, account=account, demand=asked.demand, at=asked.at))

    def _refuse(self, met: Refused, asked: _Asked, account: AccountId) -> Attempt:
        self._attempts_refused += 1
        judged = verdict(met, START)
        self._answer(judged, asked, account, ())
        return Attempt(account=account, verdict=judged, sent_at=asked.at, ended_at=asked.at)

    def _answer(self, judged: Verdict, asked: _Asked, account: AccountId, readings: tuple[Reading, ...]) -> None:
        self._router.observe(
            Answered(
                exchange=asked.exchange,
                account=account,
                demand=asked.demand,
                verdict=judged,
                sent_at=asked.at,
                at=asked.at,
                readings=readings,
            )
        )

    def _outcome(self, ends_at: float) -> Outcome:
        workload, served = self._workload, self._served
        return Outcome(
            served_turns=len(served),
            refused_turns=len(workload.turns) - len(served),
            attempts_refused=self._attempts_refused,
            served_units=fsum(workload.price(one.turn, warm=True) for one in served),
            lost_units=self._world.lost(ends_at),
            rebuilt_tokens=sum(one.rebuilt for one in served),
            moved_warm_tokens=sum(one.moved_warm for one in served),
            moves=sum(one.moved for one in served),
        )


def _account(plan: Plan) -> Account:
    identity = Identity(plan=f"{plan.size:g}")
    return Account(id=AccountId(plan.name), name=plan.name, provider=PROVIDER, kind=Kind.OAUTH, identity=identity)


def _asked(turn: Turn, exchange: ExchangeId) -> _Asked:
    demand = Demand(
        provider=PROVIDER,
        model=turn.model,
        family=family_of(turn.model),
        conversation=ConversationId(turn.conversation),
        cache_ttl=timedelta(seconds=turn.ttl),
    )
    return _Asked(turn=turn, exchange=exchange, demand=demand, at=START + timedelta(seconds=turn.at))
