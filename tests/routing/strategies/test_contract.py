"""Tests of routing/strategies/contract.py."""

import pytest

from routing.scoring import STRATEGIES
from routing.strategies.contract import Score
from tests.routing.made import NOON


@pytest.mark.parametrize("name", STRATEGIES)
def test_every_listed_strategy_answers_the_one_verb(name: str) -> None:
    """Of nothing known, each strategy says nothing."""
    assert STRATEGIES[name].score((), NOON) is None


def test_a_score_is_its_value_first() -> None:
    """Scores compare by value."""
    assert Score(0.1, "7d") < Score(0.2, "5h")
