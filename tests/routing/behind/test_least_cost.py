"""Tests of routing/behind/least_cost.py."""

from dataclasses import replace

import pytest

from routing.strategies.contract import Candidate
from routing.words import Kind
from tests.routing.behind.said import week, words
from tests.routing.made import ANN, BEN, CAT, account, reading
from tests.routing.strategies.contract import free, with_shown

USED = with_shown(ANN, *week(0.1, 24))
RANKED = replace(USED, account=account(ANN, rank=1))
KEY = Candidate(account=account(BEN, kind=Kind.API_KEY, rank=1), readings=week(0.0, 24))
TOLD = [
    ("an API key of the same rank", RANKED, KEY, "an API key, after every subscription"),
    ("more used", USED, with_shown(BEN, *week(0.5, 24)), "more used of its plan (50%)"),
    ("unknown", USED, with_shown(BEN, reading("7d", None)), "how much of its plan is used is not known"),
    ("busier", USED, with_shown(BEN, *week(0.1, 24), leases=1), "as good, but more is in flight there than on ann"),
    ("later given", USED, with_shown(BEN, *week(0.1, 24), given_at=4), "as good, but used more recently than ann"),
]


@pytest.mark.parametrize(("first", "second", "says"), [c[1:] for c in TOLD], ids=[c[0] for c in TOLD])
def test_who_comes_behind_is_told_why(first: Candidate, second: Candidate, says: str) -> None:
    """By the first line of the law that differs."""
    told = words("least_cost", free(second, first))

    assert list(told) == [ANN, BEN]
    assert told[BEN] == says


def test_what_is_less_used_by_noise_alone_is_told_so() -> None:
    """Beside the idle latest choice; one that is as much used comes after it too."""
    of = [with_shown(ANN, *week(0.5, 24)), with_shown(BEN, *week(0.49, 24)), with_shown(CAT, *week(0.5, 24))]
    told = words("least_cost", free(*of, latest=ANN))

    assert told[BEN] == "less used of its plan (49%), but by too little to change over from ann"
    assert told[CAT] == "as good, but ann had the latest choice"


def test_keys_of_which_no_use_is_known_take_turns() -> None:
    """The fourth line speaks."""
    keys = [Candidate(account=account(name, kind=Kind.API_KEY), given_at=at) for name, at in ((ANN, 1), (BEN, 2))]

    assert words("least_cost", free(*keys))[BEN] == "as good, but used more recently than ann"
