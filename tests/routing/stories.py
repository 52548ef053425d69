"""Stories of a Router: pools that are measured, accounts that answer the same each time, and what it answers now."""

from dataclasses import replace

from routing.decisions import Answer, Choice, GiveUp
from routing.observations import (
    Answered,
    Dispatched,
)
from routing.rules import Routing, Rules
from routing.trail import Trail
from routing.verdicts import Verdict
from routing.words import AccountId, Demand, ExchangeId
from tests.routing.made import (
    EXCHANGE,
    OK,
    demand,
    reading,
    trail,
)
from tests.routing.shell import Answers, Run, Shell

PERISHING = Rules(routing=Routing(strategy="perishing"))  # whose choices and words are easy to foresee


def always(**by_name: Verdict) -> Answers:
    """Answers that are the same for each account every time; an account that is not named serves."""
    return lambda name: by_name.get(name, OK)


def measured(shell: Shell, **used: float) -> None:
    """Let each account have answered once, with so much of its week used."""
    for name, fraction in used.items():
        shell.router.observe(
            Answered(
                exchange=EXCHANGE,
                account=AccountId(name),
                demand=demand(None),
                verdict=OK,
                sent_at=shell.now,
                at=shell.now,
                readings=(replace(reading(used=fraction), sent_at=shell.now, taken_at=shell.now),),
            )
        )


def pooled(**used: float) -> Shell:
    """A shell whose accounts are measured."""
    shell = Shell(*used, rules=PERISHING)
    measured(shell, **used)
    return shell


def answer_of(run: Run) -> Answer:
    """Which of our own answers the exchange ended with."""
    assert isinstance(run.end, GiveUp)
    return run.end.answer


def in_flight(shell: Shell, name: AccountId, exchange: str = "other", request: Demand | None = None) -> None:
    """Let another exchange have a request in flight on the account."""
    request = demand() if request is None else request
    shell.router.observe(Dispatched(exchange=ExchangeId(exchange), account=name, demand=request, at=shell.now))


def first(shell: Shell, request: Demand | None = None, met: Trail | None = None) -> Choice:
    """What the Router answers now."""
    return shell.router.choose(demand() if request is None else request, trail() if met is None else met, shell.now)
