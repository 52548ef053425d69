"""Plays a workload against a real Router in pretend time, and counts what came of it.

What happens, happens in the order of time, outside use before turns of the same moment. Answers come at once, so no two
turns are in flight together, and the Router learns only what a live one would.

A turn may wait for an account to recover, as long as the caller says; it is then a turn of the moment at which it is asked again.
Later turns of its conversation come after it. A wait always lasts to its end.
"""

from collections import deque
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from math import fsum

from routing.decisions import Use, Wait
from routing.observations import AccountsChanged, Answered, Dispatched, Ended, Paused, Succeeded
from routing.readings import Reading
from routing.router import Router
from routing.rules import Rules
from routing.simulation.agenda import Agenda
from routing.simulation.answers import TAKEN, reading, verdict
from routing.simulation.workload import Outside, Plan, Turn, Workload, family_of
from routing.simulation.world import Refused, Served, World
from routing.spent import Spent
from routing.trail import Attempt, Trail
from routing.verdicts import Verdict
from routing.words import Account, AccountId, ConversationId, Demand, ExchangeId, Identity, Kind

START = datetime(2026, 1, 5, tzinfo=UTC)  # any moment would do
PROVIDER = "anthropic"
_SECOND = timedelta(seconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a strategy made of a workload.

    attempts_refused: refusals met on the way, by served and refused turns; they cost nothing.
    served_units: each served turn at the price of a warm cache, so that a rebuilt one earns nothing.
    lost_units: left in weeks that ended. rebuilt_tokens: context written by served turns; moved_warm_tokens: of these, what was
    warm on another account. moves: turns served by another account than their conversation's turn before.
    waited_turns: turns that waited for an account, served or not; waited_s: for how long, all together.
    """

    served_turns: int = 0
    refused_turns: int = 0
    attempts_refused: int = 0
    served_units: float = 0.0
    lost_units: float = 0.0
    rebuilt_tokens: int = 0
    moved_warm_tokens: int = 0
    moves: int = 0
    waited_turns: int = 0
    waited_s: float = 0.0


def play(workload: Workload, strategy: str, rules: Rules | None = None, *, wait: float = 0.0) -> Outcome:
    """Play it to its end under one strategy; ValueError when there is none of that name.

    wait: how many seconds a turn may wait for an account, instead of what the rules say.
    """
    rules = Rules() if rules is None else rules
    routing, waiting = replace(rules.routing, strategy=strategy), replace(rules.wait, max=wait)
    return _Play(workload, replace(rules, routing=routing, wait=waiting)).run()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """A turn as the Router sees it."""

    turn: Turn
    exchange: ExchangeId
    demand: Demand
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pause:
    """A turn that waits, and what it met before."""

    asked: _Asked
    trail: Trail


class _Play:
    """One play as it goes."""

    def __init__(self, workload: Workload, rules: Rules) -> None:
        self._workload = workload
        self._world = World(workload)
        self._patience = timedelta(seconds=rules.wait.max + rules.wait.margin_s)
        self._router = Router(rules)
        self._router.observe(AccountsChanged(accounts=tuple(map(_account, workload.accounts))))
        self._agenda: Agenda[_Pause] = Agenda(workload.events())
        self._behind: dict[str, deque[tuple[Turn, int]]] = {}
        self._served: list[Served] = []
        self._attempts_refused = 0
        self._waited_turns: set[ExchangeId] = set()
        self._waited = timedelta()

    def run(self) -> Outcome:
        at = 0.0
        while self._agenda:
            at, number, what = self._agenda.next()
            if isinstance(what, Outside):
                self._world.use(what)
            elif isinstance(what, _Pause):
                self._resume(what, at)
            elif what.conversation in self._behind:
                self._behind[what.conversation].append((what, number))
            else:
                self._begin(what, number)
        return self._outcome(at)

    def _begin(self, turn: Turn, number: int) -> None:
        at = START + timedelta(seconds=turn.at)
        asked = _Asked(turn=turn, exchange=ExchangeId(str(number)), demand=self._demand(turn), at=at)
        self._exchange(asked, Trail(started_at=at))

    def _resume(self, pause: _Pause, at: float) -> None:
        """Ask again, then those behind it, until one of them waits in its turn."""
        behind = self._behind.pop(pause.asked.turn.conversation)
        turn = replace(pause.asked.turn, at=at)
        self._exchange(replace(pause.asked, turn=turn, at=START + timedelta(seconds=at)), pause.trail)
        while behind and turn.conversation not in self._behind:
            later, number = behind.popleft()
            self._begin(replace(later, at=at), number)
        if behind:
            self._behind[turn.conversation].extend(behind)

    def _exchange(self, asked: _Asked, trail: Trail) -> None:
        """Ask one account after another until one takes the turn, or the Router knows no other now."""
        while isinstance(choice := self._router.choose(asked.demand, trail, asked.at), Use):
            self._router.observe(
                Dispatched(
                    exchange=asked.exchange,
                    account=choice.account,
                    demand=asked.demand,
                    at=asked.at,
                    is_move=choice.is_move,
                    is_free=choice.is_free,
                )
            )
            met = self._world.ask(asked.turn, choice.account)
            if isinstance(met, Served):
                self._take(met, asked, choice.account)
                break
            trail = trail.grown(self._refuse(met, asked, choice.account))
        else:
            if isinstance(choice, Wait):
                self._wait(choice, asked, trail)
                return
        self._router.observe(Ended(exchange=asked.exchange, trail=trail, at=asked.at))

    def _wait(self, choice: Wait, asked: _Asked, trail: Trail) -> None:
        """Keep the turn until then, and those of its conversation behind it; meanwhile it is in flight nowhere."""
        if choice.account is None:
            self._router.observe(Paused(exchange=asked.exchange, at=asked.at, queue=choice.queue))
        pause = max(choice.until - asked.at, timedelta())
        self._waited_turns.add(asked.exchange)
        self._waited += pause
        trail = trail.resumed(choice, pause)
        self._behind[asked.turn.conversation] = deque()
        self._agenda.wake((asked.at + pause - START) / _SECOND, _Pause(asked=asked, trail=trail))

    def _take(self, met: Served, asked: _Asked, account: AccountId) -> None:
        self._served.append(met)
        gauges = self._world.gauges(asked.turn, account)
        readings = tuple([reading(gauge, START, asked.at) for gauge in gauges])
        self._answer(TAKEN, asked, account, readings)
        self._router.observe(
            Succeeded(
                exchange=asked.exchange,
                account=account,
                demand=asked.demand,
                at=asked.at,
                spent=_spent(met),
            )
        )

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
            rebuilt_tokens=round(fsum(one.rebuilt for one in served)),
            moved_warm_tokens=round(fsum(one.moved_warm for one in served)),
            moves=sum(one.moved for one in served),
            waited_turns=len(self._waited_turns),
            waited_s=self._waited / _SECOND,
        )

    def _demand(self, turn: Turn) -> Demand:
        """What a turn asks for; its body tells how long it is."""
        return Demand(
            provider=PROVIDER,
            model=turn.model,
            family=family_of(turn.model),
            conversation=ConversationId(turn.conversation),
            cache_ttl=timedelta(seconds=turn.ttl),
            patience=self._patience,
            tokens=round(turn.context + turn.fresh),
        )


def _spent(met: Served) -> Spent:
    """What the answer says that it used up."""
    turn = met.turn
    read, written = round(turn.context - met.rebuilt), round(met.rebuilt)
    return Spent(read=read, fresh=round(turn.fresh), written=written, output=round(turn.output))


def _account(plan: Plan) -> Account:
    identity = Identity(plan=f"{plan.size:g}")
    return Account(id=AccountId(plan.name), name=plan.name, provider=PROVIDER, kind=Kind.OAUTH, identity=identity)
