"""Reasons in a few words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from providers.anthropic import phrases, signs
from providers.contract import Answer
from routing.words import Demand, Family
from tests.providers.samples import NOON, OPUS, RULES, at, error, unified


def shown(
    status: int = 429, headers: dict[str, str] | None = None, body: bytes = b"", demand: Demand = OPUS
) -> signs.Signs:
    return signs.Signs(
        answer=Answer(status=status, headers=headers or {}, body=body), demand=demand, rules=RULES, now=NOON
    )


@given(message=st.text(max_size=2000))
def test_a_quote_is_one_short_line(message: str) -> None:
    """Whatever an upstream says, a log gets one printable line of it."""
    line = phrases.quote(message)
    assert len(line) <= 160
    assert line.isprintable()
    assert line == line.strip()


@pytest.mark.parametrize(
    ("message", "held", "limit"),
    [
        ("This account has been placed on hold", True, False),
        ("ACCOUNT ON HOLD", True, False),
        ("accounts on holding", False, False),
        ("You have reached your specified workspace API usage limits. You will regain access on", False, True),
        ("reached your specified usage limits", False, True),
        ("reached the usage limits", False, False),
    ],
)
def test_known_phrases(message: str, held: bool, limit: bool) -> None:
    """Some refusals are known by their words alone."""
    assert (phrases.is_on_hold(message), phrases.is_usage_limit(message)) == (held, limit)


def test_limits() -> None:
    """A limit names its windows and its end, by the hour or by the day."""
    soon = shown(headers=unified(w5h_status="rejected", w5h_reset=at(hours=2, minutes=20)))
    assert phrases.limit(soon) == "5h limit until 14:20 UTC"
    late = shown(headers=unified(w7d_status="rejected", w7d_reset=at(days=2, hours=21), w5h_status="rejected"))
    assert phrases.limit(late) == "5h and 7d limit until Thu 3 Dec 09:00 UTC"
    assert phrases.overage(late) == "paid extra usage: 5h and 7d limit until Thu 3 Dec 09:00 UTC"
    assert phrases.limit(shown(headers=unified(status="rejected"))) == "limit until 12:05 UTC"


def test_the_other_reasons() -> None:
    """Each row says in a few words what happened."""
    paid = shown(200, unified(status="rejected"))
    no = shown(403, body=error("permission_error", "Request\nnot  allowed"))
    assert phrases.answered(shown(200)) == "answered"
    assert phrases.answered(paid) == "answered as paid extra usage"
    assert phrases.quoted(no) == "Request not allowed"
    assert phrases.quoted(shown(402)) == "status 402"
    assert phrases.no_credits(shown()) == "no credits for opus"
    assert (
        phrases.no_credits(shown(demand=Demand(provider="x", model="", family=Family(""))))
        == "no credits for this model"
    )
    assert phrases.spend_limit(shown()) == "spend limit of this month reached"
    assert phrases.throttled(shown()) == "throttled"
    assert phrases.throttled(shown(headers={"retry-after": "1.5"})) == "throttled for 1.5 s"
    assert phrases.bare(shown()) == "429 without usage headers"
    assert phrases.bare(shown(body=error(message="Error"))) == "429 without usage headers: Error"
    assert phrases.locked_out(no) == "login refused: Request not allowed"
    assert phrases.forbidden(no) == "forbidden: Request not allowed"
    assert phrases.overloaded(shown(529)) == "overloaded (529)"
    assert phrases.server_error(shown(502)) == "server error (502)"
    assert phrases.client_fault(shown(413)) == "the request itself: 413"
    assert phrases.client_fault(no) == "the request itself: 403 permission_error"
