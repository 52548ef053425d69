"""What is told of a choice is what it rested on."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routing import explain
from routing.decisions import Use
from routing.explain import Liked, Weighed, likes
from routing.observations import AccountsChanged, Answered, Dispatched, Ended, Pinned, Succeeded
from routing.router import Router
from routing.rules import Routing, Rules
from routing.scoring import STRATEGIES, Place, pick
from routing.strategies.contract import Candidate, Free
from routing.trail import Trail
from routing.verdicts import Verdict
from routing.words import Account, AccountId, ExchangeId, Kind
from tests.routing.made import (
    ANN,
    BEN,
    CAT,
    NOON,
    OK,
    account,
    attempt,
    demand,
    hours,
    limit,
    overloaded,
    reading,
    trail,
)
from tests.routing.strategies.contract import frees


@given(frees, st.sampled_from(sorted(STRATEGIES)))
def test_the_first_is_the_one_that_a_free_choice_takes(free: Free, name: str) -> None:
    """Whatever is known of the accounts and whichever strategy orders them; each has its place and its words."""
    strategy, rules = STRATEGIES[name], Routing(strategy=name)
    liked = likes(free, strategy, rules)

    assert sorted(its.order for its in liked.values()) == list(range(1, len(free.candidates) + 1))
    assert liked[pick(free, strategy, rules).account].order == 1
    assert all(its.because for its in liked.values())


BEHIND: list[tuple[Candidate, Candidate, str, str]] = [
    (Candidate(account=account(rank=1)), Candidate(account=account(BEN, rank=2)), "the best rank", "others have a better rank"),
    (
        Candidate(account=account(), readings=(reading("7d", 0.2),)),
        Candidate(account=account(BEN), readings=(reading("7d", 0.99),)),
        "the only one with room",
        "nearly full",
    ),
    (
        Candidate(account=account(), readings=(reading("7d", 0.99),)),
        Candidate(account=account(BEN, kind=Kind.API_KEY)),
        "the only subscription",
        "an API key, after every subscription",
    ),
    (
        Candidate(account=account()),
        Candidate(account=account(BEN), readings=(reading("7d", 0.2),)),
        "to be measured",
        "others are measured first",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("first", "second", "why", "why_not"), BEHIND, ids=range(4))
def test_who_stands_behind_is_told_why(first: Candidate, second: Candidate, why: str, why_not: str) -> None:
    """Before the strategy is asked."""
    free = Free(demand=demand(), candidates=(second, first), now=NOON)

    assert likes(free, STRATEGIES["perishing"], Routing()) == {ANN: Liked(1, why), BEN: Liked(2, why_not)}


def test_every_way_to_stand_behind_has_its_words() -> None:
    """A new field of Place needs some."""
    assert set(explain._BEHIND) == set(explain._BEFORE) == set(Place._fields)


def test_nobody_who_may_serve_is_liked() -> None:
    """There is nothing to order."""
    assert likes(Free(demand=demand(), candidates=(), now=NOON), STRATEGIES["perishing"], Routing()) == {}


def router(*accounts: Account) -> Router:
    """A router of these accounts that orders by what perishes."""
    made = Router(Rules(routing=Routing(strategy="perishing")))
    made.observe(AccountsChanged(accounts=accounts))
    return made


def sent(to: Router, name: AccountId, met: Verdict, exchange: str = "e1", *, used: float = 0.5) -> None:
    """A request goes out on the account and is answered so."""
    e, shown = ExchangeId(exchange), (reading("7d", used),)
    to.observe(Dispatched(exchange=e, account=name, demand=demand(), at=NOON))
    to.observe(Answered(exchange=e, account=name, demand=demand(), at=NOON, verdict=met, sent_at=NOON, readings=shown))


def told(by: Router, so_far: Trail | None = None, *, free: bool = True) -> dict[str, Weighed]:
    """How each account stands, in the order in which it is told."""
    found = by.explain(demand(), so_far or trail(), NOON, free=free).accounts()
    return {one.name: one for one in found}


def test_every_account_of_the_provider_is_told_of() -> None:
    """Those that may serve first; each bar in its own words, and how full all of them are."""
    made = router(account(ANN, enabled=False), account(BEN), account(CAT), account("dan", provider="other"))
    sent(made, BEN, limit(), used=1.0)
    sent(made, CAT, OK, used=0.25)
    found = told(made)

    assert list(found) == [CAT, ANN, BEN]
    assert (found[ANN].may, found[ANN].because) == (False, "disabled")
    assert (found[BEN].may, found[BEN].row, found[BEN].until) == (False, 13, NOON + hours(2))
    assert (found[CAT].may, found[CAT].order, found[CAT].windows) == (True, 1, {"7d": 0.25})
    assert found[CAT].because == "the only one that may"


def test_what_an_account_was_asked_for_is_a_bar() -> None:
    """A hop asks each account once: what it said is why it is not asked again."""
    made = router(account(ANN), account(BEN))
    found = told(made, trail(attempt(ANN, overloaded())))

    assert (found[ANN].may, found[ANN].because) == (False, "row 21")
    assert found[BEN].order == 1


def test_where_a_habit_decides_no_strategy_is_asked() -> None:
    """Then who may serve is told, and no order."""
    made = router(account(ANN), account(BEN))
    found = told(made, free=False)

    assert {one.order for one in found.values()} == {None}
    assert {(one.may, one.because) for one in found.values()} == {(True, "may serve")}


def test_where_a_conversation_lives_is_why_others_do_not_serve_it() -> None:
    """Also while it waits for a place there; not once the account is held."""
    made = router(replace(account(ANN), cap=1), account(BEN))
    sent(made, ANN, OK)
    made.observe(Succeeded(exchange=ExchangeId("e1"), account=ANN, demand=demand(), at=NOON))
    own = Trail(started_at=NOON, exchange=ExchangeId("e1"))
    assert {one.name: one.because for one in told(made, own, free=False).values()} == {
        ANN: "its conversation lives here",
        BEN: "its conversation lives on ann",
    }
    waiting = told(made, Trail(started_at=NOON, exchange=ExchangeId("e2")), free=False)
    assert (waiting[ANN].may, waiting[BEN].because) == (False, "its conversation lives on ann")
    sent(made, ANN, limit(), used=1.0)

    assert told(made, free=False)[BEN].because == "may serve"


def test_under_a_pin_each_is_pinned_or_not() -> None:
    """The order is that of the pinned; of a conversation that stays where it is warm that is said too."""
    made = router(account(ANN), account(BEN), account(CAT))
    for name in (ANN, BEN, CAT):
        sent(made, name, OK, name)
        made.observe(Ended(exchange=ExchangeId(name), trail=trail(), at=NOON))
    made.observe(Pinned(accounts=(BEN, CAT), at=NOON))
    found = told(made)
    assert [one.order for one in found.values()] == [1, 2, None]
    assert found[ANN].because == "not pinned"
    assert all(found[name].because.startswith("pinned; ") for name in (BEN, CAT))
    made.observe(Pinned(accounts=(BEN,), at=NOON))
    assert told(made)[BEN].because == "pinned"
    made.observe(Succeeded(exchange=ExchangeId(ANN), account=ANN, demand=demand(), at=NOON))

    assert [one.because for one in told(made, free=False).values()] == [
        "not pinned; its conversation lives here",
        "pinned; its conversation lives on ann",
        "not pinned; its conversation lives on ann",
    ]


def test_a_full_account_is_told_of_as_such() -> None:
    """One whose cap is reached may not serve, though no hold bars it; the request's own claim is no other's."""
    made = router(Account(id=ANN, name=ANN, provider="anthropic", kind=Kind.OAUTH, cap=1), account(BEN))
    sent(made, ANN, OK)
    own = Trail(started_at=NOON, exchange=ExchangeId("e1"))

    assert told(made, own)[ANN].may
    assert told(made, own)[ANN].leases == 0
    found = told(made, Trail(started_at=NOON, exchange=ExchangeId("e2")))
    assert (found[ANN].may, found[ANN].leases) == (False, 1)
    assert found[ANN].because


def test_it_says_where_the_cache_was() -> None:
    """Warm until its time is over, and then the account that served the conversation last."""
    made = router(account(ANN), account(BEN))
    sent(made, BEN, OK)
    made.observe(Succeeded(exchange=ExchangeId("e1"), account=BEN, demand=demand(), at=NOON))
    warm, cold = (made.explain(demand(), trail(), NOON + hours(later)) for later in (0.5, 2))

    assert (warm.warm, warm.home) == (BEN, BEN)
    assert (cold.warm, cold.home) == (None, BEN)
    assert warm.strategy == "perishing"


def test_telling_changes_nothing_and_does_not_change_afterwards() -> None:
    """What was taken down stays as it was, whatever the router learns."""
    made = router(account(ANN), account(BEN))
    sent(made, ANN, OK, used=0.3)
    revision, choice = made.revision, made.choose(demand(), trail(), NOON)
    explanation = made.explain(demand(), trail(), NOON)
    assert (made.revision, made.choose(demand(), trail(), NOON)) == (revision, choice)
    assert isinstance(choice, Use)
    before = explanation.accounts()
    sent(made, ANN, limit(), "e2", used=1.0)
    made.observe(AccountsChanged(accounts=()))

    assert explanation.accounts() == before
    assert explanation.barred == {}
