"""A shell without a proxy: it plays whole exchanges against a Router in pretend time, as addons/route.py does."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from routing.chains import settle
from routing.decisions import Choice, GiveUp, Use, Wait
from routing.observations import AccountsChanged, Answered, Dispatched, Ended, Succeeded
from routing.readings import Reading
from routing.router import Router
from routing.rules import Rules
from routing.trail import Attempt, Trail
from routing.verdicts import Verdict
from routing.words import Account, AccountId, Demand, ExchangeId
from tests.routing.made import NOON, account, demand

MANY = 5_000  # steps after which an exchange counts as endless

type Answers = Callable[[AccountId], Verdict]


@dataclass(kw_only=True)
class Run:
    """One exchange as it went: the choices in order, and its trail."""

    choices: list[Choice] = field(default_factory=list)
    trail: Trail

    @property
    def end(self) -> Choice:
        """The last choice: a Use that was served, or a GiveUp."""
        return self.choices[-1]

    @property
    def asked(self) -> list[AccountId]:
        """The accounts asked, in order."""
        return [choice.account for choice in self.choices if isinstance(choice, Use)]


class Shell:
    """Exchanges one after another, each at the time where the one before it ended."""

    def __init__(self, *accounts: Account | str, rules: Rules | None = None, now: datetime = NOON) -> None:
        self.rules = Rules() if rules is None else rules
        self.router = Router(self.rules)
        self.now = now
        self.accounts = tuple(account(a) if isinstance(a, str) else a for a in accounts)
        self.router.observe(AccountsChanged(accounts=self.accounts))
        self._count = 0

    def play(self, asked: Demand | None, answers: Answers, *, readings: Iterable[Reading] = ()) -> Run:
        """One exchange from its first choice to its end."""
        asked = demand() if asked is None else asked
        self._count += 1
        shown = tuple(readings)
        exchange = ExchangeId(f"x{self._count}")
        run = Run(trail=Trail(started_at=self.now))
        waited = timedelta()
        for _ in range(MANY):
            choice = self.router.choose(asked, run.trail, self.now)
            run.choices.append(choice)
            match choice:
                case GiveUp():
                    break
                case Wait(until=until, account=None):
                    self.now, run.trail = max(self.now, until), run.trail.resumed(choice)
                case Wait(until=until):
                    waited, self.now = until - self.now, max(self.now, until)
                case Use(account=name):
                    if self._attempt(
                        name, run, asked=asked, exchange=exchange, met=answers(name), waited=waited, readings=shown
                    ):
                        break
                    waited = timedelta()
        else:
            raise AssertionError("this exchange does not end")
        self.router.observe(Ended(exchange=exchange, trail=run.trail, at=self.now))
        return run

    def _attempt(
        self,
        name: AccountId,
        run: Run,
        *,
        asked: Demand,
        exchange: ExchangeId,
        met: Verdict,
        waited: timedelta,
        readings: tuple[Reading, ...],
    ) -> bool:
        """One attempt; True when it was served."""
        sent_at = self.now
        is_free = isinstance(run.end, Use) and run.end.is_free
        self.router.observe(Dispatched(exchange=exchange, account=name, demand=asked, at=sent_at, is_free=is_free))
        self.now += timedelta(seconds=1)
        settled = settle(met, run.trail, asked, self.rules)
        self.router.observe(
            Answered(
                exchange=exchange,
                account=name,
                demand=asked,
                verdict=settled,
                sent_at=sent_at,
                at=self.now,
                readings=readings,
            )
        )
        if not settled.is_refusal:
            self.router.observe(Succeeded(exchange=exchange, account=name, demand=asked, at=self.now))
            return True
        grown = Attempt(account=name, verdict=settled, sent_at=sent_at, ended_at=self.now, waited=waited)
        run.trail = run.trail.grown(grown)
        return False
