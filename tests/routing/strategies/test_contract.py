"""Tests of routing/strategies/contract.py."""

import pytest

from routing.scoring import STRATEGIES
from routing.strategies.contract import Candidate, Liking
from tests.routing.made import ANN, BEN, account, reading, window
from tests.routing.strategies.contract import RESERVES, free, with_shown


@pytest.mark.parametrize("name", STRATEGIES)
def test_every_listed_strategy_answers_the_one_verb(name: str) -> None:
    """Two accounts with readings are both liked by every strategy."""
    choice = free(*(with_shown(one, reading(), reading("5h", 0.2, resets=3)) for one in (ANN, BEN)))

    assert set(STRATEGIES[name].order(choice)) == {ANN, BEN}


def test_who_reads_what() -> None:
    """Each strategy says by flags what is to be found out for it; pressure costs the most, so few read it."""
    flags = ("reads_ranks", "reads_windows", "reads_pressure")
    readers = {flag: {name for name, strategy in STRATEGIES.items() if getattr(strategy, flag)} for flag in flags}

    assert readers == {
        "reads_ranks": {"priority", "failover", "first_then_spill"},
        "reads_windows": set(STRATEGIES) - {"priority", "failover", "first_then_spill", "round_robin"},
        "reads_pressure": {"perishing"},
    }


def test_likings_compare_by_key() -> None:
    """The smaller key is the better."""
    assert Liking((0.1, 5), "b") < Liking((0.2, 0), "a")


def test_a_reserve_is_by_the_windows_length() -> None:
    """A model line's week has the week's reserve; without any it is nothing."""
    one = Candidate(account=account(), reserves=RESERVES)

    assert [one.reserve(window(key)) for key in ("5h", "7d", "7d_opus", "1d")] == [0.1, 0.2, 0.2, 0.0]
    assert Candidate(account=account()).reserve(window("7d")) == 0.0
