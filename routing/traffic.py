"""What exchanges are doing: what is in flight where, who waits for a place, where conversations live, and what they will want."""

from dataclasses import dataclass, field

from routing.given import Given
from routing.leases import Leases
from routing.load import Load
from routing.observations import Answered, Dispatched, Paused, Succeeded
from routing.queues import Queue
from routing.ramps import Ramps
from routing.stickiness import Habits
from routing.words import Account, AccountId, ExchangeId


@dataclass(slots=True)
class Traffic:
    """The exchanges that are going on, and what they leave behind; requests: how many went out on each account."""

    requests: dict[AccountId, int] = field(default_factory=dict)
    leases: Leases = field(default_factory=Leases)
    queue: Queue = field(default_factory=Queue)
    ramps: Ramps = field(default_factory=Ramps)
    habits: Habits = field(default_factory=Habits)
    given: Given = field(default_factory=Given)
    load: Load = field(default_factory=Load)

    def paused(self, told: Paused) -> None:
        """It is in flight nowhere, and perhaps waits for a place."""
        self.leases.end(told.exchange)
        if told.queue:
            self.queue.join(told.exchange, told.queue)
        else:
            self.queue.leave(told.exchange)

    def lost(self, told: Dispatched) -> None:
        """It goes out on an account that is gone."""
        self.queue.leave(told.exchange)
        self.leases.end(told.exchange)

    def dispatched(self, told: Dispatched, account: Account) -> None:
        """It goes out on the account."""
        self.queue.leave(told.exchange)
        self.requests[account.id] = self.requests.get(account.id, 0) + 1
        if told.demand.side:
            return
        self.leases.move(told.exchange, account.id, told.demand)
        self.load.sent(told.exchange, account.id, told.demand, told.at)
        if told.is_free:
            self.given.to(account)
        if told.is_move:
            self.ramps.dispatched(told.exchange, account.id, told.at)
        else:
            self.ramps.ended(told.exchange)
        self.habits.asked(told.demand, account.id)

    def answered(self, told: Answered) -> None:
        """The account took it, or refused it."""
        if not told.verdict.is_refusal:
            self.ramps.answered(told.exchange)
            return
        self.load.refused(told.exchange, told.demand)
        self.ramps.ended(told.exchange)  # it may wait here for this account, and must not wait for itself

    def succeeded(self, told: Succeeded) -> None:
        """Its answer reached its end: the conversation lives there now."""
        self.habits.served(told.demand, told.account, told.at)
        if told.spent is not None:
            self.load.answered(told.demand, told.spent, told.at)

    def ended(self, exchange: ExchangeId) -> None:
        """It is over."""
        self.queue.leave(exchange)
        self.leases.end(exchange)
        self.load.ended(exchange)
        self.ramps.ended(exchange)

    def drop(self, account: AccountId) -> None:
        """The account is gone."""
        self.requests.pop(account, None)
        self.leases.drop(account)
        self.queue.drop(account)
        self.ramps.drop(account)
        self.habits.drop(account)
        self.given.drop(account)
        self.load.drop(account)
