"""Tests of routing/scoring.py."""

from dataclasses import replace
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routing.readings import Reading, Status
from routing.rules import Routing
from routing.scoring import STRATEGIES, Place, best, is_nearly_full, place, reason, toss
from routing.words import Account, AccountId, ConversationId, Kind
from tests.routing.made import ANN, BEN, CAT, NAMES, NOON, account, accounts, fractions, moments, reading, readings

TALK = ConversationId("talk")
PERISHING = STRATEGIES["perishing"]


def spot(one: Account, *shown: Reading, leases: int = 0, now: datetime = NOON) -> Place:
    """The account's key at noon."""
    return place(one, shown, leases=leases, rules=Routing(), now=now)


@given(accounts, st.lists(readings, max_size=4), st.integers(0, 3), fractions, moments)
def test_more_use_is_never_better_liked(
    one: Account, shown: list[Reading], leases: int, more: float, now: datetime
) -> None:
    """Using more of any window never brings an account forward."""
    fuller = [r if r.used is None else replace(r, used=r.used + more) for r in shown]

    assert spot(one, *shown, leases=leases, now=now) <= spot(one, *fuller, leases=leases, now=now)


@given(accounts, st.lists(readings, max_size=4), st.integers(0, 3), moments)
def test_more_leases_are_never_better_liked(one: Account, shown: list[Reading], leases: int, now: datetime) -> None:
    """A request in flight never brings its account forward."""
    assert spot(one, *shown, leases=leases, now=now) <= spot(one, *shown, leases=leases + 1, now=now)


places = st.builds(
    Place, st.booleans(), st.booleans(), st.sampled_from([1.0, 2.0]), st.integers(0, 2), st.floats(-1, 1), st.just(0)
)


@given(st.lists(places, min_size=3, max_size=3), st.text())
def test_no_account_has_a_better_key_than_the_best(keys: list[Place], conversation: str) -> None:
    """The best is the smallest, and dropping any other changes nothing."""
    spots = list(zip(keys, NAMES, strict=True))
    chosen = best(spots, ConversationId(conversation))

    assert all(chosen[0] <= key for key in keys)
    for dropped in spots:
        assert dropped == chosen or chosen == best([s for s in spots if s != dropped], ConversationId(conversation))


ORDER = [
    spot(account(rank=1), reading(used=0.9)),
    spot(account(kind=Kind.API_KEY, rank=1)),
    spot(account(rank=2)),
    spot(account()),
    spot(account(), reading(used=0.1, resets=24)),
    spot(account(), reading(used=0.1, resets=24), leases=1),
    spot(account(), reading(used=0.5, resets=24)),
    spot(account(), reading(used=0.1, resets=100)),
    spot(account(), reading("5h", 0.1)),
    spot(account(), leases=1),
    spot(account(), leases=2),
    spot(account(rank=1), reading(used=0.98)),
    spot(account(), reading(used=0.2), reading("5h", 0.2, status=Status.REJECTED)),
    spot(account(kind=Kind.API_KEY)),
]


@pytest.mark.parametrize("index", range(len(ORDER) - 1))
def test_order_of_a_fresh_choice(index: int) -> None:
    """Ranked, idle unmeasured, most perishing, fewest leases, busy unmeasured, nearly full, API key."""
    assert ORDER[index] < ORDER[index + 1]


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


def test_scores_are_compared_to_nine_digits() -> None:
    """What differs only by the rounding of a division is equal."""
    assert spot(account(), reading(used=0.3)) == spot(account(), reading(used=0.1 + 0.2))


@given(st.text(), st.sampled_from(NAMES))
def test_the_toss_is_the_same_everywhere(conversation: str, name: AccountId) -> None:
    """The same pair always draws the same number, whatever the names hold."""
    assert toss(ConversationId(conversation), name) == toss(ConversationId(conversation), name)


def test_the_toss_spreads_conversations() -> None:
    """Accounts in the same place share conversations about evenly; one that leaves moves only its own."""
    spots = [(spot(account(name)), name) for name in NAMES]
    won = {t: best(spots, ConversationId(f"talk {t}"))[1] for t in range(300)}
    without = {t: best(spots[:2], ConversationId(f"talk {t}"))[1] for t in range(300)}

    assert all(70 < list(won.values()).count(name) < 130 for name in NAMES)
    assert all(won[t] in (CAT, without[t]) for t in won)


def test_the_toss_is_known() -> None:
    """Its value is pinned: another process, another version, the same choice."""
    assert toss(TALK, ANN).hex() == "fdcb60eb3bb346ec"
    assert toss(None, BEN) != toss(TALK, BEN)


@pytest.mark.parametrize(
    ("one", "shown", "expected"),
    [
        (account(kind=Kind.API_KEY), (), "new: API key, no subscription may serve"),
        (account(rank=1), (reading(used=1.0),), "new: nearly full, like every other"),
        (account(rank=1), (), "new: rank 1"),
        (account(), (), "unmeasured"),
        (account(), (reading("5h"),), "new: fewest requests in flight"),
        (account(), (reading(used=0.5, resets=24),), "new: 7d perishes soonest (0.021/h)"),
    ],
)
def test_the_reason_names_what_decided(one: Account, shown: tuple[Reading, ...], expected: str) -> None:
    """A few words say why the account was liked best."""
    score = PERISHING.score(shown, NOON)

    assert expected == reason(one, spot(one, *shown), score, PERISHING)
