"""The Router as a state machine: whatever happens in whatever order, its promises hold after every step."""

from datetime import datetime, timedelta

from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, invariant, rule

from routing.decisions import GiveUp, Use, Wait
from routing.gates import bar
from routing.health import Standing
from routing.observations import (
    AccountsChanged,
    Answered,
    Checked,
    CredentialChanged,
    Dispatched,
    Ended,
    Pinned,
    RenewalFailed,
    Succeeded,
)
from routing.readings import Status
from routing.router import Router
from routing.rules import Routing, Rules
from routing.scoring import STRATEGIES
from routing.snapshot import State
from routing.trail import Attempt, Trail
from routing.verdicts import AuthLadder, HoldOrder, Hop, Left, Verdict, VerdictKind
from routing.words import Account, AccountId, Demand, ExchangeId
from tests.routing.made import ANN, BEN, CAT, HAIKU, NOON, OPUS, account, demand, reading, seconds

OK = Verdict(row=8, kind=VerdictKind.OK, because="ok")
SECONDS = st.floats(-3600, 7200, allow_nan=False)
ROWS = st.sampled_from([12, 13, 14, 16, 17, 18, 19, 20, 21, 22, 23])


class Flight:
    """One exchange: what it asked for, what it met, and where it is now."""

    def __init__(self, name: int, asked: Demand, now: datetime) -> None:
        self.id = ExchangeId(f"x{name}")
        self.asked = asked
        self.trail = Trail(started_at=now)
        self.account: AccountId | None = None
        self.sent_at = now


def refusal(row: int, asked: Demand, until: datetime) -> Verdict:
    """A refusal of that row, with a hold where the row has one."""
    hops = Hop.NO if row == 23 else Hop.ONE if row in {14, 21, 22} else Hop.EACH
    left = Left.OWN if row in {12, 13, 16, 17, 18, 19} else Left.RELAY
    hold = None
    if row in {12, 19}:
        hold = HoldOrder(until=until, family=asked.family)
    elif row in {13, 20}:
        hold = HoldOrder(until=until, windows=frozenset({"7d"}))
    elif row == 18:
        hold = HoldOrder(until=AuthLadder())
    same = (seconds(1), seconds(2)) if row in {21, 22} else ()
    return Verdict(row=row, kind=VerdictKind.LIMIT, because=f"row {row}", same=same, hop=hops, left=left, hold=hold)


class RouterMachine(RuleBasedStateMachine):
    """Requests come, are refused, succeed, wait and leave; accounts come and go; the clock jumps both ways."""

    flights = Bundle("flights")

    @initialize(strategy=st.sampled_from(list(STRATEGIES)))
    def begin(self, strategy: str) -> None:
        """A pool of three, under any strategy."""
        self.now = NOON
        self.router = Router(Rules(routing=Routing(strategy=strategy)))
        self.accounts: dict[AccountId, Account] = {}
        self.in_flight: dict[ExchangeId, AccountId] = {}
        self.broken: set[AccountId] = set()
        self.ended: set[AccountId] = set()
        self.count = 0
        self.change({ANN, BEN, CAT}, set())

    @rule(by=SECONDS)
    def time_passes(self, by: float) -> None:
        """The clock moves, also back."""
        self.now += timedelta(seconds=by)

    @rule(there=st.sets(st.sampled_from([ANN, BEN, CAT]), min_size=1), off=st.sets(st.sampled_from([ANN, BEN, CAT])))
    def change(self, there: set[AccountId], off: set[AccountId]) -> None:
        """Accounts are added, removed, enabled, disabled."""
        self.accounts = {name: account(name, enabled=name not in off) for name in sorted(there)}
        self.in_flight = {flight: name for flight, name in self.in_flight.items() if name in there}
        self.broken &= there
        self.ended &= there
        self._tell()

    @rule(which=st.sets(st.sampled_from([ANN, BEN, CAT])))
    def secrets_go(self, which: set[AccountId]) -> None:
        """The secrets of these cannot be read, those of all others can."""
        self.broken = which & self.accounts.keys()
        self._tell()

    def _tell(self) -> None:
        pool = tuple(self.accounts.values())
        self.router.observe(AccountsChanged(accounts=pool, unsigned=dict.fromkeys(self.broken, "gone")))

    @rule(name=st.sampled_from([ANN, BEN, CAT]), until=st.none() | SECONDS, bars=st.booleans())
    def is_not_renewed(self, name: AccountId, until: float | None, bars: bool) -> None:
        """A login could not be renewed, for now or for good."""
        end = None if until is None else self.now + timedelta(seconds=until)
        if bars and end is None and name in self.accounts:
            self.ended.add(name)
        self.router.observe(RenewalFailed(account=name, at=self.now, because="no answer", until=end, bars=bars))

    @rule(
        which=st.lists(st.sampled_from([ANN, BEN, CAT]), max_size=2, unique=True),
        session=st.sampled_from([None, "session", "one"]),
        moves=st.booleans(),
        forces=st.booleans(),
    )
    def is_pinned(self, which: list[AccountId], session: str | None, moves: bool, forces: bool) -> None:
        """A person wishes something."""
        wish = Pinned(accounts=tuple(which), at=self.now, session=session, moves=moves, forces=forces)
        self.router.observe(wish)

    @rule(name=st.sampled_from([ANN, BEN, CAT]), standing=st.sampled_from(Standing))
    def is_checked(self, name: AccountId, standing: Standing) -> None:
        """The provider says what it thinks of a credential."""
        self.router.observe(Checked(account=name, standing=standing, at=self.now))

    @rule(name=st.sampled_from([ANN, BEN, CAT]))
    def logs_in(self, name: AccountId) -> None:
        """A person gives an account a new credential."""
        self.ended.discard(name)
        self.router.observe(CredentialChanged(account=name, at=self.now))

    @rule(
        target=flights,
        talk=st.sampled_from(["one", "two", None]),
        family=st.sampled_from([OPUS, HAIKU]),
        side=st.booleans(),
    )
    def ask(self, talk: str | None, family: str, side: bool) -> Flight:
        """A client's request comes in."""
        self.count += 1
        return self._choose(Flight(self.count, demand(talk, family=family, side=side), self.now))

    @rule(target=flights, flight=consumes(flights), row=ROWS, ends=st.floats(1, 9e5))
    def is_refused(self, flight: Flight, row: int, ends: float) -> Flight:
        """The account refuses, and the Router is asked again."""
        if flight.account is None:
            return self._choose(flight)
        verdict = refusal(row, flight.asked, self.now + timedelta(seconds=ends))
        self._answered(flight, verdict, Status.REJECTED)
        flight.trail = flight.trail.grown(
            Attempt(account=flight.account, verdict=verdict, sent_at=flight.sent_at, ended_at=self.now)
        )
        return self._choose(flight)

    @rule(flight=consumes(flights), used=st.floats(0, 1.2))
    def is_served(self, flight: Flight, used: float) -> None:
        """The account answers, and the answer reaches its end."""
        if flight.account is not None:
            self._answered(flight, OK, Status.ALLOWED, used)
            self.router.observe(Succeeded(exchange=flight.id, account=flight.account, demand=flight.asked, at=self.now))
        self.leaves(flight)

    @rule(flight=consumes(flights))
    def is_left(self, flight: Flight) -> None:
        """The client goes away."""
        self.leaves(flight)

    def leaves(self, flight: Flight) -> None:
        """The exchange is over, twice as far as the Router can tell."""
        for _ in range(2):
            self.router.observe(Ended(exchange=flight.id, trail=flight.trail, at=self.now))
        self.in_flight.pop(flight.id, None)

    def _answered(self, flight: Flight, verdict: Verdict, status: Status, used: float = 1.0) -> None:
        assert flight.account is not None
        self.router.observe(
            Answered(
                exchange=flight.id,
                account=flight.account,
                demand=flight.asked,
                verdict=verdict,
                sent_at=flight.sent_at,
                at=self.now,
                readings=(reading("7d", used, status=status),),
            )
        )

    def _choose(self, flight: Flight) -> Flight:
        before = self.router.snapshot(self.now)
        choice = self.router.choose(flight.asked, flight.trail, self.now)
        assert self.router.choose(flight.asked, flight.trail, self.now) == choice
        assert self.router.snapshot(self.now) == before
        flight.account = None
        match choice:
            case Use():
                self._may_serve(choice, flight)
                flight.account, flight.sent_at = choice.account, self.now
                self.router.observe(
                    Dispatched(
                        exchange=flight.id,
                        account=choice.account,
                        demand=flight.asked,
                        at=self.now,
                        is_move=choice.is_move,
                        is_free=choice.is_free,
                    )
                )
                if not flight.asked.side:
                    self.in_flight[flight.id] = choice.account
            case Wait(account=None):
                flight.trail = flight.trail.resumed(choice)
            case Wait() | GiveUp():
                assert not (isinstance(choice, Wait) and flight.asked.side)
        return flight

    def _may_serve(self, choice: Use, flight: Flight) -> None:
        """Nobody serves who is gone or disabled, or held unless it is to see whether that still stands."""
        chosen = self.accounts[choice.account]
        assert chosen.enabled
        assert choice.account not in self.broken | self.ended
        barred = bar(chosen, flight.asked, self.router.remembered().holds.get(choice.account, ()), self.now)
        assert barred is None or choice.because == "to see whether its hold still stands"

    @invariant()
    def leases_are_counted(self) -> None:
        """What the picture says is in flight is in flight."""
        for picture in self.router.snapshot(self.now).accounts:
            flying = sum(name == picture.account.id for name in self.in_flight.values())
            assert picture.in_flight == flying

    @invariant()
    def who_has_no_login_is_shown_so(self) -> None:
        """Nothing but a secret or a new login changes how such an account stands, and it is not checked meanwhile."""
        shown = {picture.account.id: picture.state for picture in self.router.snapshot(self.now).accounts}
        enabled = {name for name, account in self.accounts.items() if account.enabled}
        assert {name for name in enabled if shown[name] is State.BROKEN} == enabled & self.broken
        assert all(shown[name] is State.AUTH_DEAD for name in (enabled & self.ended) - self.broken)
        assert not set(self.router.to_check(self.now)) & (self.broken | self.ended)
