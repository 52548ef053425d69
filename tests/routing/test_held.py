"""routing/held.py, by what a memory is told: which holds are set, kept and lifted, and what is known of logins."""

from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routing.health import Check, Standing
from routing.held import all_said_forbidden
from routing.holds import Cure
from routing.lifetimes import Lifetime
from routing.memory import Memory
from routing.observations import (
    AccountsChanged,
    Answered,
    Checked,
    CredentialChanged,
    Ended,
    HoldsLifted,
    Measured,
    Observation,
    RenewalFailed,
    Restored,
)
from routing.remembered import Remembered
from routing.rules import Holds
from routing.trail import Trail
from routing.verdicts import Verdict, VerdictKind
from routing.words import AccountId
from tests.routing.made import (
    ANN,
    BEN,
    EXCHANGE,
    HAIKU,
    NOON,
    OK,
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
    refusals,
    seconds,
    trail,
    verdict,
)
from tests.routing.told import answer, check, ends, known, rows, unrenewed


@given(st.lists(st.tuples(refusals, moments, moments), max_size=8))
def test_refusals_alone_never_shorten_a_hold(met: list[tuple[Verdict, datetime, datetime]]) -> None:
    """Whatever is refused and whenever, also when now goes back, no bar that stood ends earlier."""
    memory = known()
    last = datetime.min.replace(tzinfo=NOON.tzinfo)
    for one, sent_at, at in met:
        memory.learn(Answered(exchange=EXCHANGE, account=ANN, demand=demand(), verdict=one, sent_at=sent_at, at=at))
        ends = [held.until for held in memory.held.holds.get(ANN, ()) if held.bars(demand())]
        assert last <= max(ends, default=last)
        last = max(ends, default=last)


def test_a_refusal_holds_and_a_later_success_lifts() -> None:
    """A success of a request that was sent before the refusal proves nothing; one sent after it does."""
    memory = known()
    room = [reading("7d", 0.2)]
    answer(memory, limit())
    answer(memory, OK, sent=0.5, shown=room)
    assert rows(memory) == [13]

    answer(memory, OK, sent=2, shown=room)
    assert ANN not in memory.held.holds


def test_a_refusal_without_an_order_holds_nothing() -> None:
    """A client's fault is nobody's."""
    memory = known()
    answer(memory, verdict(23))

    assert memory.held.holds == {}


def test_an_error_event_holds_as_the_row_of_its_type() -> None:
    """A stream that began with an authentication error makes the account auth-dead as row 18."""
    memory = known()
    answer(memory, verdict(24, kind=VerdictKind.AUTH, hold=auth().hold))

    assert rows(memory) == [18]


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
    assert ANN in memory.held.logins.unrenewed
    memory.learn(CredentialChanged(account=ANN, at=NOON))
    memory.learn(CredentialChanged(account=BEN, at=NOON))

    assert rows(memory) == [13]
    assert memory.held.logins.unrenewed == {}
    assert memory.held.logins.check(ANN).next_at is None
    answer(memory, auth(), at=0)
    assert 900 in ends(memory)


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

    assert [(one.row, one.ends, one.cure) for one in memory.held.holds.get(ANN, ())] == held
    assert (ANN in memory.held.logins.unrenewed) is not bars
    assert all(one.cure is Cure.ANSWER for one in memory.remembered().holds.get(ANN, ()))


def test_a_renewal_that_is_tried_again_sooner_shortens_nothing() -> None:
    """The later end stands; a success to a later request ends it."""
    memory = known()
    for until in (1, 3, 2):
        memory.learn(unrenewed(until=until))
    assert [one.until for one in memory.held.holds[ANN]] == [NOON + hours(3)]

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
    assert [(one.row, one.cure) for one in memory.held.holds[ANN]] == [(18, Cure.LOGIN)]

    memory.learn(CredentialChanged(account=ANN, at=NOON))
    assert memory.held.holds == {}


def test_a_check_that_accepts_ends_what_was_refused() -> None:
    """Rows 17 to 19 that were met before, the ladder and the schedule; limits stay, and the time is noted."""
    memory = known()
    for met in (auth(), forbidden(), limit()):
        answer(memory, met)
    memory.learn(unrenewed(until=1))
    memory.learn(check(Standing.VALID, at=0.5))
    assert (sorted(rows(memory)), ANN in memory.held.logins.ladders) == ([13, 18, 19], True)

    memory.learn(check(Standing.VALID, at=2))
    assert (rows(memory), memory.held.logins.ladders) == ([13], {})
    assert memory.held.logins.check(ANN) == Check(checked_at=NOON + seconds(2))


@pytest.mark.parametrize("standing", [Standing.INVALID, Standing.DISABLED])
def test_checks_that_refuse_climb_the_ladder(standing: Standing) -> None:
    """As answers do: 15 minutes, doubling; and the next look is ever further off."""
    memory = known()
    answer(memory, auth(), at=0)
    looks = []
    for at in (60, 180, 420):
        memory.learn(check(standing, at, because="revoked"))
        looks.append((ends(memory), memory.held.logins.check(ANN).next_at))

    assert looks == [
        ([at + span], NOON + seconds(then)) for at, span, then in ((60, 1800, 180), (180, 3600, 420), (420, 7200, 900))
    ]
    assert [(one.row, one.because, one.began_at) for one in memory.held.holds[ANN]] == [(18, "revoked", NOON)]


@pytest.mark.parametrize("standing", [Standing.UNKNOWN, Standing.LIMITED])
def test_a_check_that_tells_nothing_changes_nothing(standing: Standing) -> None:
    """But the time of the next look: the same distance again."""
    memory = known()
    answer(memory, auth(), at=0)
    before = (memory.held.holds.copy(), memory.held.logins.ladders.copy())
    memory.learn(check(standing, 60))

    assert (memory.held.holds, memory.held.logins.ladders) == before
    assert memory.held.logins.check(ANN) == Check(failures=1, next_at=NOON + seconds(120), checked_at=NOON)


def test_a_check_without_words_has_some() -> None:
    """A person reads why the account is held, whatever the provider said."""
    memory = known()
    memory.learn(check(Standing.INVALID))

    assert [one.because for one in memory.held.holds[ANN]] == ["its credential is not accepted"]


def test_what_was_known_of_a_lifetime_stays_until_it_is_told_anew() -> None:
    """Accounts that are told of without one keep theirs; one that is gone has none."""
    memory = known()
    year, login = Lifetime(expires_at=NOON + hours(8760)), Lifetime(is_refreshable=True)
    pool = (account(ANN), account(BEN))
    memory.learn(AccountsChanged(accounts=pool, lifetimes={ANN: year, BEN: login, AccountId("gone"): year}))
    memory.learn(AccountsChanged(accounts=pool, lifetimes={ANN: login}))
    assert memory.held.logins.lifetimes == {ANN: login, BEN: login}

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
    assert [one.cure for one in memory.held.holds[ANN]].count(Cure.SECRET) == 1

    memory.learn(AccountsChanged(accounts=pool))
    assert Cure.SECRET not in [one.cure for one in memory.held.holds.get(ANN, ())]


@given(st.lists(failures | helps, max_size=10))
def test_nothing_but_a_new_credential_mends_an_ended_login(told: list[Observation]) -> None:
    """No sequence of answers, checks and liftings lets the account serve again."""
    memory = known()
    memory.learn(unrenewed())
    for one in told:
        memory.learn(one)
    assert [one.cure for one in memory.held.holds[ANN]].count(Cure.LOGIN) == 1


@given(st.lists(failures, max_size=10))
def test_failures_alone_never_shorten_a_hold(told: list[Observation]) -> None:
    """Whatever fails next and whenever, no bar that stood ends earlier."""
    memory = known()
    last = datetime.min.replace(tzinfo=NOON.tzinfo)
    for one in told:
        memory.learn(one)
        now_last = max((held.until for held in memory.held.holds.get(ANN, ())), default=last)
        assert last <= now_last
        last = now_last


@given(st.lists(refusals, max_size=6))
def test_lifting_ends_every_hold_of_one_account(met: list[Verdict]) -> None:
    """Whatever it was refused for, nothing bars it any more; another account's holds stay."""
    memory = known()
    for one in met:
        for name in (ANN, BEN):
            answer(memory, one, name=name)
    before = memory.held.holds.get(BEN)
    memory.learn(HoldsLifted(account=ANN, at=NOON))

    assert ANN not in memory.held.holds
    assert ANN not in memory.held.logins.ladders
    assert memory.held.holds.get(BEN) == before


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


def test_a_model_limit_bars_its_family_alone() -> None:
    """Row 12 holds the account for the asked family."""
    memory = known()
    answer(memory, model_limit())
    (held,) = memory.held.holds[ANN]

    assert (held.bars(demand()), held.bars(demand(family=HAIKU))) == (True, False)
    assert held.until == NOON + hours(2)


def test_only_a_secret_ends_the_want_of_one() -> None:
    """No answer, no new credential and no lifting ends it, a restart does not remember it, and what answers set stays."""
    memory = Memory(rules=Holds())
    pool = (account(ANN), account(BEN))
    memory.learn(AccountsChanged(accounts=pool, unsigned={ANN: "its keyring is locked"}))
    memory.learn(CredentialChanged(account=ANN, at=NOON))
    memory.learn(HoldsLifted(account=ANN, at=NOON))

    assert [(hold.row, hold.ends, hold.because) for hold in memory.held.holds[ANN]] == [
        (18, None, "its keyring is locked")
    ]
    assert memory.remembered().holds == {}
    memory.learn(AccountsChanged(accounts=pool))
    assert memory.held.holds == {}


def test_measuring_is_no_proof_against_what_came_later_or_is_full() -> None:
    """A hold set after it was asked for stands; so does one whose window it shows full."""
    memory = known()
    answer(memory, limit(), at=5)
    for used, sent in ((0.02, 4), (1.0, 6)):
        full = (reading("7d", used, sent=sent, taken=7),)
        memory.learn(Measured(account=ANN, sent_at=NOON + seconds(sent), at=NOON + seconds(7), readings=full))
        assert [hold.row for hold in memory.held.holds[ANN]] == [13]
