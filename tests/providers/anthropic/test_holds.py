"""For how long, and for what, a refusal holds an account."""

from datetime import UTC, datetime, timedelta

from providers.anthropic import holds, signs
from providers.contract import Answer
from routing.verdicts import AuthLadder, HoldOrder, SoonestReset
from tests.providers.samples import NOON, OPUS, RULES, at, unified


def shown(**fields: str) -> signs.Signs:
    return signs.Signs(answer=Answer(status=429, headers=unified(**fields)), demand=OPUS, rules=RULES, now=NOON)


def test_a_limit_of_the_account() -> None:
    """A shared window holds the account for every family, until it is counted anew."""
    hold = holds.limit(shown(status="rejected", w7d_status="rejected", w7d_reset=at(days=2)))
    assert hold == HoldOrder(until=NOON + timedelta(days=2), windows=frozenset({"7d"}))


def test_a_limit_of_a_line() -> None:
    """A line's window holds the account for the asked family alone."""
    hold = holds.limit(shown(w7d__oi_status="rejected", w7d__oi_reset=at(days=2)))
    assert hold == HoldOrder(until=NOON + timedelta(days=2), family=OPUS.family, windows=frozenset({"7d_oi"}))
    claimed = holds.limit(shown(status="rejected", representative_claim="seven_day_opus", reset=at(days=2)))
    assert claimed == HoldOrder(until=NOON + timedelta(days=2), family=OPUS.family, windows=frozenset({"7d_opus"}))


def test_a_limit_that_names_no_window() -> None:
    """It rests on the claimed window, or on none."""
    assert holds.limit(shown(status="rejected", representative_claim="five_hour")).windows == {"5h"}
    assert holds.limit(shown(status="rejected")).windows == frozenset()


def test_spans() -> None:
    """The other holds last as long as the rules say, for the account or the asked family."""
    s, rules = shown(status="allowed"), RULES.hold
    assert holds.throttle(s) == HoldOrder(until=s.after(RULES.retry.throttle_default_s))
    assert holds.credit(s) == HoldOrder(until=s.after(rules.credits_s), family=OPUS.family)
    assert holds.forbidden(s) == HoldOrder(until=s.after(rules.forbidden_s), family=OPUS.family)
    assert holds.balance(s) == HoldOrder(until=s.after(rules.balance_s))
    assert holds.auth(s) == HoldOrder(until=AuthLadder())
    assert holds.month(s) == HoldOrder(until=datetime(2026, 12, 1, tzinfo=UTC))
    assert holds.soonest_reset(s) == HoldOrder(until=SoonestReset(otherwise=timedelta(seconds=rules.credits_s)))


def test_overage() -> None:
    """Only the request's own status tells of paid extra use."""
    assert holds.is_overage(shown(status="rejected"))
    assert not holds.is_overage(shown(status="allowed", w7d_status="rejected", overage_status="rejected"))
