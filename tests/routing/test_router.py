"""Tests of routing/router.py; long, because one object answers for every property and every story."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routing.chains import asked
from routing.decisions import Answer, Choice, GiveUp, Use, Wait
from routing.gates import bar
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
    HoldsLifted,
    Observation,
    RenewalFailed,
    Restored,
    Succeeded,
)
from routing.outage import Outage
from routing.readings import Reading, Source
from routing.remembered import is_outdated
from routing.router import Router
from routing.rules import Routing, Rules
from routing.scoring import STRATEGIES, Place, place
from routing.snapshot import Snapshot
from routing.strategies.contract import Candidate
from routing.trail import Trail
from routing.verdicts import Verdict
from routing.words import Account, AccountId, Demand, ExchangeId, Kind
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
    forbidden,
    hours,
    limit,
    model_limit,
    moments,
    overloaded,
    paid,
    pools,
    reading,
    readings,
    refusals,
    seconds,
    throttle,
    trail,
    verdict,
)
from tests.routing.shell import Answers, Run, Shell

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


PERISHING = Rules(routing=Routing(strategy="perishing"))  # whose choices and words are easy to foresee
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
    return router._memory.holds.get(name, ())


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
        assert choice.account == met.last.account or choice.account not in asked(met)


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
    for known in router._memory.readings.values():
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
        shown = memory.counting(one.id, request.family)
        candidate = Candidate(account=one, readings=shown, leases=memory.leases.count(one.id))
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


def always(**by_name: Verdict) -> Answers:
    """Answers that are the same for each account every time; an account that is not named serves."""
    return lambda name: by_name.get(name, OK)


def measured(shell: Shell, **used: float) -> None:
    """Let each account have answered once, with so much of its week used."""
    for name, fraction in used.items():
        shell.router.observe(
            Answered(
                exchange=EXCHANGE,
                account=AccountId(name),
                demand=demand(None),
                verdict=OK,
                sent_at=shell.now,
                at=shell.now,
                readings=(replace(reading(used=fraction), sent_at=shell.now, taken_at=shell.now),),
            )
        )


def pooled(**used: float) -> Shell:
    """A shell whose accounts are measured."""
    shell = Shell(*used, rules=PERISHING)
    measured(shell, **used)
    return shell


def answer_of(run: Run) -> Answer:
    """Which of our own answers the exchange ended with."""
    assert isinstance(run.end, GiveUp)
    return run.end.answer


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


ENDS = [
    ("529 on both: six requests", {"ann": overloaded(), "ben": overloaded()}, "aaabbb", Answer.RELAY),
    ("throttled thrice", {"ann": throttle(1)}, "aaa", Answer.RELAY),
    ("throttled too long for the budget", {"ann": throttle(6)}, "aab", None),
    ("client fault", {"ann": verdict(23)}, "a", Answer.RELAY),
    ("all logins refused", {"ann": auth(), "ben": forbidden()}, "ab", Answer.LOCKED_OUT),
    ("one forbidden, one overloaded", {"ann": forbidden(), "ben": overloaded()}, "abbb", Answer.RELAY),
    ("paid already, nobody else", {"ann": paid(), "ben": paid()}, "ab", Answer.RELAY),
]


@pytest.mark.parametrize(("answers", "order", "answer"), [c[1:] for c in ENDS], ids=[c[0] for c in ENDS])
def test_how_exchanges_end(answers: dict[str, Verdict], order: str, answer: Answer | None) -> None:
    """Who is asked, in which order, and what the client gets."""
    run = pooled(ann=0.2, ben=0.5).play(demand(), always(**answers))

    assert order == "".join(name[0] for name in run.asked)
    assert isinstance(run.end, Use) if answer is None else answer is answer_of(run)


def test_one_overloaded_then_one_forbidden_relays_the_overload() -> None:
    """The last answer that blames no login is what the client sees."""
    shell = pooled(ann=0.2, ben=0.5)

    assert answer_of(shell.play(demand(), always(ann=overloaded(), ben=forbidden()))) is Answer.RELAY_EARLIER


def test_row_19_everywhere_leaves_no_hold() -> None:
    """When every account says 403 the request is to blame: the next one is served."""
    shell = pooled(ann=0.2, ben=0.5)

    assert answer_of(shell.play(demand(), always(ann=forbidden(), ben=forbidden()))) is Answer.LOCKED_OUT
    assert shell.play(demand(), always()).asked == [ANN]


def in_flight(shell: Shell, name: AccountId, exchange: str = "other", request: Demand | None = None) -> None:
    """Let another exchange have a request in flight on the account."""
    request = demand() if request is None else request
    shell.router.observe(Dispatched(exchange=ExchangeId(exchange), account=name, demand=request, at=shell.now))


def first(shell: Shell, request: Demand | None = None, met: Trail | None = None) -> Choice:
    """What the Router answers now."""
    return shell.router.choose(demand() if request is None else request, trail() if met is None else met, shell.now)


def test_a_conversation_in_flight_stays_where_it_is() -> None:
    """A second request of the same conversation goes to the same account, until that refused it."""
    shell = pooled(ann=0.2, ben=0.5)
    in_flight(shell, BEN)

    assert first(shell) == Use(account=BEN, because="in flight here")
    assert first(shell, met=trail(attempt("ben", verdict(15)), renewed_at=1)) != Use(
        account=BEN, because="in flight here"
    )


def test_a_warm_cache_outweighs_a_request_of_another_model_in_flight() -> None:
    """In flight with this model, then warm, then in flight with another model."""
    shell = pooled(ann=0.2, ben=0.5, cat=0.6)
    in_flight(shell, CAT, request=demand(family=HAIKU))
    assert first(shell) == Use(account=CAT, because="in flight here")

    shell.router.observe(Succeeded(exchange=EXCHANGE, account=BEN, demand=demand(), at=NOON))
    assert first(shell) == Use(account=BEN, because="sticky")

    in_flight(shell, ANN, "third")
    assert first(shell) == Use(account=ANN, because="in flight here")


def test_unmeasured_accounts_are_measured_one_conversation_each() -> None:
    """Idle unmeasured ones come first; with all busy, the one with the fewest requests in flight."""
    shell = Shell("ann", "ben")
    start = first(shell, demand("one"))
    assert isinstance(start, Use)
    assert start.because == "unmeasured"
    in_flight(shell, start.account, "one", demand("one"))
    second = first(shell, demand("two"))
    assert isinstance(second, Use)
    assert second.account != start.account


def test_an_api_key_comes_last() -> None:
    """It serves only when no subscription may."""
    shell = Shell(account(ANN, kind=Kind.API_KEY), account(BEN))
    measured(shell, ben=0.99)

    assert shell.play(demand(), always()).asked == [BEN]
    run = shell.play(demand(), always(ben=limit()))
    assert run.asked == [BEN, ANN]
    key = Use(account=ANN, because="new: API key, no subscription may serve", is_free=True)
    assert first(shell, demand("chat")) == key


def test_side_calls() -> None:
    """They take the session's latest account, else the best measured, else any; they never pause, and hop instead."""
    shell = Shell("ann", "ben", "cat", rules=PERISHING)
    side = demand(side=True)
    assert first(shell, side).because == "unmeasured"
    measured(shell, ben=0.5, cat=0.2)
    assert first(shell, side) == Use(account=CAT, because="new: 7d perishes soonest (0.033/h)", is_free=True)

    in_flight(shell, BEN)
    assert first(shell, side) == Use(account=BEN, because="the session's latest")
    run = shell.play(side, always(ben=throttle(), cat=throttle()))
    assert run.asked == [BEN, CAT]
    assert answer_of(run) is Answer.RELAY
    assert first(shell) == Use(account=BEN, because="in flight here")


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        (0.5, Wait(until=NOON + seconds(1), account=ANN, because="again: row 21")),
        (1.0, Use(account=ANN, because="again: row 21")),
        (-30, Wait(until=NOON + seconds(1), account=ANN, because="again: row 21")),
        (-3600, Use(account=ANN, because="again: row 21")),
    ],
)
def test_a_pause_ends_at_its_time(after: float, expected: Choice) -> None:
    """Before its end the answer is to wait, from then on to use; a clock set back far does not stretch it."""
    router = pooled(ann=0.2, ben=0.5).router

    assert expected == router.choose(demand(), trail(attempt("ann", overloaded())), NOON + seconds(after))


def test_without_a_pause_the_same_account_is_used_at_once() -> None:
    """A stale connection is tried again immediately, whatever the clock says."""
    met = trail(attempt("ann", verdict(2, same=(0,)), ended=5))

    assert first(pooled(ann=0.2, ben=0.5), met=met) == Use(account=ANN, because="again: row 2")


CHANGES: list[tuple[str, tuple[Observation, ...], str]] = [
    ("removed", (AccountsChanged(accounts=(account(BEN),)),), "hop: ann was removed"),
    (
        "disabled",
        (AccountsChanged(accounts=(account(ANN, enabled=False), account(BEN))),),
        "hop: ann may no longer serve: disabled",
    ),
    (
        "held",
        (Answered(exchange=EXCHANGE, account=ANN, demand=demand(), verdict=limit(), sent_at=NOON, at=NOON),),
        "hop: ann may no longer serve: row 13",
    ),
]


@pytest.mark.parametrize(("changes", "because"), [c[1:] for c in CHANGES], ids=[c[0] for c in CHANGES])
def test_an_account_that_is_lost_during_a_pause_gets_no_further_attempt(
    changes: tuple[Observation, ...], because: str
) -> None:
    """The request goes on elsewhere, even where the row says no hop; with nobody left it ends as the row says."""
    shell = pooled(ann=0.2, ben=0.5)
    met = trail(attempt("ann", throttle()))
    for change in changes:
        shell.router.observe(change)

    assert first(shell, met=met) == Use(account=BEN, because=because, is_move=True, is_free=True)

    shell.router.observe(AccountsChanged(accounts=(account(BEN, enabled=False),)))
    choice = first(shell, met=met)
    assert isinstance(choice, GiveUp)
    assert choice.answer is Answer.RELAY


def test_relaying_still_says_who_was_passed_over() -> None:
    """The accounts and why, for the log."""
    choice = first(pooled(ann=0.2, ben=0.5), met=trail(attempt("ann", verdict(23))))

    assert isinstance(choice, GiveUp)
    assert [(b.account, b.because) for b in choice.barred] == [(ANN, "row 23"), (BEN, "not tried")]


def test_another_providers_accounts_are_not_asked() -> None:
    """Nor do they count as accounts that could be enabled."""
    shell = Shell(account(ANN, provider="openai"))

    assert answer_of(shell.play(demand(), always())) is Answer.NONE_ENABLED


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


def test_an_unknown_strategy_is_refused_at_once() -> None:
    """The message names those that there are."""
    with pytest.raises(ValueError, match="no strategy is called 'luck'; there are headroom, perishing"):
        Router(Rules(routing=Routing(strategy="luck")))


@given(st.lists(readings, max_size=2))
def test_an_answer_that_was_let_through_is_not_hopped_from(shown: list[Reading]) -> None:
    """A trail that ends in no refusal is a free choice."""
    shell = pooled(ann=0.2, ben=0.5)
    for one in shown:
        shell.router.observe(
            Answered(
                exchange=EXCHANGE, account=CAT, demand=demand(), verdict=OK, sent_at=NOON, at=NOON, readings=(one,)
            )
        )

    assert first(shell, met=trail(attempt("ann", OK))) == first(shell)


TestRouterMachine = RouterMachine.TestCase
"""Whatever happens in whatever order, the Router keeps its promises after every step."""
