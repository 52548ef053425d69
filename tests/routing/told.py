"""Short ways to tell a memory what happened, and to look at what it holds."""

from collections.abc import Iterable

from routing.health import Standing
from routing.memory import Memory
from routing.observations import (
    AccountsChanged,
    Answered,
    Checked,
    Dispatched,
    Ended,
    Observation,
    RenewalFailed,
    Succeeded,
)
from routing.readings import Reading
from routing.rules import Holds
from routing.spent import Spent
from routing.verdicts import Verdict
from routing.words import Account, AccountId, Demand, ExchangeId
from tests.routing.made import (
    ANN,
    BEN,
    EXCHANGE,
    NOON,
    OK,
    account,
    demand,
    hours,
    reading,
    seconds,
    trail,
)


def known(*accounts: Account) -> Memory:
    """A memory that was told of these accounts, ann and ben by default."""
    memory = Memory(rules=Holds())
    memory.learn(AccountsChanged(accounts=accounts or (account(ANN), account(BEN))))
    return memory


def answer(
    memory: Memory,
    met: Verdict,
    *,
    name: AccountId = ANN,
    request: Demand | None = None,
    sent: float = 0,
    at: float = 1,
    exchange: ExchangeId = EXCHANGE,
    shown: Iterable[Reading] = (),
) -> None:
    """Tell the memory of an answer; sent and at: seconds after noon."""
    memory.learn(
        Answered(
            exchange=exchange,
            account=name,
            demand=demand() if request is None else request,
            verdict=met,
            sent_at=NOON + seconds(sent),
            at=NOON + seconds(at),
            readings=tuple(shown),
        )
    )


def rows(memory: Memory, name: AccountId = ANN) -> list[int]:
    """The rows of an account's holds."""
    return [one.row for one in memory.held.holds.get(name, ())]


def ends(memory: Memory) -> list[float]:
    """When the account's holds end: seconds after noon."""
    return [(one.until - NOON) / seconds(1) for one in memory.held.holds.get(ANN, ())]


def served(
    name: AccountId, used: float, spent: Spent | None, *, side: bool = False, at: float = 0
) -> list[Observation]:
    """A turn that was answered to its end."""
    asked, now = demand(side=side), NOON + seconds(at)
    shown = (reading("5h", used, sent=at, taken=at, resets=5),)
    return [
        Dispatched(exchange=EXCHANGE, account=name, demand=asked, at=now),
        Answered(exchange=EXCHANGE, account=name, demand=asked, verdict=OK, sent_at=now, at=now, readings=shown),
        Succeeded(exchange=EXCHANGE, account=name, demand=asked, at=now, spent=spent),
        Ended(exchange=EXCHANGE, trail=trail(), at=now),
    ]


def unrenewed(*, until: float | None = None, bars: bool = True, at: float = 0) -> RenewalFailed:
    """Ann's login could not be renewed; until: hours after noon; at: seconds after noon."""
    end = None if until is None else NOON + hours(until)
    return RenewalFailed(account=ANN, at=NOON + seconds(at), because="no answer", until=end, bars=bars)


def check(standing: Standing, at: float = 60, because: str = "") -> Checked:
    """Ann's credential was checked; at: seconds after noon."""
    return Checked(account=ANN, standing=standing, at=NOON + seconds(at), because=because)
