"""routing/queues.py: who waits for a place is served in turn, and nobody is lost."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from routing.decisions import Answer, GiveUp, Use, Wait
from routing.leases import Leases
from routing.observations import AccountsChanged, Answered, Dispatched, Ended, Paused, Pinned, Succeeded
from routing.queues import Queue, full
from routing.ramps import PAUSE
from routing.router import Router
from routing.rules import Rules, Waiting
from routing.trail import Trail
from routing.verdicts import THROTTLE_ROW, Hop
from routing.words import Account, AccountId, ExchangeId
from tests.routing.made import ANN, BEN, NOON, OK, account, attempt, demand, limit, seconds, trail, verdict


def capped(name: str = ANN, cap: int | None = 1, rank: int | None = None) -> Account:
    """An account that takes so many at once."""
    return replace(account(name, rank=rank), cap=cap)


class Line:
    """Exchanges that come, wait, are served and leave, as the proxy has it."""

    def __init__(self, *accounts: Account, wait: float = 240) -> None:
        self.router, self.accounts = Router(Rules(wait=Waiting(max=wait))), accounts
        self.router.observe(AccountsChanged(accounts=accounts))
        self.flying: dict[str, AccountId] = {}
        self.waiting: list[str] = []
        self.served: list[str] = []
        self.wanted: dict[str, str] = {}

    def asks(self, name: str, talk: str | None = None) -> None:
        """A request comes, or is woken."""
        self.wanted.setdefault(name, talk or name)
        asked = demand(self.wanted[name])
        choice = self.router.choose(asked, Trail(started_at=NOON, exchange=ExchangeId(name)), NOON)
        if isinstance(choice, Use):
            self.waiting = [one for one in self.waiting if one != name]
            self.flying[name] = choice.account
            self.served.append(name)
            told = Dispatched(exchange=ExchangeId(name), account=choice.account, demand=asked, at=NOON)
            self.router.observe(told)
            return
        assert isinstance(choice, Wait)
        assert choice.is_for_room
        self.waiting += [] if name in self.waiting else [name]
        self.router.observe(Paused(exchange=ExchangeId(name), at=NOON, queue=choice.queue))

    def ends(self, name: str, *, succeeds: bool = False) -> None:
        """A request is over, be it that it was in flight or that it waited."""
        where = self.flying.pop(name, None)
        self.waiting = [one for one in self.waiting if one != name]
        if where is not None and succeeds:
            asked = demand(self.wanted[name])
            self.router.observe(Succeeded(exchange=ExchangeId(name), account=where, demand=asked, at=NOON))
        self.router.observe(Ended(exchange=ExchangeId(name), trail=Trail(started_at=NOON), at=NOON))

    def wake(self, order: list[str]) -> None:
        """All who wait look again, in an order that nobody knows, until nothing changes."""
        while True:
            before = list(self.served)
            for name in order:
                if name in self.waiting:
                    self.asks(name)
            if before == self.served:
                return


STEPS = st.lists(st.tuples(st.sampled_from(["comes", "ends", "leaves"]), st.integers(0, 8)), max_size=40)


@given(STEPS, st.integers(1, 3), st.randoms(use_true_random=False))
def test_first_come_first_served_and_nobody_is_lost(steps: list[tuple[str, int]], cap: int, random: object) -> None:
    """Of those who may go to the same accounts; never more are in flight than the caps allow, and no place stays empty."""
    line = Line(capped(ANN, cap), capped(BEN, 1))
    came: list[str] = []
    for number, (what, which) in enumerate(steps):
        if what == "comes":
            came.append(f"x{number}")
            line.asks(came[-1])
        else:
            names = list(line.flying) if what == "ends" else line.waiting
            if names:
                gone = names[which % len(names)]
                line.ends(gone)
                came = [name for name in came if name in line.served or name != gone]
        order = list(line.waiting)
        random.shuffle(order)  # type: ignore[attr-defined]
        line.wake(order)

        places = list(line.flying.values())
        assert places.count(ANN) <= cap
        assert places.count(BEN) <= 1
        assert not line.waiting or len(places) == cap + 1
        assert line.served == came[: len(line.served)]
        assert line.waiting == came[len(line.served) :]
        assert line.router.snapshot(NOON).queued == len(line.waiting)


def test_one_freed_place_lets_one_through() -> None:
    """The others look, and go on waiting."""
    line = Line(capped())
    for name in ("one", "two", "three"):
        line.asks(name)
    assert (line.served, line.waiting) == (["one"], ["two", "three"])
    line.ends("one")
    line.asks("three")
    assert line.served == ["one"]
    line.wake(["three", "two"])
    assert (line.served, line.waiting) == (["one", "two"], ["three"])


def test_who_has_just_come_does_not_overtake() -> None:
    """A place is free, and belongs to the one who waits."""
    line = Line(capped())
    for name in ("one", "two"):
        line.asks(name)
    line.ends("one")
    line.asks("new")

    assert line.waiting == ["two", "new"]


def test_fresh_choices_go_elsewhere() -> None:
    """A full account is no choice while another has room, however well liked."""
    line = Line(capped(ANN, 1, rank=1), capped(BEN, None, rank=2))
    for name in ("one", "two", "three"):
        line.asks(name)

    assert line.flying == {"one": ANN, "two": BEN, "three": BEN}


def test_a_warm_conversation_waits_for_its_own_account() -> None:
    """Its cache is there; others who wait for another place do not stand in its way."""
    line = Line(capped(ANN, 1, rank=1), capped(BEN, 1, rank=2))
    line.asks("one", "home")
    line.ends("one", succeeds=True)
    line.asks("two", "stranger")
    line.asks("three", "home")
    assert line.waiting == ["three"]
    line.asks("four", "another")
    assert line.flying == {"two": ANN, "four": BEN}
    line.asks("five", "last")
    line.ends("four")
    line.wake(["three", "five"])
    assert line.flying == {"two": ANN, "five": BEN}


def test_who_cannot_wait_is_sent_elsewhere_or_away() -> None:
    """A warm one moves rather than be refused; where all are full, it is a throttle of ours and no limit."""
    line = Line(capped(ANN, 1, rank=1), capped(BEN, 1, rank=2), wait=0)
    line.asks("one", "home")
    line.ends("one", succeeds=True)
    line.asks("two", "stranger")
    line.asks("three", "home")
    assert line.flying == {"two": ANN, "three": BEN}

    choice = line.router.choose(demand("four"), Trail(started_at=NOON), NOON)
    assert isinstance(choice, GiveUp)
    assert choice.answer is Answer.LIMITED
    assert choice.recovers is not None
    assert (choice.recovers.row, choice.recovers.until) == (THROTTLE_ROW, NOON + seconds(5))
    assert {b.because for b in choice.barred} == {"1 of 1 requests in flight"}


def test_a_wait_is_bounded_by_the_clients_patience() -> None:
    """Each look is a second; then there is no time left for an answer."""
    line = Line(capped())
    line.asks("one")
    asked, start = demand("two", patience=60), Trail(started_at=NOON)

    assert isinstance(line.router.choose(asked, start, NOON), Wait)
    assert isinstance(line.router.choose(asked, start, NOON + seconds(31)), GiveUp)


def test_who_waited_elsewhere_comes_back_to_no_full_account() -> None:
    """It left its place there, to which it would have come back for its next try, when another's hold barred the account."""
    line = Line(capped(ANN, rank=1), capped(BEN, rank=2))
    line.asks("one", "x")
    line.asks("two", "y")
    met = replace(trail(attempt("ann", verdict(21, same=(1, 2), hop=Hop.ONE))), exchange=ExchangeId("three"))
    here = met.resumed(Wait(until=NOON + PAUSE, account=None, because="it is tested", is_for_room=True), PAUSE)

    asked = demand("three"), here, NOON + seconds(1)
    waits = line.router.choose(*asked)
    assert isinstance(waits, Wait)
    assert waits.queue == (BEN,)
    line.ends("one")
    again = line.router.choose(*asked)
    assert isinstance(again, Use)
    assert (again.account, again.because) == (ANN, "again: row 21")
    assert line.router.choose(*asked[:2], NOON) == replace(waits, until=NOON + PAUSE)


def test_side_calls_are_never_queued() -> None:
    """They take no place either."""
    line = Line(capped())
    line.asks("one")

    assert isinstance(line.router.choose(demand(side=True), Trail(started_at=NOON), NOON), Use)


def test_ones_own_claim_does_not_stand_in_ones_way() -> None:
    """Refused there and waiting for its recovery, it is in flight nowhere."""
    leases = Leases()
    leases.move(ExchangeId("one"), ANN, demand())
    assert full([capped()], leases, Queue(), ExchangeId("one")) == frozenset()
    assert full([capped()], leases, Queue(), ExchangeId("two")) == full([capped()], leases, Queue(), None) == {ANN}

    line = Line(capped())
    line.asks("one")
    line.router.observe(Paused(exchange=ExchangeId("one"), at=NOON))
    line.asks("two")

    assert line.flying["two"] == ANN


def test_a_hop_waits_for_a_place() -> None:
    """A refusal whose only other account is full pauses instead of reaching the client."""
    line = Line(capped(ANN, None), capped(BEN, 1))
    told = Dispatched(exchange=ExchangeId("busy"), account=BEN, demand=demand("busy"), at=NOON)
    line.router.observe(told)
    line.router.observe(
        Answered(exchange=ExchangeId("x"), account=ANN, demand=demand("x"), verdict=limit(), sent_at=NOON, at=NOON)
    )
    choice = line.router.choose(demand("x"), trail(attempt("ann", limit())), NOON)

    assert choice == Wait(
        until=NOON + PAUSE, account=None, because="waits for a place on ben", is_for_room=True, queue=(BEN,)
    )


def test_a_pin_yields_where_its_accounts_are_full() -> None:
    """A pin of all goes elsewhere at once, a session's own waits for its turn as long as it may."""
    line = Line(capped(ANN, 1, rank=1), capped(BEN, None, rank=2))
    line.router.observe(Pinned(accounts=(ANN,), at=NOON))
    line.router.observe(Pinned(accounts=(ANN,), at=NOON, session="own"))
    line.asks("one")
    choice = line.router.choose(demand("two"), Trail(started_at=NOON), NOON)
    own, late = demand("three", session="own"), NOON + seconds(580)

    assert isinstance(choice, Use)
    assert choice.account == BEN
    assert choice.because.startswith("pin yields: ann has no room (1 of 1 requests in flight); new: ")
    waits = line.router.choose(own, Trail(started_at=NOON), NOON)
    assert isinstance(waits, Wait)
    assert waits.queue == (ANN,)
    moved = line.router.choose(own, Trail(started_at=NOON), late)
    assert isinstance(moved, Use)
    assert (moved.account, moved.because[:28]) == (BEN, "pin yields: ann has no room ")


def test_the_snapshot_shows_who_waits() -> None:
    """For each account, those who would take its next place."""
    line = Line(capped(ANN, 1, rank=1), capped(BEN, 1, rank=2))
    for name in ("one", "two", "three"):
        line.asks(name)
    snapshot = line.router.snapshot(NOON)

    assert snapshot.queued == 1
    assert [picture.queued for picture in snapshot.accounts] == [1, 1]
    line.ends("three")
    assert line.router.snapshot(NOON).queued == 0


def test_a_removed_account_strands_nobody() -> None:
    """Who waited for it chooses again, and keeps the place."""
    line = Line(capped(ANN, 1, rank=1), capped(BEN, 1, rank=2))
    for name in ("one", "two", "three"):
        line.asks(name)
    line.router.observe(AccountsChanged(accounts=(capped(BEN, 2),)))
    line.wake(["three"])

    assert line.flying["three"] == BEN


def test_only_served_answers_are_warm() -> None:
    """A conversation that never lived there takes any place."""
    line = Line(capped(ANN, 1, rank=1), capped(BEN, 1, rank=2))
    line.router.observe(
        Answered(exchange=ExchangeId("x"), account=ANN, demand=demand("x"), verdict=OK, sent_at=NOON, at=NOON)
    )
    line.asks("one")
    line.asks("two", "x")

    assert line.flying == {"one": ANN, "two": BEN}
