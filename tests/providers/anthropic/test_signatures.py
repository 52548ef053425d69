"""By what the rows know an answer."""

import pytest

from providers.anthropic import signatures as sig
from providers.anthropic import signs
from providers.contract import Answer
from routing.rules import Overage, Routing, Rules
from tests.providers.samples import NOON, OPUS, RULES, error, unified

SPENT = unified(status="rejected")


def shown(status: int = 429, headers: dict[str, str] | None = None, body: bytes = b"", rules: Rules = RULES,
          event: bytes | None = None) -> signs.Signs:  # fmt: skip
    answer = Answer(status=status, headers=headers or {}, body=body, error_event=event)
    return signs.Signs(answer=answer, demand=OPUS, rules=rules, now=NOON)


def test_statuses() -> None:
    """A signature holds for its status alone, and then only with what else it asks."""
    assert sig.on(429)(shown())
    assert not sig.on(400)(shown())
    assert not sig.on(429, sig.coded("x"))(shown())
    assert sig.on(429, sig.coded("x"))(shown(body=error(code="x")))
    assert sig.on_server_error()(shown(500))
    assert not sig.on_server_error()(shown(600))
    assert not sig.on_server_error(sig.forbids_retry)(shown(500))


@pytest.mark.parametrize(
    ("message", "found"),
    [("Out Of Extra Usage.", True), ("extra usage", False), ("", False)],
)
def test_phrases(message: str, found: bool) -> None:
    """A phrase is found in any case, and only whole."""
    assert sig.says("nothing else", "out of extra usage")(shown(body=error(message=message))) is found


def test_successes() -> None:
    """A success counts unless it was paid extra against the wish, or its stream began with an error."""
    allow = Rules(routing=Routing(overage=Overage.ALLOW))
    assert sig.is_answered(shown(200))
    assert not sig.is_answered(shown(200, SPENT))
    assert sig.is_avoided(shown(200, SPENT))
    assert sig.is_answered(shown(200, SPENT, rules=allow))
    assert not sig.is_answered(shown(200, event=b"{}"))
    assert not sig.is_answered(shown(500))


def test_refusals() -> None:
    """Each kind of refusal is known by what sets it apart."""
    assert sig.is_limit(shown(headers=SPENT))
    assert not sig.is_line_limit(shown(headers=SPENT))
    assert sig.is_line_limit(shown(headers=SPENT | unified(representative_claim="seven_day_opus")))
    assert sig.is_throttle(shown(headers=unified(status="allowed")))
    assert sig.is_short_throttle(shown(headers=unified(status="allowed") | {"retry-after": "10"}))
    assert not sig.is_short_throttle(shown(headers=unified(status="allowed") | {"retry-after": "10.1"}))
    assert not sig.is_short_throttle(shown())
    assert not sig.is_startup(shown())
    assert sig.is_account_on_hold(shown(body=error(message="Your account was put on hold")))
    assert not sig.is_account_on_hold(shown(body=error(message="hold on, my accounting")))
    assert sig.is_usage_limit(shown(body=error(message="You have reached your specified API usage limits")))
    assert sig.is_overloaded(shown(529))
    assert sig.is_overloaded(shown(500, body=error("overloaded_error")))
    assert sig.forbids_retry(shown(headers={"x-should-retry": " FALSE"}))
    assert not sig.forbids_retry(shown(headers={"x-should-retry": "0"}))
