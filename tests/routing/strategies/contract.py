"""What every strategy must keep; a strategy's test file subclasses this once per setting."""

import math
from dataclasses import replace
from datetime import datetime

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from routing.readings import Reading
from routing.strategies.contract import Strategy
from tests.routing.made import fractions, moments, readings

by_each_subclass = settings(suppress_health_check=[HealthCheck.differing_executors])  # no state but the strategy
shown = st.lists(readings, max_size=4, unique_by=lambda r: r.window.key)


class StrategyContract:
    """Inherited by the test class of each strategy."""

    strategy: Strategy

    @by_each_subclass
    @given(shown, st.data(), fractions, moments)
    def test_more_use_never_raises_the_score(
        self, before: list[Reading], data: st.DataObject, more: float, now: datetime
    ) -> None:
        """Using more of any one window never makes an account better liked."""
        used = [r for r in before if r.used is not None]
        one = data.draw(st.sampled_from(used)) if used else None
        after = [replace(r, used=r.used + more) if r is one and r.used is not None else r for r in before]
        scores = [self.strategy.score(each, now) for each in (before, after)]

        assert (scores[0] is None) is (scores[1] is None)
        assert scores[0] is None or scores[1] is None or scores[1].value <= scores[0].value

    @by_each_subclass
    @given(shown, moments)
    def test_scores_are_finite_numbers_of_a_window(self, before: list[Reading], now: datetime) -> None:
        """A score is finite, is not below 0, and names one of the windows it was given."""
        score = self.strategy.score(before, now)

        assert score is None or (math.isfinite(score.value) and score.value >= 0)
        assert score is None or score.window in {r.window.key for r in before}

    @by_each_subclass
    @given(shown, moments)
    def test_the_order_of_readings_does_not_matter(self, before: list[Reading], now: datetime) -> None:
        """The same readings give the same score in any order."""
        scores = [self.strategy.score(each, now) for each in (before, before[::-1])]

        assert len({score and score.value for score in scores}) == 1

    @by_each_subclass
    @given(shown, moments)
    def test_the_reason_can_be_said(self, before: list[Reading], now: datetime) -> None:
        """The words for a choice take the window and the value."""
        score = self.strategy.score(before, now)

        assert score is None or score.window in self.strategy.reason.format(window=score.window, value=score.value)
