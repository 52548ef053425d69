"""Tests of routing/behind/soonest_reset.py."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routing.readings import Reading
from routing.strategies.soonest_reset import parts
from routing.words import AccountId
from tests.routing.behind.said import words
from tests.routing.made import ANN, BEN, CAT, NOON, reading, readings
from tests.routing.strategies.contract import free, with_shown

MINUTE = 1 / 60  # of an hour
BASE = (reading("7d", 0.1, resets=24), reading("5h", 0.5, resets=2))


def session(used: float | None, *, resets: float | None = 2) -> Reading:
    """A reading of the 5-hour window."""
    return reading("5h", used, resets=resets)


TOLD = [
    ("a later week", BASE, (reading("7d", 0.1, resets=90), session(0.1)), "7d resets 66 h later"),
    ("by minutes", BASE, (reading("7d", 0.1, resets=24 + 5 * MINUTE), session(0.1)), "7d resets 5 min later"),
    ("the line's week is named", BASE, (reading("7d_opus", 0.1, resets=48), session(0.1)), "7d_opus resets 24 h later"),
    ("farther than a week", BASE, (reading("7d", 0.1, resets=300),), "7d resets later"),
    ("no week", BASE, (session(0.1),), "no weekly reset of it is to come"),
    ("a week whose use is unknown", BASE, (reading("7d", None, resets=1), session(0.1)), "no weekly reset of it is to come"),
    ("a week that began anew", BASE, (reading("7d", 0.1, resets=0), session(0.1)), "no weekly reset of it is to come"),
    ("a later session", BASE, (BASE[0], session(0.1, resets=4)), "7d resets as soon, but 5h resets 2 h later"),
    ("by less", BASE, (BASE[0], session(0.1, resets=2.5)), "7d resets as soon, but 5h resets 30 min later"),
    ("no session", BASE, (BASE[0],), "7d resets as soon, but no 5h reset of it is to come"),
    ("no weeks, a later session", (session(0.5),), (session(0.1, resets=4),), "5h resets 2 h later"),
    ("more used", BASE, (BASE[0], session(0.7)), "7d and 5h reset as soon, but 5h is more used (70%)"),
    ("no weeks, more used", (session(0.5),), (session(0.7),), "5h resets as soon, but 5h is more used (70%)"),
    ("no resets", (session(0.5, resets=None),), (session(0.7, resets=None),), "5h is more used (70%)"),
    ("nothing", BASE, (reading("1d", 0.1),), "too little is known of it"),
]  # fmt: skip


@pytest.mark.parametrize(("first", "second", "says"), [c[1:] for c in TOLD], ids=[c[0] for c in TOLD])
def test_who_comes_behind_is_told_why(first: tuple[Reading, ...], second: tuple[Reading, ...], says: str) -> None:
    """By the first line of the law that differs."""
    told = words("soonest_reset", free(with_shown(BEN, *second), with_shown(ANN, *first)))

    assert list(told) == [ANN, BEN]
    assert told[BEN] == says


def test_what_is_better_by_noise_alone_is_told_so() -> None:
    """Beside the idle latest choice, which is kept; also what is as good, and what is busier."""
    latest = with_shown(ANN, *BASE)
    less, busy = with_shown(BEN, BASE[0], session(0.49)), with_shown(CAT, *BASE, leases=1)
    told = words("soonest_reset", free(busy, less, latest, latest=ANN))
    assert told[BEN] == "7d and 5h reset as soon, but 5h is less used (49%) by too little to change over from ann"
    assert told[CAT] == "as good, but more is in flight there than on ann"

    alike = words("soonest_reset", free(with_shown(BEN, *BASE), latest, latest=ANN))
    assert alike[BEN] == "as good, but ann had the latest choice"


LINES = (
    r".* resets (\d+ (h|min) )?later|no weekly reset of it is to come",
    r"(.* resets as soon, but )?(5h\S* resets (\d+ (h|min) )?later|no 5h reset of it is to come)",
    r"(.* as soon, but )?5h\S* is (more|less) used \(\d+%\).*",
)
shown = st.lists(readings, min_size=1, max_size=4, unique_by=lambda r: r.window.key).map(tuple)


@given(shown, shown, st.none() | st.sampled_from([ANN, BEN]))
def test_the_line_that_is_told_is_the_first_that_differs(
    one: tuple[Reading, ...], other: tuple[Reading, ...], latest: AccountId | None
) -> None:
    """Whatever is known of both; the account that got the latest choice is not left for noise."""
    pair = [with_shown(name, *its) for name, its in ((ANN, one), (BEN, other))]
    told = words("soonest_reset", free(*pair, latest=latest))
    first, second = told
    if any(its in told[second] for its in ("nearly full", "known of it")) or "fewest" in told[first]:
        return
    found = {name: parts(its, NOON) for name, its in ((ANN, one), (BEN, other))}
    facts = [(week.much, session.much, left) for week, session, _, left in (found[name] for name in (ANN, BEN))]
    differs = next((at for at in range(3) if facts[0][at] != facts[1][at]), None)

    if differs is None:
        assert told[second].startswith("as good")
    else:
        assert re.fullmatch(LINES[differs], told[second])
