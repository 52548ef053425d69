"""Tests of routing/rules.py."""

from routing.rules import Rules
from routing.scoring import STRATEGIES


def test_defaults_are_the_contracts_numbers() -> None:
    """Without settings, the numbers are those of docs/verdicts.md."""
    rules = Rules()

    assert rules.retry.connect == (0.25, 1.0)
    assert rules.retry.server_error == (1.0,)
    assert rules.retry.overloaded == (1.0, 2.0)
    assert (rules.retry.throttle_default_s, rules.retry.throttle_wait_s, rules.retry.budget_s) == (2.0, 10.0, 10.0)
    assert (rules.hold.throttle_s, rules.hold.unknown_s, rules.hold.forbidden_s) == (60.0, 300.0, 600.0)
    assert (rules.hold.auth_s, rules.hold.auth_max_s) == (900.0, 21600.0)
    assert (rules.hold.credits_s, rules.hold.balance_s) == (3600.0, 86400.0)
    assert (rules.wait.max, rules.wait.margin_s) == (240.0, 30.0)


def test_default_strategy_exists() -> None:
    """The strategy that is used when none is set is one that there is."""
    assert Rules().routing.strategy in STRATEGIES
