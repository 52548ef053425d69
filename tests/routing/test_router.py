"""Tests of routing/router.py; long, because one object answers for every property and every story."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routing.chains import asked
from routing.decisions import Answer, GiveUp, Use, Wait
from routing.gates import bar
from routing.gauges import UNTRIED, Gauge
from routing.health import Standing
from routing.holds import Hold, barring
from routing.lifetimes import Lifetime
from routing.observations import (
    AccountsChanged,
    Answered,
    Checked,
    CredentialChanged,
    Dispatched,
    Ended,
    Gauged,
    HoldsLifted,
    Observation,
    RenewalFailed,
    Restored,
    Succeeded,
)
from routing.outage import Outage
from routing.readings import Source
from routing.remembered import is_outdated
from routing.router import Router
from routing.rules import Routing, Rules
from routing.scoring import STRATEGIES, Place, place
from routing.snapshot import Snapshot
from routing.strategies.contract import Candidate
from routing.trail import Trail
from routing.verdicts import Verdict
from routing.words import Account, AccountId, Demand, ExchangeId
from tests.routing.machine import RouterMachine
from tests.routing.made import (
    ANN,
    BEN,
    CAT,
    EXCHANGE,
    HAIKU,
    NAMES,
    NOON,
    OK,
    account,
    attempt,
    auth,
    demand,
    demands,
    hours,
    limit,
    model_limit,
    moments,
    pools,
    reading,
    readings,
    refusals,
    seconds,
    trail,
)
from tests.routing.shell import Shell
from tests.routing.stories import always, measured, pooled

names = st.sampled_from(NAMES)
exchanges = st.sampled_from([ExchangeId("e1"), ExchangeId("e2"), ExchangeId("e3")])
verdicts = refusals | st.just(OK)
trails = st.builds(
    lambda met, renewed: trail(*met, renewed_at=min(renewed, len(met))),
    st.lists(st.builds(attempt, names, refusals, ended=st.integers(-100, 100)), max_size=4),
    st.integers(0, 2),
)
ends = st.none() | st.integers(-40, 40).map(lambda days: NOON + hours(24 * days))
lifetimes = st.builds(Lifetime, expires_at=ends, refresh_expires_at=ends, is_refreshable=st.booleans())
observations = st.one_of(
    st.builds(Dispatched, exchange=exchanges, account=names, demand=demands, at=moments),
    st.builds(
        Answered,
        exchange=exchanges,
        account=names,
        demand=demands,
        verdict=verdicts,
        sent_at=moments,
        at=moments,
        readings=st.lists(readings, max_size=3).map(tuple),
    ),
    st.builds(Succeeded, exchange=exchanges, account=names, demand=demands, at=moments),
    st.builds(Ended, exchange=exchanges, trail=trails, at=moments),
    st.builds(CredentialChanged, account=names, at=moments),
    st.builds(
        RenewalFailed, account=names, at=moments, because=st.just("no answer"), until=moments, bars=st.just(True)
    ),
    st.builds(Checked, account=names, standing=st.sampled_from(Standing), at=moments),
    st.builds(HoldsLifted, account=names, at=moments),
    st.builds(AccountsChanged, accounts=pools, lifetimes=st.dictionaries(names, lifetimes)),
)
answers_of_now = st.builds(
    Answered,
    exchange=exchanges,
    account=names,
    demand=demands,
    verdict=verdicts,
    sent_at=moments,
    at=moments,
    readings=st.lists(st.builds(replace, readings, resets_at=st.just(NOON + hours(30))), max_size=3).map(tuple),
)
histories = st.lists(observations, max_size=12)
RETEST = "to see whether its hold still stands"  # the one choice of an account that is held


ALONE = Rules(routing=Routing(strategy="least_used"))  # it judges each account by itself


def told(pool: tuple[Account, ...], history: list[Observation], rules: Rules | None = None) -> Router:
    """A Router that has these accounts and observed all this."""
    router = Router(Rules() if rules is None else rules)
    router.observe(AccountsChanged(accounts=pool))
    for observation in history:
        router.observe(observation)
    return router


def accounts_of(router: Router) -> Mapping[AccountId, Account]:
    """The accounts as they now stand."""
    return {shown.account.id: shown.account for shown in router.snapshot(NOON).accounts}


def holds_of(router: Router, name: AccountId) -> tuple[Hold, ...]:
    """The holds of an account, ended ones included."""
    return router._memory.held.holds.get(name, ())


rules_of_each = st.sampled_from([Rules(routing=Routing(strategy=strategy)) for strategy in STRATEGIES])


@given(st.builds(told, pools, histories, rules_of_each), demands, trails, moments)
def test_never_an_account_that_is_held_disabled_or_gated(
    router: Router, request: Demand, met: Trail, now: datetime
) -> None:
    """Whatever happened, whatever the time and the strategy, who is used or waited for by name may serve."""
    choice = router.choose(request, met, now)

    if isinstance(choice, Use | Wait) and choice.account is not None:
        account_ = accounts_of(router)[choice.account]
        assert account_.enabled
        assert account_.provider == request.provider
        assert barring(holds_of(router, account_.id), request, now) == ()


@given(pools, histories, demands, trails, moments)
def test_a_trail_never_returns_to_an_account_by_hop(
    pool: tuple[Account, ...], history: list[Observation], request: Demand, met: Trail, now: datetime
) -> None:
    """After a refusal, the next is the same account again, or one that was not asked yet."""
    choice = told(pool, history).choose(request, met, now)

    if isinstance(choice, Use) and met.last is not None:
        assert choice.account == met.last.account or choice.account not in asked(met, now)


@given(pools, histories, demands, moments)
def test_dropping_an_account_that_was_not_chosen_changes_nothing(
    pool: tuple[Account, ...], history: list[Observation], request: Demand, now: datetime
) -> None:
    """Where each account is judged by itself, the choice among the rest is the same without it; only, it may be no move then."""
    router = told(pool, history, ALONE)
    choice = router.choose(request, trail(), now)
    known = accounts_of(router)

    for dropped in known if isinstance(choice, Use) else ():
        if isinstance(choice, Use) and dropped != choice.account:
            fewer = told(pool, history, ALONE)
            fewer.observe(AccountsChanged(accounts=tuple(a for a in known.values() if a.id != dropped)))
            again = fewer.choose(request, trail(), now)
            assert isinstance(again, Use)
            assert (again.account, again.because) == (choice.account, choice.because)


@given(pools, histories, demands, trails, moments)
def test_same_observations_same_router(
    pool: tuple[Account, ...], history: list[Observation], request: Demand, met: Trail, now: datetime
) -> None:
    """Two Routers that were told the same show and choose the same, and choosing changes nothing."""
    one, other = told(pool, history), told(pool, history)
    one.choose(request, met, now)

    assert one.snapshot(now) == other.snapshot(now)
    assert one.choose(request, met, now) == other.choose(request, met, now)


LATER = NOON + hours(2)  # after all that the histories tell


def restarted(before: Router, at: datetime = LATER) -> Router:
    """The next Router with the same accounts, told what that one remembered."""
    router = Router(Rules())
    router.observe(AccountsChanged(accounts=tuple(accounts_of(before).values())))
    router.observe(Restored(remembered=before.remembered(), at=at))
    return router


def lasting(router: Router, now: datetime) -> Snapshot:
    """The snapshot without what begins anew with a process: where readings came from, and counts of requests."""
    shown = router.snapshot(now)
    accounts = tuple(
        replace(one, requests=0, windows=tuple(replace(w, source=Source.RESTORED) for w in one.windows))
        for one in shown.accounts
    )
    return replace(shown, accounts=accounts)


@given(pools, st.lists(observations | answers_of_now, max_size=12), st.integers(0, 7200))
def test_a_restart_changes_nothing_that_lasts(
    pool: tuple[Account, ...], history: list[Observation], after: float
) -> None:
    """Apart from requests in flight and windows that were reset, the next Router shows and chooses the same."""
    now = LATER + seconds(after)
    router = told(pool, history)
    for exchange in ("e1", "e2", "e3"):
        router.observe(Ended(exchange=ExchangeId(exchange), trail=trail(), at=now))
    for known in router._memory.meters.readings.values():
        for key in [key for key, one in known.items() if is_outdated(one, now)]:
            del known[key]

    assert lasting(router, now) == lasting(restarted(router, now), now)
    assert router.to_check(now) == restarted(router, now).to_check(now)
    assert restarted(router, now).remembered() == restarted(restarted(router, now), now).remembered()


def test_who_is_to_be_checked_and_whether_all_fail() -> None:
    """What an account was refused for shows in both; a check that accepts it ends both."""
    router = told((account(ANN), account(BEN)), [])
    for name in (ANN, BEN):
        met = Answered(exchange=EXCHANGE, account=name, demand=demand(), verdict=auth(), sent_at=NOON, at=NOON)
        router.observe(met)
    later = NOON + seconds(60)
    assert (router.to_check(NOON), router.to_check(later)) == ((), (ANN, BEN))
    assert router.outage(later) == Outage(names=("ann", "ben"), since=NOON)
    assert router.outage(later, provider="openai") is None

    router.observe(Checked(account=BEN, standing=Standing.VALID, at=later))
    assert (router.to_check(later), router.outage(later)) == ((ANN,), None)


@pytest.mark.parametrize(
    ("name", "why"), [(ANN, ""), (BEN, "is disabled"), (CAT, "has no secret"), (AccountId("gone"), "is not there")]
)
def test_why_a_wish_cannot_be_heeded(name: AccountId, why: str) -> None:
    """Until a person does something; a hold is none of that, for it ends by itself."""
    router = told((), [])
    pool = (account(ANN), account(BEN, enabled=False), account(CAT))
    router.observe(AccountsChanged(accounts=pool, unsigned={CAT: "its keyring is locked"}))
    router.observe(Answered(exchange=EXCHANGE, account=ANN, demand=demand(), verdict=limit(), sent_at=NOON, at=NOON))

    assert router.why_not_pinned(name) == why


def test_a_revision_for_each_observation() -> None:
    """Choosing and looking count for nothing."""
    router = told((account(),), [])
    before = router.revision
    router.choose(demand(), trail(), NOON)
    router.remembered()
    assert router.revision == before

    router.observe(CredentialChanged(account=ANN, at=NOON))
    assert router.revision == before + 1


@given(pools, histories, demands, moments)
def test_no_eligible_account_stands_in_front_of_the_chosen(
    pool: tuple[Account, ...], history: list[Observation], request: Demand, now: datetime
) -> None:
    """A free choice takes one of those in front among the accounts that may serve."""
    router = told(pool, history)
    request = replace(request, conversation=None, side=False)
    choice = router.choose(request, trail(), now)
    memory = router._memory

    def key(one: Account) -> Place:
        shown = memory.meters.counting(request.family)[one.id]
        candidate = Candidate(account=one, readings=shown, leases=memory.traffic.leases.count(one.id))
        return place(candidate, STRATEGIES[Rules().routing.strategy], Rules().routing, now)

    known = accounts_of(router)
    able = [one for one in known.values() if bar(one, request, holds_of(router, one.id), now) is None]
    assert bool(able) is (isinstance(choice, Use) and choice.because != RETEST)
    assert not able or (isinstance(choice, Use) and key(known[choice.account]) == min(map(key, able)))


@given(pools, histories, demands, moments, moments)
def test_now_may_go_back(
    pool: tuple[Account, ...], history: list[Observation], request: Demand, now: datetime, then: datetime
) -> None:
    """Nothing fails at an earlier time, and who was held then is held."""
    router = told(pool, history)
    router.choose(request, trail(), max(now, then))
    router.snapshot(max(now, then))
    early = min(now, then)
    choice = router.choose(request, trail(), early)

    is_barred = isinstance(choice, Use) and barring(holds_of(router, choice.account), request, early) != ()
    assert not is_barred or choice.because == RETEST


@given(pools, histories, exchanges)
def test_a_lease_ends_once(pool: tuple[Account, ...], history: list[Observation], exchange: ExchangeId) -> None:
    """However often an exchange ends, what is in flight is what the others hold."""
    router = told(pool, [*history, Ended(exchange=exchange, trail=trail(), at=NOON)])
    once = router.snapshot(NOON)
    router.observe(Ended(exchange=exchange, trail=trail(), at=NOON))

    assert once == router.snapshot(NOON)
    assert all(shown.in_flight >= 0 for shown in once.accounts)


@given(pools, demands, st.lists(verdicts, min_size=1, max_size=6))
def test_every_exchange_ends_within_its_bounds(pool: tuple[Account, ...], request: Demand, met: list[Verdict]) -> None:
    """However it is refused, an exchange ends, pauses within its budget, and asks no account by hop twice."""
    shell = Shell(*pool)
    count = 0

    def answers(_: AccountId) -> Verdict:
        nonlocal count
        count += 1
        return met[count % len(met)]

    run = shell.play(request, answers)
    assert run.trail.waited <= seconds(shell.rules.retry.budget_s)
    assert not request.side or not any(isinstance(choice, Wait) for choice in run.choices)
    assert len(run.trail.counted) <= 3 * len(pool) + len(pool)
    hopped = [
        b.account for a, b in zip(run.trail.counted, run.trail.counted[1:], strict=False) if a.account != b.account
    ]
    assert len(hopped) == len(set(hopped))


def test_the_story_of_a_day() -> None:
    """Sticky until refused, on to the next, both spent: wait for the first to recover, and stay there."""
    shell = pooled(ann=0.2, ben=0.5)

    run = shell.play(demand(), always())
    assert run.end == Use(account=ANN, because="new: 7d perishes soonest (0.033/h)", is_free=True)
    measured(shell, ann=0.9)
    assert shell.play(demand(), always()).end == Use(account=ANN, because="sticky")
    assert shell.play(demand("chat"), always()).asked == [BEN]

    run = shell.play(demand(), always(ann=limit(4)))
    assert run.asked == [ANN, BEN]
    assert run.end.because == "hop: ann refused: row 13"
    assert shell.play(demand(), always()).end == Use(account=BEN, because="sticky")

    run = shell.play(demand(), always(ben=limit(0.05)))
    assert run.asked == [BEN, BEN]
    assert run.choices[1] == Wait(until=NOON + hours(0.05), account=None, because="row 13")
    assert shell.now > NOON + hours(0.05)


def test_a_limit_far_away_is_answered_honestly() -> None:
    """All spent for hours: the answer names who recovers first, and later requests get the same at once."""
    shell = pooled(ann=0.2, ben=0.5)
    for names_asked in ([ANN, BEN], []):
        run = shell.play(demand(), always(ann=limit(4), ben=limit(3)))
        assert names_asked == run.asked
        assert isinstance(run.end, GiveUp)
        assert run.end.answer is Answer.LIMITED
        assert run.end.recovers is not None
        assert (BEN, NOON + hours(3)) == (run.end.recovers.account, run.end.recovers.until)


def test_a_model_limit_moves_its_family_alone() -> None:
    """Opus goes on elsewhere; haiku stays."""
    shell = pooled(ann=0.2, ben=0.5)

    assert shell.play(demand(), always(ann=model_limit())).asked == [ANN, BEN]
    assert shell.play(demand("chat", family=HAIKU), always()).asked == [ANN]


def test_the_snapshot_shows_who_would_be_next() -> None:
    """By family, and for any other; None where nobody may serve."""
    shell = pooled(ann=0.2, ben=0.5)
    shell.play(demand(), always(ann=model_limit(), ben=model_limit()))
    shell.play(demand(family=HAIKU), always())
    shown = shell.router.snapshot(shell.now)

    assert (shown.next["opus"], shown.next["haiku"], shown.next["any"]) == (None, ANN, ANN)
    assert {"opus", "sonnet", "haiku", "fable", "mythos", "any"} == set(shown.next)
    assert shown.conversations == 1
    assert [(one.account.id, one.requests) for one in shown.accounts] == [(ANN, 2), (BEN, 1)]
    assert set(shell.router.snapshot(NOON, provider="openai").next.values()) == {None}


def test_an_accounts_readings_can_be_asked_for() -> None:
    """Shortest window first; none of an account that is not known."""
    shell = pooled(ann=0.2)
    five_hours = reading("5h", 0.1)
    shell.router.observe(
        Answered(
            exchange=EXCHANGE, account=ANN, demand=demand(), verdict=OK, sent_at=NOON, at=NOON, readings=(five_hours,)
        )
    )

    assert [r.window.key for r in shell.router.readings(ANN)] == ["5h", "7d"]
    assert shell.router.readings(BEN) == ()


def test_what_measuring_met_can_be_asked_for() -> None:
    """Untried where nothing was met; it changes no choice."""
    shell, met = pooled(ann=0.2), Gauge(asked_at=NOON, is_closed=True)
    before = shell.router.choose(demand(), Trail(started_at=NOON), NOON)
    shell.router.observe(Gauged(account=ANN, gauge=met))

    assert (shell.router.gauge(ANN), shell.router.gauge(BEN)) == (met, UNTRIED)
    assert shell.router.choose(demand(), Trail(started_at=NOON), NOON) == before


def test_an_unknown_strategy_is_refused_at_once() -> None:
    """The message names those that there are."""
    with pytest.raises(ValueError, match="no strategy is called 'luck'; there are headroom, perishing"):
        Router(Rules(routing=Routing(strategy="luck")))


TestRouterMachine = RouterMachine.TestCase
"""Whatever happens in whatever order, the Router keeps its promises after every step."""
