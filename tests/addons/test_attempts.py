"""addons/attempts.py: a refused attempt is kept as a flow of its own where somebody looks."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest
from mitmproxy import ctx, http

from addons.attempts import MARK, keep, story
from routing.decisions import Use, Wait
from routing.trail import Attempt
from routing.verdicts import Verdict, VerdictKind
from routing.words import AccountId
from tests.addons import made

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
POOL = made.accounts("work", "home")
WORK, HOME = POOL
REFUSED = Attempt(
    account=WORK,
    verdict=Verdict(row=13, kind=VerdictKind.LIMIT, because="7d limit until Thu 09:00"),
    sent_at=NOON,
    ended_at=NOON,
    status=429,
)


class Sink:
    """A window and a file in one: what was shown and what was saved."""

    def __init__(self) -> None:
        self.shown: list[http.HTTPFlow] = []
        self.saved: list[http.HTTPFlow] = []
        self.stream = True

    def add(self, flows: list[http.HTTPFlow]) -> None:
        self.shown += flows

    def save_flow(self, flow: http.HTTPFlow) -> None:
        self.saved.append(flow)


@pytest.fixture
def sink(monkeypatch: pytest.MonkeyPatch) -> Sink:
    """Somebody looks at flows, and saves them."""
    sink = Sink()
    monkeypatch.setattr(ctx, "master", SimpleNamespace(addons=SimpleNamespace(get=lambda _name: sink)))
    return sink


@pytest.mark.parametrize(
    ("choice", "then"),
    [
        (Use(account=HOME, because="hop"), "went to home"),
        (Use(account=WORK, because="again"), "sent again"),
        (Use(account=AccountId("gone"), because="hop"), "went to gone"),
        (Wait(until=NOON + timedelta(seconds=5), account=WORK, because="again"), "waits until 12:00:05 UTC"),
    ],
)
def test_the_story_says_what_was_refused_and_what_came_next(choice: Use | Wait, then: str) -> None:
    """One line for people, such as mitmweb shows in its comment column."""
    assert story(REFUSED, choice, POOL) == f"refused on work: 7d limit until Thu 09:00; {then}"


def test_an_attempt_becomes_a_flow_of_its_own(sink: Sink) -> None:
    """It is marked, told, dead, and apart from the flow that goes on; window and file get the same."""
    flow = made.flow()
    flow.response = http.Response.make(429, b"no")
    flow.live = True

    keep(flow, REFUSED, Use(account=HOME, because="hop"), POOL)
    (kept,) = sink.shown
    assert sink.saved == [kept]
    assert (kept.live, kept.marked, kept.comment) == (False, MARK, story(REFUSED, Use(account=HOME, because=""), POOL))
    assert kept.id != flow.id
    assert kept.response is not None
    assert (kept.response.status_code, kept.response.content) == (429, b"no")
    assert (flow.live, flow.marked, flow.comment) == (True, "", "")


def test_an_attempt_without_an_answer_is_kept_with_its_fault(sink: Sink) -> None:
    """What broke stands where mitmproxy shows errors."""
    keep(made.flow(), REFUSED, Use(account=HOME, because="hop"), POOL)

    (kept,) = sink.shown
    assert kept.error is not None
    assert kept.error.msg == REFUSED.verdict.because


def test_nothing_is_kept_where_nobody_looks() -> None:
    """Without a window and a file a refused attempt costs no memory."""
    flow = made.flow()

    keep(flow, REFUSED, Use(account=HOME, because="hop"), POOL)
    assert (flow.comment, flow.marked) == ("", "")
