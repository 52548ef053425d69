"""Tests of routing/behind/perishing.py."""

import pytest
from hypothesis import given

from routing.strategies.contract import Candidate, Free
from routing.strategies.perishing import score
from tests.routing.behind.said import week, words
from tests.routing.made import ANN, BEN, CAT, reading
from tests.routing.strategies.contract import free, frees, with_shown

NEAR = with_shown(ANN, reading("7d", 0.5, resets=25), reading("5h", 0.1, resets=1))
TOLD = [
    ("far from the best", with_shown(ANN, *week(0.5, 24)), with_shown(BEN, *week(0.5, 80)), "7d perishes later (0.006/h)"),
    (
        "under pressure",
        with_shown(ANN, *week(0.5, 24)),
        with_shown(BEN, *week(0.5, 12), pressed=True),
        "under pressure, though 7d perishes (0.042/h)",
    ),
    (
        "near, and sooner",
        NEAR,
        with_shown(BEN, reading("7d", 0.5, resets=22), reading("5h", 0.1, resets=3)),
        "7d perishes sooner (0.023/h), but its 5h resets later",
    ),
    (
        "near, and later",
        NEAR,
        with_shown(BEN, reading("7d", 0.5, resets=27), reading("5h", 0.1, resets=3)),
        "7d perishes nearly as soon (0.019/h), but its 5h resets later",
    ),
    (
        "near, and no 5h",
        NEAR,
        with_shown(BEN, reading("7d", 0.5, resets=25), reading("5h", 0.1, resets=None)),
        "7d perishes as soon (0.020/h), but no 5h reset of it is to come",
    ),
    (
        "the same 5h",
        NEAR,
        with_shown(BEN, reading("7d", 0.5, resets=27), reading("5h", 0.1, resets=1)),
        "7d perishes later (0.019/h)",
    ),
    (
        "the same but for use",
        NEAR,
        with_shown(BEN, reading("7d", 0.5, resets=25), reading("5h", 0.4, resets=1)),
        "7d perishes as soon (0.020/h), but 5h is more used (40%)",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("first", "second", "says"), [c[1:] for c in TOLD], ids=[c[0] for c in TOLD])
def test_who_comes_behind_is_told_why(first: Candidate, second: Candidate, says: str) -> None:
    """By the line of the law that decided."""
    told = words("perishing", free(second, first))

    assert list(told) == [ANN, BEN]
    assert told[BEN] == says


@pytest.mark.parametrize(
    ("after", "says"),
    [
        (22, "7d perishes sooner (0.023/h), but by too little to leave ann"),
        (24, "7d perishes as soon (0.021/h), but the conversation was on ann"),
        (26, "7d perishes later (0.019/h)"),
    ],
)
def test_a_conversations_own_account_is_kept_for_a_small_difference(after: float, says: str) -> None:
    """The other perishes sooner, and that is said; never where it does not."""
    own, other = with_shown(ANN, *week(0.5, 24)), with_shown(BEN, *week(0.5, after))

    assert words("perishing", free(other, own, home=ANN))[BEN] == says


def test_an_own_account_that_others_are_worth_leaving_for_may_still_be_first() -> None:
    """Near the best, with the sooner 5-hour reset: that decided, not that the conversation was there."""
    own = with_shown(ANN, reading("7d", 0.5, resets=24), reading("5h", 0.1, resets=1))
    other = with_shown(BEN, reading("7d", 0.5, resets=19.8), reading("5h", 0.1, resets=3))

    assert words("perishing", free(other, own, home=ANN))[BEN] == (
        "7d perishes sooner (0.025/h), but its 5h resets later"
    )


def test_the_latest_choice_is_kept_for_a_small_difference() -> None:
    """So that readings which jitter move nothing."""
    own = with_shown(ANN, reading("7d", 0.505, resets=24))
    other, third = with_shown(BEN, reading("7d", 0.5, resets=24)), with_shown(CAT, reading("7d", 0.505, resets=24))
    told = words("perishing", free(other, third, own, latest=ANN))

    assert told[BEN] == "7d perishes as soon (0.021/h), but better by too little to change over from ann"
    assert told[CAT] == "as good, but ann had the latest choice"


@given(frees)
def test_who_is_said_to_perish_later_does(choice: Free) -> None:
    """And who is said to perish sooner; what is said of pressure, of the own account and of the latest is so too."""
    told = words("perishing", choice)
    front = {one.account.id: one for one in choice.candidates if one.account.id in told}
    first, *others = told
    best = score(front[first], choice.now)
    for one in others:
        own = score(front[one], choice.now)
        if own is None or best is None:
            continue
        assert "perishes later" not in told[one] or own.value <= best.value
        assert "perishes sooner" not in told[one] or own.value >= best.value
        assert "under pressure" not in told[one] or (front[one].pressed and not front[first].pressed)
        assert "to leave" not in told[one] or choice.home == first
        assert "change over" not in told[one] or choice.latest is not None
