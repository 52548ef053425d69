"""Tests of routing/scoring.py."""

from dataclasses import replace
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routing.readings import Reading, Status
from routing.rules import Routing
from routing.scoring import STRATEGIES, Place, is_nearly_full, pick, place, toss
from routing.strategies.contract import Candidate, Free
from routing.words import Account, AccountId, ConversationId, Kind
from tests.routing.made import ANN, BEN, CAT, NAMES, NOON, account, accounts, fractions, moments, reading, readings
from tests.routing.strategies.contract import free, frees, with_shown

TALK = ConversationId("talk")
PERISHING = STRATEGIES["perishing"]
RULES = Routing()


def spot(one: Account, *shown: Reading, leases: int = 0, now: datetime = NOON) -> Place:
    """Where an account stands under a strategy that reads windows, and no ranks."""
    return place(Candidate(account=one, readings=shown, leases=leases), PERISHING, RULES, now)


@given(accounts, st.lists(readings, max_size=4), st.integers(0, 3), fractions, moments)
def test_more_use_is_never_further_in_front(
    one: Account, shown: list[Reading], leases: int, more: float, now: datetime
) -> None:
    """Using more of any window never brings an account forward."""
    fuller = [r if r.used is None else replace(r, used=r.used + more) for r in shown]

    assert spot(one, *shown, leases=leases, now=now) <= spot(one, *fuller, leases=leases, now=now)


@given(accounts, st.lists(readings, max_size=4), st.integers(0, 3), moments)
def test_more_leases_are_never_further_in_front(one: Account, shown: list[Reading], leases: int, now: datetime) -> None:
    """A request in flight never brings its account forward."""
    assert spot(one, *shown, leases=leases, now=now) <= spot(one, *shown, leases=leases + 1, now=now)


@pytest.mark.parametrize("name", STRATEGIES)
@given(choice=frees)
def test_nobody_stands_in_front_of_the_chosen(name: str, choice: Free) -> None:
    """The chosen is among those in front, is liked best of them, and has the fewest requests in flight of those as well liked."""
    strategy = STRATEGIES[name]
    places = {
        one.account.id: place(one, strategy, RULES, choice.now, latest=choice.latest) for one in choice.candidates
    }
    chosen = pick(choice, strategy, RULES).account
    front = [one for one in choice.candidates if places[one.account.id] == min(places.values())]
    likings = strategy.order(replace(choice, candidates=tuple(front)))
    keys = {one.account.id: likings[one.account.id].key if one.account.id in likings else (1e99,) for one in front}
    leases = {one.account.id: one.leases for one in front}

    assert chosen in keys
    assert all((keys[chosen], leases[chosen]) <= (keys[other], leases[other]) for other in keys)


@pytest.mark.parametrize("name", STRATEGIES)
@given(choice=frees)
def test_the_order_of_accounts_decides_only_where_a_strategy_says_so(name: str, choice: Free) -> None:
    """But for the strategies that follow the person's order, the same accounts in any order give the same choice."""
    turned = replace(choice, candidates=choice.candidates[::-1])
    follows = name in {"priority", "failover", "first_then_spill", "round_robin"}

    assert follows or pick(choice, STRATEGIES[name], RULES) == pick(turned, STRATEGIES[name], RULES)


ORDER = [
    with_shown(ANN, reading(used=0.1, resets=24)),
    with_shown(ANN, reading(used=0.1, resets=24), leases=1),
    with_shown(ANN, reading(used=0.5, resets=24)),
    with_shown(ANN, reading(used=0.1, resets=100)),
    with_shown(ANN, reading("5h", 0.1)),
    with_shown(ANN, reading("5h", 0.1), leases=1),
    with_shown(ANN, leases=1),
    with_shown(ANN, reading(used=0.2), reading("5h", 0.2, status=Status.REJECTED)),
    Candidate(account=account(kind=Kind.API_KEY)),
]
FRONT = [
    Candidate(account=account(rank=1), readings=(reading(used=0.9),)),
    Candidate(account=account(kind=Kind.API_KEY, rank=2)),
    Candidate(account=account(rank=3)),
    Candidate(account=account()),
    *ORDER,
]


@pytest.mark.parametrize("index", range(len(FRONT) - 1))
def test_order_of_a_fresh_choice(index: int) -> None:
    """Ranked, idle unmeasured, most perishing, fewest leases, busy unmeasured, nearly full, API key."""
    one, other = FRONT[index], FRONT[index + 1]
    other = replace(other, account=replace(other.account, id=BEN, name=BEN))

    for among in ((one, other), (other, one)):
        assert pick(free(*among), PERISHING, RULES).account == ANN


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        (reading(used=0.979), False),
        (reading(used=0.98), True),
        (reading(used=None), False),
        (reading(used=None, status=Status.REJECTED), True),
        (reading(used=1.0, status=Status.REJECTED, resets=0), False),
    ],
)
def test_nearly_full(shown: Reading, expected: bool) -> None:
    """A window is nearly full from switch_at on or when rejected, and never once its reset has passed."""
    assert expected is is_nearly_full((reading("5h", 0.1), shown), 0.98, NOON)


@pytest.mark.parametrize(
    ("latest", "used", "expected"),
    [
        (None, 0.975, False),
        (ANN, 0.975, False),
        (ANN, 0.98, True),
        (BEN, 0.975, True),
        (BEN, 0.969, False),
        (None, 0.98, True),
    ],
)
def test_others_than_the_latest_choice_are_nearly_full_a_point_sooner(
    latest: AccountId | None, used: float, expected: bool
) -> None:
    """So that an account which was left for being so full is not returned to by noise."""
    found = place(with_shown(ANN, reading(used=used)), PERISHING, RULES, NOON, latest=latest)

    assert found.nearly_full is expected


def test_where_a_strategy_reads_ranks_or_no_windows() -> None:
    """Then neither decides who stands in front."""
    ranked, plain = (place(Candidate(account=account(rank=r)), STRATEGIES["priority"], RULES, NOON) for r in (1, None))
    assert ranked == plain

    busy = place(with_shown(ANN, leases=1), STRATEGIES["round_robin"], RULES, NOON)
    assert busy == place(with_shown(ANN, reading()), STRATEGIES["round_robin"], RULES, NOON)


@given(st.text(), st.sampled_from(NAMES))
def test_the_toss_is_the_same_everywhere(conversation: str, name: AccountId) -> None:
    """The same pair always draws the same number, whatever the names hold."""
    assert toss(ConversationId(conversation), name) == toss(ConversationId(conversation), name)


def test_the_toss_spreads_conversations() -> None:
    """Accounts in the same place share conversations about evenly; one that leaves moves only its own."""
    among = [with_shown(name) for name in NAMES]
    won, without = (
        {t: pick(free(*some, talk=f"talk {t}"), PERISHING, RULES).account for t in range(300)}
        for some in (among, among[:2])
    )

    assert all(70 < list(won.values()).count(name) < 130 for name in NAMES)
    assert all(won[t] in (CAT, without[t]) for t in won)


def test_the_toss_is_known() -> None:
    """Its value is pinned: another process, another version, the same choice."""
    assert toss(TALK, ANN).hex() == "fdcb60eb3bb346ec"
    assert toss(None, BEN) != toss(TALK, BEN)


REASONS = [
    (account(kind=Kind.API_KEY), (), "new: API key, no subscription may serve"),
    (account(rank=1), (reading(used=1.0),), "new: nearly full, like every other"),
    (account(rank=1), (), "new: rank 1"),
    (account(), (), "unmeasured"),
    (account(), (reading("5h"),), "new: fewest requests in flight"),
    (account(), (reading(used=0.5, resets=24),), "new: 7d perishes soonest (0.021/h)"),
]


@pytest.mark.parametrize(("one", "shown", "expected"), REASONS)
def test_the_reason_names_what_decided(one: Account, shown: tuple[Reading, ...], expected: str) -> None:
    """A few words say why the account was liked best."""
    assert pick(free(Candidate(account=one, readings=shown)), PERISHING, RULES).because == expected


def test_a_strategy_that_reads_ranks_gives_its_own_reason() -> None:
    """The rank is its words, not those of who stands in front."""
    found = pick(free(Candidate(account=account(rank=1))), STRATEGIES["failover"], RULES)

    assert found.because == "new: rank 1"
    again = pick(free(Candidate(account=account(rank=1)), latest=ANN), STRATEGIES["failover"], RULES)
    assert again.because == "new: it has not refused"
