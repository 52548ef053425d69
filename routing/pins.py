"""Pins: the operator's wish for one session, for one launch of a client, or for all.

The order of decision; the first that fits serves:

    1. its own pin (of its conversation or session, else of its launch), if that account may serve; but a conversation whose own pin
       had to yield stays where it went, while it is warm there and may be served, unless a pin was given since
    2. the pin of all, where it moves: a conversation that came to its account before the pin was given, and is on none of its
       accounts, goes to the best of them, once; while none of them has room it stays
    3. where the conversation is warm
    4. the best of the accounts of the pin of all, else the best of all accounts

A pin spends the reserves of its accounts and bars no other; where its accounts may not serve, it yields.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from routing.bounded import put_last
from routing.stickiness import BOUND, StickKey
from routing.words import AccountId, ConversationId, Demand

MOST_LAUNCHES = 1_000
LONGEST_SESSION = 256
SESSION_RULE = f"1 to {LONGEST_SESSION} characters on one line"
ALL, FORCED, OWN, LAUNCH, HEEDED = "all", "forced", "own", "launch", "heeded"
SCOPES = frozenset({ALL, FORCED, OWN, LAUNCH, HEEDED})
_TICK = timedelta(microseconds=1)
_NEWEST = datetime(9999, 1, 1, tzinfo=UTC)  # when a launch is given that has not gone out yet

type PinKey = tuple[str, str, str]
"""A scope, and where it has them the session or conversation, and the model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pin:
    """One wish.

    accounts: those that are to serve; of a session's, none sets it free, its launch included.
    moves: whether conversations that came to their accounts before it was given are to move.
    """

    accounts: tuple[AccountId, ...]
    at: datetime
    moves: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What the pins make of one choice.

    accounts: among whom it is made; none: the pins do not decide it. is_own: whether they were wished for this one, which may wait.
    is_move: whether it takes a conversation away from where it is warm. yields: pinned accounts that do not serve it.
    """

    accounts: tuple[AccountId, ...] = ()
    because: str = ""
    is_own: bool = False
    is_move: bool = False
    yields: tuple[AccountId, ...] = ()


@dataclass(slots=True)
class Pins:
    """All wishes, and what has heeded them.

    of_all: the one for everything. forced_at: since when the launches of before do not count.
    _heeded: by conversation and model, when it last went elsewhere than its own pin says or, beside a pin of all, came to its account.
    """

    of_all: Pin | None = None
    forced_at: datetime | None = None
    _own: dict[str, Pin] = field(default_factory=dict)
    _launches: dict[str, Pin] = field(default_factory=dict)
    _heeded: dict[StickKey, datetime] = field(default_factory=dict)

    def told(self, pin: Pin, session: str | None = None, *, forces: bool = False) -> None:
        """Take in a wish; it is newer than all that went out before, whatever the clock says."""
        self._heeded = {key: min(went_at, pin.at - _TICK) for key, went_at in self._heeded.items()}
        if session is not None:
            put_last(self._own, session, replace(pin, accounts=pin.accounts[:1], moves=False), BOUND)
            return
        self.of_all = pin if pin.accounts else None
        if forces:
            self._own.clear()
            self.forced_at = pin.at
        if not (self.of_all or self._own or self._launches):
            self._heeded.clear()

    def dispatched(self, demand: Demand, account: AccountId, warm: AccountId | None, at: datetime) -> None:
        """A request goes out on the account; warm: where its conversation is warm."""
        if demand.pin is not None:
            known = self._launches.get(_launch(demand))
            if known is None or known.accounts != (demand.pin,):
                known = Pin(accounts=(demand.pin,), at=at)
            put_last(self._launches, _launch(demand), known, MOST_LAUNCHES)
        else:
            self._unlaunched(demand)
        own = self.own(demand)
        is_elsewhere = own is not None and account not in own.accounts
        if demand.conversation is not None and (is_elsewhere or (self.of_all is not None and account != warm)):
            put_last(self._heeded, (demand.conversation, demand.model), at, BOUND)

    def own(self, demand: Demand) -> Pin | None:
        """Find the wish for this conversation, session or launch."""
        if self._own:
            for name in (demand.conversation, demand.session):
                if name is not None and (pin := self._own.get(name)) is not None:
                    return pin if pin.accounts else None
        return None if demand.pin is None else self._launched(demand, demand.pin)

    def _launched(self, demand: Demand, account: AccountId) -> Pin | None:
        known = self._launches.get(_launch(demand))
        if known is None or known.accounts != (account,):
            return Pin(accounts=(account,), at=_NEWEST)
        return None if self._is_void(known) else known

    def _unlaunched(self, demand: Demand) -> None:
        """Forget that the session was launched so, for it names nobody now; named again, that is a new launch, which nothing yielded."""
        known = self._launches.get(_launch(demand))
        if known is not None and not self._is_void(known):
            del self._launches[_launch(demand)]

    def _is_void(self, launch: Pin) -> bool:
        return self.forced_at is not None and launch.at <= self.forced_at

    def named(self, demand: Demand) -> tuple[AccountId, ...]:
        """List the accounts that are wished for: its own pin's, else those of the pin of all."""
        pin = self.own(demand) or self.of_all
        return () if pin is None else pin.accounts

    def spent(self, demand: Demand) -> tuple[AccountId, ...]:
        """List the accounts whose reserves the request may use."""
        own = self.own(demand)
        named = () if own is None else own.accounts
        return named if self.of_all is None else (*named, *self.of_all.accounts)

    def wish(self, demand: Demand, eligible: Collection[AccountId], habit: AccountId | None) -> Wish:
        """Say among whom to choose; eligible: who may serve; habit: who of them serves the conversation already."""
        own = self.own(demand)
        if own is not None:
            is_settled = habit is not None and habit not in own.accounts and self._has_heeded(demand, own)
            if not is_settled and own.accounts[0] in eligible:
                return Wish(accounts=own.accounts, because="pinned", is_own=True)
        yields = () if own is None else own.accounts
        every = self.of_all
        if every is None:
            return Wish(yields=yields)
        among = tuple(account for account in every.accounts if account in eligible)
        if habit is None:
            return Wish(accounts=among, because="pinned (all)", yields=yields or (() if among else every.accounts))
        if every.moves and among and habit not in every.accounts and not self._has_heeded(demand, every):
            return Wish(accounts=among, because="moved by pin", is_move=True, yields=yields)
        return Wish(yields=yields)

    def _has_heeded(self, demand: Demand, pin: Pin) -> bool:
        """Whether the conversation went where it is since the pin was given."""
        if demand.conversation is None:
            return False
        went_at = self._heeded.get((demand.conversation, demand.model))
        return went_at is not None and went_at >= pin.at

    def of_sessions(self) -> Mapping[str, tuple[Pin, bool]]:
        """List the wishes for sessions and conversations that count, and whether each was made by a launch."""
        launched = {
            n: (pin, True) for n, pin in self._launches.items() if n not in self._own and not self._is_void(pin)
        }
        return launched | {name: (pin, False) for name, pin in self._own.items() if pin.accounts}

    def drop(self, account: AccountId) -> None:
        """Forget an account that was removed."""
        if self.of_all is not None:
            left = tuple(one for one in self.of_all.accounts if one != account)
            self.of_all = replace(self.of_all, accounts=left) if left else None
        for pins in (self._own, self._launches):
            for name in [name for name, pin in pins.items() if account in pin.accounts]:
                del pins[name]

    def kept(self) -> dict[PinKey, Pin]:
        """Draw what outlives a restart."""
        found = {} if self.of_all is None else {(ALL, "", ""): self.of_all}
        if self.forced_at is not None:
            found[FORCED, "", ""] = Pin(accounts=(), at=self.forced_at)
        found |= {(OWN, name, ""): pin for name, pin in self._own.items()}
        found |= {(LAUNCH, name, ""): pin for name, pin in self._launches.items()}
        return found | {(HEEDED, name, model): Pin(accounts=(), at=at) for (name, model), at in self._heeded.items()}

    def restore(self, kept: Mapping[PinKey, Pin]) -> None:
        """Take in wishes of before; what was wished since stays."""
        for (scope, name, model), pin in sorted(kept.items(), key=lambda one: one[1].at):
            if scope == ALL:
                self.of_all = self.of_all or pin
            elif scope == FORCED:
                self.forced_at = self.forced_at or pin.at
            elif scope == HEEDED:
                self._heeded.setdefault((ConversationId(name), model), pin.at)
            elif scope in (OWN, LAUNCH):  # any other is of a newer flowpool
                (self._own if scope == OWN else self._launches).setdefault(name, pin)


def is_session(text: str) -> bool:
    """Tell whether a person may pin a session or conversation of this id; what cannot be printed could not be shown, nor all of it kept."""
    return 0 < len(text) <= LONGEST_SESSION and text.isprintable()


def still_wished(kept: Mapping[PinKey, Pin], accounts: Collection[AccountId], now: datetime) -> dict[PinKey, Pin]:
    """Keep the wishes for accounts that exist; none was made later than now."""
    found = {}
    for key, pin in kept.items():
        left = tuple(account for account in pin.accounts if account in accounts)
        if left or not pin.accounts:
            found[key] = replace(pin, accounts=left, at=min(pin.at, now))
    return found


def _launch(demand: Demand) -> str:
    """What a launch is known by: its session, else its conversation."""
    return demand.session or demand.conversation or ""
