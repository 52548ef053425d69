"""What the Router was told, kept in the shape that its choices need."""

from collections.abc import Mapping
from dataclasses import InitVar, dataclass, field

from routing.held import Held
from routing.meters import Meters
from routing.observations import (
    AccountsChanged,
    Answered,
    Checked,
    CredentialChanged,
    Dispatched,
    Ended,
    Gauged,
    HoldsLifted,
    Measured,
    Observation,
    Paused,
    Pinned,
    RenewalFailed,
    Restored,
    Succeeded,
)
from routing.pins import Pin, Pins
from routing.remembered import Remembered, still_standing
from routing.rules import Holds
from routing.traffic import Traffic
from routing.words import Account, AccountId

type OfOne = Answered | Succeeded | CredentialChanged | RenewalFailed | Checked | Measured | Gauged | HoldsLifted
"""What concerns one account, and nothing else."""


@dataclass(slots=True)
class Memory:
    """All that was observed; everything but the lines' families is kept by account and goes with it.

    held: what keeps accounts from serving. meters: what is known of their windows. traffic: what exchanges are doing. pins: what the
    operator wishes. reserved: accounts of which something is held back. revision: how many observations were taken in.
    """

    rules: InitVar[Holds]
    held: Held = field(init=False)
    meters: Meters = field(default_factory=Meters)
    traffic: Traffic = field(default_factory=Traffic)
    pins: Pins = field(default_factory=Pins)
    accounts: Mapping[AccountId, Account] = field(default_factory=dict)
    reserved: tuple[Account, ...] = ()
    revision: int = 0

    def __post_init__(self, rules: Holds) -> None:
        """Hold nobody yet; rules: how long holds last."""
        self.held = Held(rules)

    def learn(self, observation: Observation) -> None:
        """Take in one observation; what concerns an account that is gone changes nothing."""
        self.revision += 1
        match observation:
            case Dispatched():
                self._dispatched(observation)
            case Ended():
                self.traffic.ended(observation.exchange)
                self.held.ended(observation.exchange, observation.trail)
            case Paused():
                self.traffic.paused(observation)
            case Pinned():
                self._pin(observation)
            case AccountsChanged():
                self._replace(observation)
            case Restored():
                self._restore(still_standing(observation.remembered, self.accounts, observation.at))
            case _:
                if observation.account in self.accounts:
                    self._follow(observation)

    def _follow(self, observation: OfOne) -> None:
        """Take in what is told of one account."""
        match observation:
            case Answered():
                self._answered(observation)
            case Succeeded():
                self._succeeded(observation)
            case Measured():
                self.meters.read(observation.account, observation.readings)
                self.held.measured(observation)
            case Gauged():
                self.meters.gauges[observation.account] = observation.gauge
            case CredentialChanged():
                self.held.renewed(observation.account)
            case RenewalFailed():
                self.held.renewal_failed(observation)
            case Checked():
                self.held.checked(observation)
            case HoldsLifted():  # still believed, the readings that its holds rest on would put it behind all others
                self.meters.forget(observation.account, self.held.lifted(observation.account))

    def remembered(self) -> Remembered:
        """Draw what outlives a restart."""
        held, meters = self.held, self.meters
        return Remembered(
            readings={(account, key): r for account, known in meters.readings.items() for key, r in known.items()},
            holds=held.lasting(),
            ladders=held.logins.ladders.copy(),
            checks=held.logins.checks.copy(),
            lifetimes=held.logins.lifetimes.copy(),
            sticks=self.traffic.habits.sticks(),
            lines=meters.lines.copy(),
            pins=self.pins.kept(),
            capacities=meters.capacities.remembered(),
            gauges=meters.gauges.copy(),
        )

    def _replace(self, told: AccountsChanged) -> None:
        now = {account.id: account for account in told.accounts}
        for gone in self.accounts.keys() - now.keys():
            self.held.drop(gone)
            self.meters.drop(gone)
            self.traffic.drop(gone)
            self.pins.drop(gone)
        self.accounts = now
        self.reserved = tuple(account for account in told.accounts if account.reserves)
        self.meters.know(told.accounts)
        self.held.sign({account: why for account, why in told.unsigned.items() if account in now})
        self.held.logins.lifetimes |= {account: life for account, life in told.lifetimes.items() if account in now}

    def _restore(self, old: Remembered) -> None:
        """What was observed since the start is newer."""
        self.held.restore(old)
        self.meters.restore([(account, reading) for (account, _), reading in old.readings.items()], old.lines)
        self.meters.capacities.restore(old.capacities)
        self.meters.gauges = {**old.gauges, **self.meters.gauges}
        self.traffic.habits.restore(old.sticks)
        self.pins.restore(old.pins)

    def _pin(self, told: Pinned) -> None:
        """Take in a wish, in the order of the accounts; one for accounts of which none is there changes nothing."""
        known = tuple(account for account in self.accounts if account in told.accounts)
        if known or not told.accounts:
            self.pins.told(Pin(accounts=known, at=told.at, moves=told.moves), told.session, forces=told.forces)

    def _dispatched(self, told: Dispatched) -> None:
        account = self.accounts.get(told.account)
        if account is None:
            self.traffic.lost(told)
            return
        self.held.dispatched(told)
        if not told.demand.side:
            self.pins.dispatched(told.demand, account.id, self.traffic.habits.warm(told.demand, told.at), told.at)
        self.traffic.dispatched(told, account)

    def _answered(self, told: Answered) -> None:
        self.meters.read(told.account, told.readings, told.demand.family)
        if told.demand.side:
            return
        self.traffic.answered(told)
        if told.verdict.is_refusal:
            self.held.refused(told, self.meters.readings.get(told.account, {}).values())
        else:
            self.held.served(told)

    def _succeeded(self, told: Succeeded) -> None:
        """Learn where the conversation lives, what it costs, and what windows hold."""
        if self.accounts[told.account].enabled and not told.demand.side:
            self.traffic.succeeded(told)
            if told.spent is not None:
                cost = told.spent.cost * told.demand.weight
                self.meters.paid(told.account, told.demand.family, cost, told.at)
