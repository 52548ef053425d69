"""Tests of routing/memory.py; long, because every observation has its consequences listed here."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routing.health import Check, Standing
from routing.holds import Cure, Ladder
from routing.lifetimes import Lifetime
from routing.memory import Memory, all_said_forbidden
from routing.observations import (
    AccountsChanged,
    Answered,
    Checked,
    CredentialChanged,
    Dispatched,
    Ended,
    HoldsLifted,
    Measured,
    Observation,
    RenewalFailed,
    Restored,
    Succeeded,
)
from routing.readings import Reading, Source
from routing.remembered import Remembered
from routing.rules import Holds
from routing.spent import Spent
from routing.stickiness import Stick
from routing.trail import Trail
from routing.verdicts import Verdict, VerdictKind
from routing.words import Account, AccountId, ConversationId, Demand, ExchangeId, Family
from tests.routing.made import (
    ANN,
    BEN,
    EXCHANGE,
    HAIKU,
    NOON,
    OK,
    OPUS,
    account,
    attempt,
    auth,
    balance,
    demand,
    forbidden,
    hold,
    hours,
    limit,
    model_limit,
    moments,
    reading,
    readings,
    refusals,
    seconds,
    trail,
    verdict,
)

SIDE = demand(side=True)
TALK = (ConversationId("talk"), "opus")


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
    return [one.row for one in memory.holds.get(name, ())]


@given(st.lists(st.tuples(refusals, moments, moments), max_size=8))
def test_refusals_alone_never_shorten_a_hold(met: list[tuple[Verdict, datetime, datetime]]) -> None:
    """Whatever is refused and whenever, also when now goes back, no bar that stood ends earlier."""
    memory = known()
    last = datetime.min.replace(tzinfo=NOON.tzinfo)
    for one, sent_at, at in met:
        memory.learn(Answered(exchange=EXCHANGE, account=ANN, demand=demand(), verdict=one, sent_at=sent_at, at=at))
        ends = [held.until for held in memory.holds.get(ANN, ()) if held.bars(demand())]
        assert last <= max(ends, default=last)
        last = max(ends, default=last)


@given(refusals | st.just(OK), st.lists(readings, max_size=3))
def test_a_side_call_leaves_only_readings(met: Verdict, shown: list[Reading]) -> None:
    """It takes no lease, sets or lifts no hold, sticks nowhere, and is nobody's latest account."""
    memory = known()
    answer(memory, limit())
    before = memory.holds.copy()
    memory.learn(Dispatched(exchange=EXCHANGE, account=ANN, demand=SIDE, at=NOON))
    answer(memory, met, request=SIDE, sent=2, shown=shown)
    memory.learn(Succeeded(exchange=EXCHANGE, account=ANN, demand=SIDE, at=NOON))

    assert before == memory.holds
    assert memory.leases.count(ANN) == 0
    assert memory.habits.warm(SIDE, NOON) is None
    assert memory.habits.latest(SIDE) is None
    assert {r.window.key for r in shown} == memory.readings.get(ANN, {}).keys()
    assert memory.requests[ANN] == 1


def test_readings_are_merged_and_new_lines_learned() -> None:
    """A window's reports become one; an unknown line counts for the families it was seen on."""
    memory = known()
    answer(memory, OK, shown=[reading("7d", 0.5), reading("7d_new", 0.1), reading("7d_opus", 0.2)])
    answer(memory, OK, shown=[reading("7d", 0.4)])
    answer(memory, OK, shown=[reading("7d_new", 0.2)], request=demand(family="fable"))

    assert memory.readings[ANN]["7d"].used == 0.5
    assert memory.lines == {"new": {OPUS, Family("fable")}}
    assert [r.used for r in memory.counting(ANN, OPUS)] == [0.5, 0.2, 0.2]
    assert [r.used for r in memory.counting(ANN, HAIKU)] == [0.5]
    assert memory.counting(BEN, OPUS) == ()


def test_a_refusal_holds_and_a_later_success_lifts() -> None:
    """A success of a request that was sent before the refusal proves nothing; one sent after it does."""
    memory = known()
    room = [reading("7d", 0.2)]
    answer(memory, limit())
    answer(memory, OK, sent=0.5, shown=room)
    assert rows(memory) == [13]

    answer(memory, OK, sent=2, shown=room)
    assert ANN not in memory.holds


def test_a_refusal_without_an_order_holds_nothing() -> None:
    """A client's fault is nobody's."""
    memory = known()
    answer(memory, verdict(23))

    assert memory.holds == {}


def test_an_error_event_holds_as_the_row_of_its_type() -> None:
    """A stream that began with an authentication error makes the account auth-dead as row 18."""
    memory = known()
    answer(memory, verdict(24, kind=VerdictKind.AUTH, hold=auth().hold))

    assert rows(memory) == [18]


def ends(memory: Memory) -> list[float]:
    """When the account's holds end: seconds after noon."""
    return [(one.until - NOON) / seconds(1) for one in memory.holds.get(ANN, ())]


def test_the_auth_ladder() -> None:
    """It doubles for each refusal of a later request, not for one in flight, and a success starts it again."""
    memory = known()
    answer(memory, auth(), at=0)
    assert ends(memory) == [900]
    answer(memory, auth(), at=5)
    assert ends(memory) == [900]
    answer(memory, auth(), sent=901, at=902)
    assert ends(memory) == [902 + 1800]
    answer(memory, OK, sent=900, at=903)
    assert ends(memory) == [902 + 1800]
    answer(memory, auth(), sent=2710, at=2711)
    assert ends(memory) == [2711 + 3600]
    answer(memory, OK, sent=7000, at=7001)
    assert ends(memory) == []
    answer(memory, auth(), sent=7002, at=8000)
    assert ends(memory) == [8900]


def test_a_balance_holds_until_the_soonest_reset() -> None:
    """The readings of the same answer count."""
    memory = known()
    answer(memory, balance(), shown=[reading("5h", resets=3), reading("7d", resets=40)])

    assert ends(memory) == [3 * 3600]


def test_a_new_credential_lifts_what_the_old_one_was_refused_for() -> None:
    """Rows 17 to 19 and an ended login end, the ladder and the schedule start again; limits stay."""
    memory = known()
    for met in (auth(), forbidden(), limit()):
        answer(memory, met)
    memory.learn(unrenewed(until=1))
    memory.learn(unrenewed())
    memory.learn(unrenewed(bars=False))
    assert sorted(rows(memory)) == [13, 17, 18, 18, 19]
    assert ANN in memory.logins.unrenewed
    memory.learn(CredentialChanged(account=ANN, at=NOON))
    memory.learn(CredentialChanged(account=BEN, at=NOON))

    assert rows(memory) == [13]
    assert memory.logins.unrenewed == {}
    assert memory.logins.check(ANN).next_at is None
    answer(memory, auth(), at=0)
    assert 900 in ends(memory)


def unrenewed(*, until: float | None = None, bars: bool = True, at: float = 0) -> RenewalFailed:
    """Ann's login could not be renewed; until: hours after noon; at: seconds after noon."""
    end = None if until is None else NOON + hours(until)
    return RenewalFailed(account=ANN, at=NOON + seconds(at), because="no answer", until=end, bars=bars)


def check(standing: Standing, at: float = 60, because: str = "") -> Checked:
    """Ann's credential was checked; at: seconds after noon."""
    return Checked(account=ANN, standing=standing, at=NOON + seconds(at), because=because)


@pytest.mark.parametrize(
    ("until", "bars", "held"),
    [
        (None, True, [(18, None, Cure.LOGIN)]),
        (2, True, [(17, NOON + hours(2), Cure.ANSWER)]),
        (-1, True, []),
        (None, False, []),
        (2, False, []),
    ],
)
def test_a_login_that_was_not_renewed(until: float | None, bars: bool, held: list[object]) -> None:
    """It bars only an access token that serves no more: until it is tried again, or until a new login comes."""
    memory = known()
    memory.learn(unrenewed(until=until, bars=bars))

    assert [(one.row, one.ends, one.cure) for one in memory.holds.get(ANN, ())] == held
    assert (ANN in memory.logins.unrenewed) is not bars
    assert all(one.cure is Cure.ANSWER for one in memory.remembered().holds.get(ANN, ()))


def test_a_renewal_that_is_tried_again_sooner_shortens_nothing() -> None:
    """The later end stands; a success to a later request ends it."""
    memory = known()
    for until in (1, 3, 2):
        memory.learn(unrenewed(until=until))
    assert [one.until for one in memory.holds[ANN]] == [NOON + hours(3)]

    answer(memory, OK, sent=0)
    assert rows(memory) == [17]
    answer(memory, OK, sent=1)
    assert rows(memory) == []


def test_an_ended_login_outlives_everything_but_a_new_one() -> None:
    """No answer, no check, no lifting and no word on secrets ends it; a refusal beside it keeps its own end."""
    memory = known()
    memory.learn(unrenewed())
    answer(memory, auth(), sent=2, at=3)
    answer(memory, OK, sent=4)
    memory.learn(check(Standing.VALID))
    memory.learn(HoldsLifted(account=ANN, at=NOON))
    memory.learn(AccountsChanged(accounts=(account(ANN), account(BEN)), unsigned={ANN: "gone"}))
    memory.learn(AccountsChanged(accounts=(account(ANN), account(BEN))))
    assert [(one.row, one.cure) for one in memory.holds[ANN]] == [(18, Cure.LOGIN)]

    memory.learn(CredentialChanged(account=ANN, at=NOON))
    assert memory.holds == {}


def test_a_check_that_accepts_ends_what_was_refused() -> None:
    """Rows 17 to 19 that were met before, the ladder and the schedule; limits stay, and the time is noted."""
    memory = known()
    for met in (auth(), forbidden(), limit()):
        answer(memory, met)
    memory.learn(unrenewed(until=1))
    memory.learn(check(Standing.VALID, at=0.5))
    assert (sorted(rows(memory)), ANN in memory.logins.ladders) == ([13, 18, 19], True)

    memory.learn(check(Standing.VALID, at=2))
    assert (rows(memory), memory.logins.ladders) == ([13], {})
    assert memory.logins.check(ANN) == Check(checked_at=NOON + seconds(2))


@pytest.mark.parametrize("standing", [Standing.INVALID, Standing.DISABLED])
def test_checks_that_refuse_climb_the_ladder(standing: Standing) -> None:
    """As answers do: 15 minutes, doubling; and the next look is ever further off."""
    memory = known()
    answer(memory, auth(), at=0)
    looks = []
    for at in (60, 180, 420):
        memory.learn(check(standing, at, because="revoked"))
        looks.append((ends(memory), memory.logins.check(ANN).next_at))

    assert looks == [
        ([at + span], NOON + seconds(then)) for at, span, then in ((60, 1800, 180), (180, 3600, 420), (420, 7200, 900))
    ]
    assert [(one.row, one.because, one.began_at) for one in memory.holds[ANN]] == [(18, "revoked", NOON)]


@pytest.mark.parametrize("standing", [Standing.UNKNOWN, Standing.LIMITED])
def test_a_check_that_tells_nothing_changes_nothing(standing: Standing) -> None:
    """But the time of the next look: the same distance again."""
    memory = known()
    answer(memory, auth(), at=0)
    before = (memory.holds.copy(), memory.logins.ladders.copy())
    memory.learn(check(standing, 60))

    assert (memory.holds, memory.logins.ladders) == before
    assert memory.logins.check(ANN) == Check(failures=1, next_at=NOON + seconds(120), checked_at=NOON)


def test_nothing_is_learned_of_a_login_that_is_gone() -> None:
    """A renewal and a check that end after the account was removed leave no trace."""
    memory = known(account(BEN))
    for late in (unrenewed(), unrenewed(bars=False), check(Standing.INVALID), check(Standing.VALID)):
        memory.learn(late)

    assert memory.remembered() == Remembered()
    assert memory.logins.unrenewed == {}


def test_a_check_without_words_has_some() -> None:
    """A person reads why the account is held, whatever the provider said."""
    memory = known()
    memory.learn(check(Standing.INVALID))

    assert [one.because for one in memory.holds[ANN]] == ["its credential is not accepted"]


def test_what_was_known_of_a_lifetime_stays_until_it_is_told_anew() -> None:
    """Accounts that are told of without one keep theirs; one that is gone has none."""
    memory = known()
    year, login = Lifetime(expires_at=NOON + hours(8760)), Lifetime(is_refreshable=True)
    pool = (account(ANN), account(BEN))
    memory.learn(AccountsChanged(accounts=pool, lifetimes={ANN: year, BEN: login, AccountId("gone"): year}))
    memory.learn(AccountsChanged(accounts=pool, lifetimes={ANN: login}))
    assert memory.logins.lifetimes == {ANN: login, BEN: login}

    memory.learn(AccountsChanged(accounts=(account(ANN),)))
    assert memory.remembered().lifetimes == {ANN: login}


failures = st.one_of(
    st.builds(
        RenewalFailed,
        account=st.just(ANN),
        at=moments,
        because=st.just("no answer"),
        until=st.none() | moments,
        bars=st.booleans(),
    ),
    st.builds(
        Checked,
        account=st.just(ANN),
        standing=st.sampled_from([s for s in Standing if s is not Standing.VALID]),
        at=moments,
    ),
)
helps = st.one_of(
    st.builds(
        Answered,
        exchange=st.just(EXCHANGE),
        account=st.just(ANN),
        demand=st.just(demand()),
        verdict=refusals | st.just(OK),
        sent_at=moments,
        at=moments,
    ),
    st.builds(Checked, account=st.just(ANN), standing=st.just(Standing.VALID), at=moments),
    st.builds(HoldsLifted, account=st.just(ANN), at=moments),
    st.builds(Ended, exchange=st.just(EXCHANGE), trail=st.just(trail(attempt("ann", forbidden()))), at=moments),
    st.builds(Restored, remembered=st.just(Remembered(holds={ANN: (hold(18),)})), at=moments),
)
renewals = st.builds(CredentialChanged, account=st.just(ANN), at=moments)


@given(st.lists(failures | helps | renewals, max_size=10))
def test_nothing_mends_a_secret_that_is_not_at_hand(told: list[Observation]) -> None:
    """Whatever happens, only word that it is there ends its want."""
    memory = known()
    pool = (account(ANN), account(BEN))
    memory.learn(AccountsChanged(accounts=pool, unsigned={ANN: "gone"}))
    for one in told:
        memory.learn(one)
    assert [one.cure for one in memory.holds[ANN]].count(Cure.SECRET) == 1

    memory.learn(AccountsChanged(accounts=pool))
    assert Cure.SECRET not in [one.cure for one in memory.holds.get(ANN, ())]


@given(st.lists(failures | helps, max_size=10))
def test_nothing_but_a_new_credential_mends_an_ended_login(told: list[Observation]) -> None:
    """No sequence of answers, checks and liftings lets the account serve again."""
    memory = known()
    memory.learn(unrenewed())
    for one in told:
        memory.learn(one)
    assert [one.cure for one in memory.holds[ANN]].count(Cure.LOGIN) == 1


@given(st.lists(failures, max_size=10))
def test_failures_alone_never_shorten_a_hold(told: list[Observation]) -> None:
    """Whatever fails next and whenever, no bar that stood ends earlier."""
    memory = known()
    last = datetime.min.replace(tzinfo=NOON.tzinfo)
    for one in told:
        memory.learn(one)
        now_last = max((held.until for held in memory.holds.get(ANN, ())), default=last)
        assert last <= now_last
        last = now_last


@given(st.lists(refusals, max_size=6))
def test_lifting_ends_every_hold_of_one_account(met: list[Verdict]) -> None:
    """Whatever it was refused for, nothing bars it any more; another account's holds stay."""
    memory = known()
    for one in met:
        for name in (ANN, BEN):
            answer(memory, one, name=name)
    before = memory.holds.get(BEN)
    memory.learn(HoldsLifted(account=ANN, at=NOON))

    assert ANN not in memory.holds
    assert ANN not in memory.logins.ladders
    assert memory.holds.get(BEN) == before


def test_lifting_forgets_the_readings_that_a_hold_rests_on() -> None:
    """What is not believed any more must not put the account behind all others; other windows' readings stay."""
    memory = known()
    answer(memory, limit(), shown=[reading("7d", 1.0), reading("5h", 0.5)])
    memory.learn(HoldsLifted(account=ANN, at=NOON))
    memory.learn(HoldsLifted(account=BEN, at=NOON))

    assert list(memory.readings[ANN]) == ["5h"]


@pytest.mark.parametrize(
    ("met", "expected"),
    [
        (trail(), False),
        (trail(attempt("ann", forbidden())), True),
        (trail(attempt("ann", limit()), attempt("ann", forbidden()), attempt("ben", forbidden())), True),
        (trail(attempt("ann", forbidden()), attempt("ben", limit())), False),
        (trail(attempt("ann", forbidden()), attempt("ben", OK)), False),
    ],
)
def test_when_everybody_said_forbidden(met: Trail, expected: bool) -> None:
    """The last answer of each account asked counts."""
    assert expected is all_said_forbidden(met)


@pytest.mark.parametrize(("second", "left"), [(forbidden(), []), (limit(), [19])])
def test_row_19_is_taken_back_when_every_account_said_so(second: Verdict, left: list[int]) -> None:
    """If all the exchange asked said 403, the request is to blame and its holds go."""
    memory = known()
    answer(memory, forbidden())
    answer(memory, second, name=BEN)
    answer(memory, limit())
    memory.learn(Ended(exchange=EXCHANGE, trail=trail(attempt("ann", forbidden()), attempt("ben", second)), at=NOON))

    assert sorted([*left, 13]) == sorted(rows(memory))


def test_a_lease_follows_its_exchange() -> None:
    """Each dispatch moves it, the end ends it, and a second end is harmless."""
    memory = known()
    counts = []
    for step in (
        Dispatched(exchange=EXCHANGE, account=ANN, demand=demand(), at=NOON),
        Dispatched(exchange=EXCHANGE, account=BEN, demand=demand(), at=NOON),
        Ended(exchange=EXCHANGE, trail=trail(), at=NOON),
        Ended(exchange=EXCHANGE, trail=trail(), at=NOON),
    ):
        memory.learn(step)
        counts.append((memory.leases.count(ANN), memory.leases.count(BEN)))

    assert counts == [(1, 0), (0, 1), (0, 0), (0, 0)]
    assert memory.habits.latest(demand()) == BEN


def test_a_conversation_sticks_after_a_success_alone() -> None:
    """Being asked is not enough."""
    memory = known()
    memory.learn(Dispatched(exchange=EXCHANGE, account=ANN, demand=demand(), at=NOON))
    answer(memory, OK)
    assert memory.habits.warm(demand(), NOON) is None

    memory.learn(Succeeded(exchange=EXCHANGE, account=ANN, demand=demand(), at=NOON))
    assert memory.habits.warm(demand(), NOON) == ANN


def test_an_account_disabled_in_flight_gets_no_stick() -> None:
    """Its answer still counts for its readings."""
    memory = known(account(ANN, enabled=False))
    answer(memory, OK, shown=[reading()])
    memory.learn(Succeeded(exchange=EXCHANGE, account=ANN, demand=demand(), at=NOON))

    assert memory.habits.warm(demand(), NOON) is None
    assert "7d" in memory.readings[ANN]


def test_a_removed_account_is_forgotten() -> None:
    """All that was known of it goes, and what its last request still tells is not taken."""
    memory = known()
    memory.learn(Dispatched(exchange=EXCHANGE, account=ANN, demand=demand(), at=NOON))
    answer(memory, auth(), shown=[reading()])
    memory.learn(Succeeded(exchange=EXCHANGE, account=ANN, demand=demand(), at=NOON))
    memory.learn(AccountsChanged(accounts=(account(BEN),)))
    memory.learn(Dispatched(exchange=ExchangeId("e2"), account=BEN, demand=demand(), at=NOON))
    memory.learn(Dispatched(exchange=ExchangeId("e2"), account=ANN, demand=demand(), at=NOON))
    answer(memory, auth(), shown=[reading()])
    memory.learn(Succeeded(exchange=EXCHANGE, account=ANN, demand=demand(), at=NOON))

    assert (memory.readings, memory.holds, memory.logins.ladders, memory.requests) == ({}, {}, {}, {BEN: 1})
    assert (memory.leases.count(ANN), memory.leases.count(BEN)) == (0, 0)
    assert memory.habits.warm(demand(), NOON) is None


def test_a_model_limit_bars_its_family_alone() -> None:
    """Row 12 holds the account for the asked family."""
    memory = known()
    answer(memory, model_limit())
    (held,) = memory.holds[ANN]

    assert (held.bars(demand()), held.bars(demand(family=HAIKU))) == (True, False)
    assert held.until == NOON + hours(2)


def test_what_was_observed_since_the_start_is_newer_than_what_was_restored() -> None:
    """Readings are merged, a longer hold stands, a ladder and a stick of this run stay; lines are added up."""
    old = Remembered(
        readings={(ANN, "7d"): reading("7d", 0.9, sent=-60, taken=-60), (BEN, "5h"): reading("5h", 0.3)},
        holds={ANN: (hold(13, end=1), hold(14, end=1))},
        ladders={ANN: Ladder(failures=7, set_at=NOON)},
        sticks={TALK: Stick(account=BEN, until=NOON)},
        lines={"new": frozenset({HAIKU})},
    )
    memory = known()
    answer(memory, limit(), shown=[reading("7d", 0.5), reading("7d_new", 0.1)])
    answer(memory, auth())
    memory.learn(Succeeded(exchange=EXCHANGE, account=ANN, demand=demand(), at=NOON))
    memory.learn(Restored(remembered=old, at=NOON))

    assert (memory.readings[ANN]["7d"].used, memory.readings[ANN]["7d"].source) == (0.5, Source.ANSWER)
    assert (memory.readings[BEN]["5h"].used, memory.readings[BEN]["5h"].source) == (0.3, Source.RESTORED)
    assert {one.row: (one.until, one.restored) for one in memory.holds[ANN]} == {
        13: (NOON + hours(2), False),
        14: (NOON + hours(1), True),
        18: (NOON + seconds(901), False),
    }
    assert memory.logins.ladders[ANN].failures == 1
    assert memory.habits.warm(demand(), NOON) == ANN
    assert memory.lines == {"new": {OPUS, HAIKU}}


def test_each_observation_is_a_revision() -> None:
    """While the count stands, so does what is remembered; a picture drawn before does not change."""
    memory = known()
    before, revision = memory.remembered(), memory.revision
    answer(memory, auth(), shown=[reading("7d_new")])
    memory.learn(Succeeded(exchange=EXCHANGE, account=ANN, demand=demand(), at=NOON))

    assert memory.revision == revision + 2
    assert before == Remembered()
    assert memory.remembered() != before


def test_only_a_secret_ends_the_want_of_one() -> None:
    """No answer, no new credential and no lifting ends it, a restart does not remember it, and what answers set stays."""
    memory = Memory(rules=Holds())
    pool = (account(ANN), account(BEN))
    memory.learn(AccountsChanged(accounts=pool, unsigned={ANN: "its keyring is locked"}))
    memory.learn(CredentialChanged(account=ANN, at=NOON))
    memory.learn(HoldsLifted(account=ANN, at=NOON))

    assert [(hold.row, hold.ends, hold.because) for hold in memory.holds[ANN]] == [(18, None, "its keyring is locked")]
    assert memory.remembered().holds == {}
    memory.learn(AccountsChanged(accounts=pool))
    assert memory.holds == {}


def test_measuring_merges_readings_and_lifts_what_rests_on_windows_with_room() -> None:
    """A poll that says 2 % ends a hold of days (X26); it sets none, learns no line, and ends none that rests on no window."""
    memory = known()
    answer(memory, limit(end=100), at=1)
    answer(memory, auth(), at=1)
    shown = (reading("7d", 0.02, sent=2, taken=3, source=Source.USAGE), reading("7d_new", sent=2, taken=3))
    memory.learn(Measured(account=ANN, sent_at=NOON + seconds(2), at=NOON + seconds(3), readings=shown))

    assert [hold.row for hold in memory.holds[ANN]] == [18]
    assert memory.readings[ANN]["7d"] == shown[0]
    assert memory.lines == {}


def test_measuring_is_no_proof_against_what_came_later_or_is_full() -> None:
    """A hold set after it was asked for stands; so does one whose window it shows full."""
    memory = known()
    answer(memory, limit(), at=5)
    for used, sent in ((0.02, 4), (1.0, 6)):
        full = (reading("7d", used, sent=sent, taken=7),)
        memory.learn(Measured(account=ANN, sent_at=NOON + seconds(sent), at=NOON + seconds(7), readings=full))
        assert [hold.row for hold in memory.holds[ANN]] == [13]


def test_measuring_one_that_is_gone_changes_nothing() -> None:
    """As with every observation."""
    memory = known(account(BEN))
    memory.learn(Measured(account=ANN, sent_at=NOON, at=NOON, readings=(reading(),)))

    assert memory.readings == {}


def test_free_choices_and_levels_of_5h_windows_are_kept_and_go_with_the_account() -> None:
    """A choice that a habit made, and a side call's, is nobody's turn; an answer's reading makes a level."""
    memory = known(account(ANN), account(BEN))
    for name, is_free, side in ((ANN, True, False), (BEN, False, False), (BEN, True, True)):
        sent = Dispatched(exchange=EXCHANGE, account=name, demand=demand(side=side), at=NOON, is_free=is_free)
        memory.learn(sent)
    assert (memory.given.latest("anthropic"), memory.given.at(BEN)) == (ANN, 0)

    for minutes, used in ((0, 0.1), (20, 0.5)):
        shown = reading("5h", used, resets=4, sent=60 * minutes, taken=60 * minutes)
        at = NOON + seconds(60 * minutes)
        met = Answered(
            exchange=EXCHANGE, account=ANN, demand=demand(), verdict=OK, sent_at=at, at=at, readings=(shown,)
        )
        memory.learn(met)
    session = memory.counting(ANN, OPUS)
    found = memory.pressures.of(ANN, session, NOON + seconds(1200))
    assert found is not None
    assert found.rate == pytest.approx(1.2)

    memory.learn(AccountsChanged(accounts=(account(BEN),)))
    assert memory.given.latest("anthropic") is None
    late = memory.pressures.of(ANN, session, NOON + seconds(1200))
    assert late is None or not late.is_recent


def _served(
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


def test_what_answers_used_up_is_learned() -> None:
    """What windows hold, and the conversation's pace; it goes with the account."""
    memory = Memory(rules=Holds())
    memory.learn(AccountsChanged(accounts=(account(), account(BEN))))
    for turn in range(3):
        for told in _served(ANN, 0.1 * turn, Spent(read=10_000, fresh=1_000), at=60 * turn):
            memory.learn(told)

    assert memory.capacities.known["5h"][ANN] == pytest.approx(1_500 / 0.1)
    assert memory.load.pledged.totals[ANN] > 0
    assert not memory.load.in_flight()
    assert memory.remembered().capacities.keys() == {(ANN, "5h")}
    memory.learn(AccountsChanged(accounts=(account(BEN),)))
    assert (len(memory.load), memory.remembered().capacities) == (0, {})


@pytest.mark.parametrize(("spent", "side"), [(None, False), (Spent(fresh=1_000), True)])
def test_an_answer_that_says_nothing_of_use_teaches_nothing(spent: Spent | None, side: bool) -> None:
    """Nor does a side call, which uses nothing up."""
    memory = Memory(rules=Holds())
    memory.learn(AccountsChanged(accounts=(account(),)))
    for turn in range(3):
        for told in _served(ANN, 0.1 * turn, spent, side=side, at=60 * turn):
            memory.learn(told)

    assert memory.remembered().capacities == {}
    assert len(memory.load) == (0 if side else 1)


def test_a_refused_request_wants_nothing_there() -> None:
    """Whoever refused it is asked no more for its conversation."""
    memory = Memory(rules=Holds())
    memory.learn(AccountsChanged(accounts=(account(),)))
    dispatched, answered = _served(ANN, 0.1, None)[:2]
    memory.learn(dispatched)
    assert memory.load.flying.totals[ANN] > 0
    assert isinstance(answered, Answered)
    memory.learn(replace(answered, verdict=limit()))

    assert (memory.load.flying.totals[ANN], memory.load.pledged.totals[ANN]) == (0, 0)
