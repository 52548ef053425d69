"""routing/pins.py: whom the operator's wishes send where, by themselves and in the Router's order of decision."""

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routing.decisions import Use, Wait
from routing.gates import bar
from routing.observations import AccountsChanged, Answered, Dispatched, Ended, Pinned, Restored, Succeeded
from routing.pins import LONGEST_SESSION, MOST_LAUNCHES, Pin, Pins, is_session, still_wished
from routing.router import Router
from routing.rules import Rules
from routing.trail import Trail
from routing.words import AccountId, Demand, ExchangeId, Reserves
from tests.routing.made import (
    ANN,
    BEN,
    CAT,
    HAIKU,
    NAMES,
    NOON,
    OK,
    OPUS,
    account,
    attempt,
    demand,
    hours,
    limit,
    reading,
    seconds,
    trail,
)

START = Trail(started_at=NOON)


class Pool:
    """A Router whose accounts come in the order ann, ben, cat by rank, and a clock."""

    def __init__(self, *names: AccountId, reserves: Reserves | None = None) -> None:
        self.router, self.now = Router(Rules()), NOON
        known = [account(name, rank=at) for at, name in enumerate(names or NAMES)]
        known = [replace(one, reserves=reserves or Reserves()) for one in known]
        self.router.observe(AccountsChanged(accounts=tuple(known)))
        self.count = 0

    def later(self, by: timedelta) -> None:
        """Time passes."""
        self.now += by

    def pin(self, *names: AccountId, session: str | None = None, moves: bool = False, forces: bool = False) -> None:
        """A wish, a second later."""
        self.later(seconds(1))
        self.router.observe(Pinned(accounts=names, at=self.now, session=session, moves=moves, forces=forces))

    def choose(self, asked: Demand | None = None, met: Trail = START) -> Use:
        """Who is to serve."""
        choice = self.router.choose(asked or demand(), met, self.now)
        assert isinstance(choice, Use)
        return choice

    def turn(self, asked: Demand | None = None, met: Trail = START) -> tuple[AccountId, str]:
        """A turn that is served, a second later."""
        asked = asked or demand()
        self.later(seconds(1))
        choice = self.choose(asked, met)
        self.count += 1
        exchange = ExchangeId(f"x{self.count}")
        self.router.observe(
            Dispatched(exchange=exchange, account=choice.account, demand=asked, at=self.now, is_move=choice.is_move)
        )
        self.router.observe(
            Answered(exchange=exchange, account=choice.account, demand=asked, verdict=OK, sent_at=self.now, at=self.now)
        )
        self.router.observe(Succeeded(exchange=exchange, account=choice.account, demand=asked, at=self.now))
        self.router.observe(Ended(exchange=exchange, trail=met, at=self.now))
        return choice.account, choice.because

    def refuse(self, name: AccountId, *, end: float = 5) -> None:
        """The account meets its limit, in a stranger's request."""
        self.router.observe(
            Answered(
                exchange=ExchangeId("stranger"),
                account=name,
                demand=demand("stranger"),
                verdict=limit(end),
                sent_at=self.now,
                at=self.now,
            )
        )


# The table of calls: what a pin makes of new and of running conversations


def test_new_conversations_go_to_the_pinned_and_running_ones_stay_while_warm() -> None:
    """`pin ben`: a running conversation is rescored only once it is cold."""
    pool = Pool()
    assert pool.turn()[0] == ANN
    pool.pin(BEN)

    assert pool.turn(demand("new")) == (BEN, "pinned (all)")
    assert pool.turn() == (ANN, "sticky")
    pool.later(hours(2))
    assert pool.turn() == (BEN, "pinned (all)")


def test_the_best_of_several_is_taken() -> None:
    """`pin cat ben`: they stand in the order of the accounts, each once."""
    pool = Pool()
    pool.pin(CAT, BEN, CAT)

    assert pool.turn() == (BEN, "pinned (all)")
    assert pool.router.snapshot(pool.now).pins[0].accounts == (BEN, CAT)


def test_a_later_pin_replaces_the_one_before_and_auto_ends_it() -> None:
    """There is one pin of all at a time."""
    pool = Pool()
    pool.pin(BEN)
    pool.pin(CAT)
    assert pool.choose().account == CAT
    pool.pin()
    assert pool.choose().account == ANN
    assert pool.router.snapshot(pool.now).pins == ()


def test_moving_takes_each_running_conversation_once() -> None:
    """`--move`: those of before the pin, elsewhere; one that comes to another account afterwards is left there."""
    pool = Pool()
    pool.turn()
    pool.pin(BEN, moves=True)
    assert pool.turn() == (BEN, "moved by pin")
    assert pool.turn() == (BEN, "sticky")
    pool.refuse(BEN, end=0.01)
    assert pool.turn()[0] == ANN
    pool.later(hours(0.02))
    assert pool.choose(demand("new")).account == BEN
    assert pool.turn() == (ANN, "sticky")


def test_moving_waits_sticky_while_no_pinned_account_has_room() -> None:
    """The pin acts as soon as there is room."""
    pool = Pool()
    pool.turn()
    pool.refuse(BEN, end=0.1)
    pool.pin(BEN, moves=True)
    assert pool.turn() == (ANN, "sticky")
    pool.later(hours(0.1))
    assert pool.turn() == (BEN, "moved by pin")


def test_moving_leaves_who_is_on_a_pinned_account() -> None:
    """Also where another of them is the better one."""
    pool = Pool()
    pool.pin(BEN, session="session")
    pool.turn()
    pool.pin(session="session")
    pool.pin(ANN, BEN, moves=True)

    assert pool.turn() == (BEN, "sticky")


def test_a_herd_moves_by_the_ramp() -> None:
    """Who finds it full stays for this turn: nobody waits because of a wish."""
    pool = Pool()
    for talk in ("one", "two"):
        pool.turn(demand(talk))
    pool.pin(BEN, moves=True)
    pool.later(seconds(1))
    first = pool.choose(demand("one"))
    assert (first.account, first.is_move) == (BEN, True)
    pool.router.observe(
        Dispatched(exchange=ExchangeId("y"), account=BEN, demand=demand("one"), at=pool.now, is_move=True)
    )

    second = pool.choose(demand("two"))
    assert (second.account, second.because) == (ANN, "sticky")


def test_moving_leaves_a_session_whose_own_pin_holds() -> None:
    """The wish for one goes before the wish for all."""
    pool = Pool()
    pool.pin(CAT, session="session")
    pool.turn()
    pool.pin(BEN, moves=True)

    assert pool.turn() == (CAT, "pinned")


def test_a_session_moves_with_its_next_request_and_stays() -> None:
    """`--session`, with every model and every conversation of it, warm or not."""
    pool = Pool()
    pool.turn()
    pool.pin(BEN, session="session")

    assert pool.turn() == (BEN, "pinned")
    assert pool.turn(demand("subagent", family=HAIKU)) == (BEN, "pinned")
    assert pool.turn(demand("other", session="other"))[0] == ANN
    pool.pin(session="session")
    assert pool.turn() == (BEN, "sticky")


def test_a_conversation_can_be_pinned_by_its_own_id() -> None:
    """It goes before the pin of its session."""
    pool = Pool()
    pool.pin(BEN, session="session")
    pool.pin(CAT, session="talk")

    assert pool.choose(demand("talk")).account == CAT
    assert pool.choose(demand("chat")).account == BEN


def test_side_calls_follow_their_sessions_pin() -> None:
    """They never wait, and count what the pinned account will be asked."""
    pool = Pool()
    pool.turn()
    pool.pin(CAT, session="session")

    assert pool.choose(demand(side=True)).account == CAT
    pool.refuse(CAT)
    assert pool.choose(demand(side=True)).account == ANN


# Yielding


def test_an_own_pin_that_yielded_is_not_taken_up_again_while_warm() -> None:
    """But it is when the conversation is cold."""
    pool = Pool()
    pool.pin(CAT, session="session")
    pool.refuse(CAT, end=0.1)
    assert pool.turn() == (ANN, "pin yields: cat has no room (row 13); new: rank 0")
    pool.later(hours(0.1))
    assert pool.turn() == (ANN, "pin yields: cat until this conversation is cold; sticky")
    pool.later(hours(1) + seconds(1))
    assert pool.turn() == (CAT, "pinned")


def test_an_own_pin_that_yielded_is_taken_up_when_its_refuge_has_no_room() -> None:
    """Rather than a third account."""
    pool = Pool()
    pool.pin(CAT, session="session")
    pool.refuse(CAT, end=0.1)
    pool.turn()
    pool.later(hours(0.1))
    pool.refuse(ANN)

    assert pool.turn() == (CAT, "pinned")


def test_a_pin_given_later_overrides_a_yield_to_the_same_account() -> None:
    """The person says it again."""
    pool = Pool()
    pool.pin(CAT, session="session")
    pool.refuse(CAT, end=0.1)
    pool.turn()
    pool.later(hours(0.1))
    pool.pin(CAT, session="session")

    assert pool.turn() == (CAT, "pinned")


def test_a_pin_is_newer_than_what_went_out_before_whatever_the_clock_says() -> None:
    """The clock went back an hour between the yield and the pin."""
    pool = Pool()
    pool.pin(CAT, session="session")
    pool.refuse(CAT, end=0.001)
    pool.turn()
    pool.later(seconds(60))
    pool.router.observe(Pinned(accounts=(CAT,), at=NOON - hours(1), session="session"))

    assert pool.turn() == (CAT, "pinned")


def test_a_refused_pin_says_so() -> None:
    """The hop from the pinned account is told as a yield."""
    pool = Pool()
    pool.pin(BEN)
    pool.refuse(BEN)
    choice = pool.choose(met=trail(attempt("ben", limit())))

    assert (choice.account, choice.because) == (ANN, "pin yields: ben refused: row 13")


def test_a_disabled_pin_yields() -> None:
    """It stays, and holds again once the account is back."""
    pool = Pool()
    pool.pin(BEN)
    known = (account(ANN, rank=0), account(BEN, rank=1, enabled=False))
    pool.router.observe(AccountsChanged(accounts=known))
    assert pool.choose().because == "pin yields: ben has no room (disabled); new: rank 0"
    pool.router.observe(AccountsChanged(accounts=(known[0], account(BEN, rank=1))))
    assert pool.choose().account == BEN


def test_a_removed_account_takes_its_pins_with_it() -> None:
    """Nothing speaks of it any more."""
    pool = Pool()
    pool.pin(BEN)
    pool.pin(BEN, session="session")
    pool.router.observe(AccountsChanged(accounts=(account(ANN),)))

    assert pool.router.remembered().pins == {}
    assert pool.choose().account == ANN


# Launches


def test_a_launch_is_a_pin_of_its_session() -> None:
    """The account that the client was launched to use serves it, before the pin of all."""
    pool = Pool()
    pool.pin(BEN)
    launched = replace(demand(), pin=CAT)

    assert pool.turn(launched) == (CAT, "pinned")
    assert pool.router.snapshot(pool.now).pins[1].is_launch


def test_a_launch_does_not_yield_to_what_went_out_without_it() -> None:
    """A request of its session that names nobody moves with the pin of all; the next that names its account goes there again."""
    pool, launched = Pool(), replace(demand(), pin=ANN)
    assert pool.turn(launched) == (ANN, "pinned")
    pool.pin(BEN, moves=True)
    assert pool.turn(launched) == (ANN, "pinned")
    assert pool.turn() == (BEN, "moved by pin")
    assert [pin.session for pin in pool.router.snapshot(pool.now).pins] == [None]

    assert pool.turn(launched) == (ANN, "pinned")
    assert pool.router.snapshot(pool.now).pins[1].is_launch


def test_a_launch_that_force_ended_is_not_begun_anew_by_a_request_without_it() -> None:
    """It stays ignored."""
    pool, launched = Pool(), replace(demand(), pin=CAT)
    pool.turn(launched)
    pool.pin(BEN, moves=True, forces=True)
    assert pool.turn()[0] == BEN

    assert pool.turn(launched)[0] == BEN


@given(own=st.booleans(), every=st.booleans())
def test_whom_a_request_is_wished_for(own: bool, every: bool) -> None:
    """Its own pin's account, else those of the pin of all."""
    pins = Pins()
    if every:
        pins.told(Pin(accounts=(ANN, BEN), at=NOON))
    if own:
        pins.told(Pin(accounts=(CAT,), at=NOON), "session")

    assert pins.named(demand()) == ((CAT,) if own else (ANN, BEN) if every else ())


@pytest.mark.parametrize("how", ["auto", "force"])
def test_a_launch_is_ignored_from_then_on(how: str) -> None:
    """`pin auto --session` sets that session free, `--force` every running one; a launch after that counts."""
    pool, launched = Pool(), replace(demand(), pin=CAT)
    pool.turn(launched)
    if how == "auto":
        pool.pin(session="session")
    else:
        pool.pin(BEN, forces=True)
    pool.later(hours(2))

    assert pool.turn(launched)[0] == (ANN if how == "auto" else BEN)
    assert pool.turn(replace(demand("new", session="new"), pin=CAT)) == (CAT, "pinned")


def test_forcing_ends_own_pins() -> None:
    """`--force` with the pin of all."""
    pool = Pool()
    pool.pin(CAT, session="session")
    pool.pin(BEN, forces=True)

    assert pool.turn() == (BEN, "pinned (all)")


def test_a_launch_that_yielded_stays_where_it_went() -> None:
    """As any own pin."""
    pool, launched = Pool(), replace(demand(), pin=CAT)
    pool.refuse(CAT, end=0.1)
    assert pool.turn(launched)[0] == ANN
    pool.later(hours(0.1))
    assert pool.turn(launched)[0] == ANN


def test_a_resumed_session_follows_its_new_launch() -> None:
    """It was warm elsewhere before it was launched so."""
    pool = Pool()
    pool.turn()

    assert pool.turn(replace(demand(), pin=CAT)) == (CAT, "pinned")


def test_launches_are_bounded() -> None:
    """The one that was met longest ago is forgotten first."""
    pins = Pins()
    for number in range(MOST_LAUNCHES + 5):
        asked = replace(demand(f"talk {number}", session=f"session {number}"), pin=ANN)
        pins.dispatched(asked, ANN, None, NOON)

    assert len(pins.of_sessions()) == MOST_LAUNCHES
    assert "session 4" not in pins.of_sessions()


def test_a_launch_that_goes_on_is_not_forgotten() -> None:
    """However many come after it: forgotten, one that a person ended would count again."""
    pins, old = Pins(), replace(demand("old", session="old"), pin=ANN)
    pins.dispatched(old, ANN, None, NOON)
    pins.told(Pin(accounts=(BEN,), at=NOON + hours(1)), forces=True)
    for number in range(MOST_LAUNCHES + 5):
        pins.dispatched(replace(demand(f"talk {number}", session=f"session {number}"), pin=ANN), ANN, None, NOON)
        pins.dispatched(old, BEN, None, NOON)

    assert pins.own(old) is None


# Restarts


def test_pins_and_yields_survive_a_restart() -> None:
    """The next Router chooses as this one would."""
    pool, again = Pool(), Pool()
    pool.turn(demand("moved", session="moved"))
    pool.pin(BEN, moves=True)
    pool.turn(demand("moved", session="moved"))
    pool.pin(CAT, session="session")
    pool.refuse(CAT, end=0.1)
    pool.turn()
    pool.later(hours(0.1))
    again.now = pool.now
    again.router.observe(Restored(remembered=pool.router.remembered(), at=again.now))

    talks = (demand(), demand("new", session="new"), demand("moved", session="moved"))
    assert [again.choose(talk) for talk in talks] == [pool.choose(talk) for talk in talks]
    assert again.router.remembered().pins == pool.router.remembered().pins


def test_what_is_restored_names_accounts_that_exist_and_is_not_of_the_future() -> None:
    """A wish for nobody who is left is gone; one that sets free stands."""
    late = NOON + hours(1)
    kept = {
        ("all", "", ""): Pin(accounts=(ANN, BEN), at=late),
        ("own", "a", ""): Pin(accounts=(BEN,), at=NOON),
        ("own", "b", ""): Pin(accounts=(), at=NOON),
    }

    assert still_wished(kept, {ANN}, NOON) == {
        ("all", "", ""): Pin(accounts=(ANN,), at=NOON),
        ("own", "b", ""): Pin(accounts=(), at=NOON),
    }


WISHES = st.builds(
    Pinned,
    accounts=st.lists(st.sampled_from(NAMES), max_size=3, unique=True).map(tuple),
    at=st.integers(-60, 60).map(lambda s: NOON + seconds(s)),
    session=st.sampled_from([None, None, "session", "talk"]),
    moves=st.booleans(),
    forces=st.booleans(),
)


@given(
    wishes=st.lists(WISHES, max_size=4),
    held=st.sets(st.sampled_from(NAMES)),
    off=st.sets(st.sampled_from(NAMES)),
    turns=st.lists(st.sampled_from(["talk", "chat"]), max_size=4),
    launch=st.none() | st.sampled_from(NAMES),
)
def test_a_pin_never_sends_to_an_account_that_may_not_serve(
    wishes: list[Pinned], held: set[AccountId], off: set[AccountId], turns: list[str], launch: AccountId | None
) -> None:
    """Nor does it keep a request from one that may: pins say who of them."""
    pool = Pool()
    for talk in turns:
        pool.turn(replace(demand(talk), pin=launch))
    for wish in wishes:
        pool.router.observe(wish)
    pool.router.observe(
        AccountsChanged(accounts=tuple(account(n, rank=at, enabled=n not in off) for at, n in enumerate(NAMES)))
    )
    for name in held:
        pool.refuse(name)
    asked = replace(demand(), pin=launch)
    may = {n for n in NAMES if n not in held | off}

    choice = pool.router.choose(asked, START, pool.now)
    assert isinstance(choice, Use) == bool(may) or isinstance(choice, Wait)
    if isinstance(choice, Use):
        assert choice.account in may
        known = account(choice.account, enabled=choice.account not in off)
        assert bar(known, asked, pool.router.remembered().holds.get(choice.account, ()), pool.now) is None


@given(st.lists(WISHES, max_size=5))
def test_what_is_kept_comes_back(wishes: list[Pinned]) -> None:
    """Restoring what was drawn gives the same wishes."""
    pins, again = Pins(), Pins()
    for wish in wishes:
        pins.told(Pin(accounts=wish.accounts, at=wish.at, moves=wish.moves), wish.session, forces=wish.forces)
    again.restore(pins.kept())

    assert again.kept() == pins.kept()
    assert again.of_all == pins.of_all


def test_a_pin_spends_the_reserves_of_its_accounts() -> None:
    """For whom it names, and for nobody else."""
    pool = Pool(reserves=Reserves(week=0.2))
    for name in (ANN, BEN):
        pool.router.observe(
            Answered(
                exchange=ExchangeId("seen"),
                account=name,
                demand=demand("seen"),
                verdict=OK,
                sent_at=NOON,
                at=NOON,
                readings=(reading("7d", 0.9),),
            )
        )
    assert pool.choose().account == CAT
    pool.pin(ANN, session="session")
    assert pool.choose().because == "pinned"
    assert pool.choose(demand("other", session="other", family=OPUS)).account == CAT
    pool.pin(BEN)
    assert pool.choose(demand("other", session="other")).account == BEN


def test_a_warm_conversation_at_its_accounts_reserve_moves_to_the_pin() -> None:
    """As a new one would."""
    pool = Pool(reserves=Reserves(week=0.2))
    assert pool.turn()[0] == ANN
    pool.pin(CAT)
    pool.router.observe(
        Answered(
            exchange=ExchangeId("seen"),
            account=ANN,
            demand=demand("seen"),
            verdict=OK,
            sent_at=NOON,
            at=NOON,
            readings=(reading("7d", 0.9),),
        )
    )

    assert pool.turn() == (CAT, "pinned (all)")


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("11111111-2222-4333-8444-555555555555", True),
        ("body-0a1b", True),
        ("x" * LONGEST_SESSION, True),
        ("x" * (LONGEST_SESSION + 1), False),
        ("", False),
        ("two\nlines", False),
        ("\udcff", False),
    ],
    ids=range(7),
)
def test_what_may_be_pinned_can_be_shown_and_kept(text: str, is_one: bool) -> None:
    """One line of letters that can be printed, of bounded length."""
    assert is_session(text) is is_one
