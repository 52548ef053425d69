"""Asking for an account's windows, by either way."""

import asyncio
from datetime import timedelta

import pytest

from addons.measure import Measure
from providers.anthropic.minimal import MODEL
from providers.anthropic.usage import Said
from routing.readings import Source
from routing.words import Kind
from tests.addons.measuring import HOME, PATIENCE, WORK, Desk, unified
from tests.routing.made import hours, limit, reading
from tests.upstream import Upstream, closed_port
from tests.upstream.side import MESSAGES, USAGE
from tests.upstream.usage import usage_limited, usage_of


def line(model: str | None, *, ended: str = "complete", path: str = MESSAGES) -> dict[str, object]:
    """What the request log says of a request that ended."""
    return {"model": model, "ended": ended, "path": path}


def test_use_is_told_to_the_router() -> None:
    """In fractions, from the source that it is of."""
    with Upstream() as upstream:
        desk = Desk(upstream)
        upstream.script("work", usage_of(five_hour=46, seven_day=0.6), path=USAGE)
        found = asyncio.run(desk.measure.by_usage(WORK))

        assert found.said is Said.READ
        assert desk.used() == {"5h": 0.46, "7d": pytest.approx(0.006)}
        assert {window.source for window in desk.picture().windows} == {Source.USAGE}
        assert desk.woken == 0


def test_x26_a_hold_that_outlives_its_window_ends_and_waiting_requests_choose_again() -> None:
    """Held for days, and the provider says 2 % (X26)."""
    with Upstream() as upstream:
        desk = Desk(upstream)
        desk.met(limit(end=100_000), reading("7d", 1.0))
        assert desk.picture().holds
        desk.pass_time(200)
        upstream.script("work", usage_of(seven_day=2), path=USAGE)
        asyncio.run(desk.measure.by_usage(WORK))

        assert desk.picture().holds == ()
        assert desk.woken == 1


def test_x39_a_limit_on_asking_tells_the_router_nothing() -> None:
    """No observation at all: no hold, no health, no reading (X39)."""
    with Upstream() as upstream:
        desk = Desk(upstream)
        revision = desk.router.revision
        upstream.script("work", usage_limited(2895), path=USAGE)
        found = asyncio.run(desk.measure.by_usage(WORK))

        assert (found.said, found.retry_after) == (Said.LIMITED, timedelta(seconds=2895))
        assert desk.router.revision == revision


def test_nobody_there_says_nothing() -> None:
    """An upstream that is away is no word on the account."""
    with Upstream() as upstream:
        desk = Desk(upstream)
        measure = Measure(desk.accounts, desk.router, f"http://127.0.0.1:{closed_port()}", lambda: None)

        found = asyncio.run(measure.by_usage(WORK))
        assert (found.said, found.detail) == (Said.NOTHING, "Connection refused")
        assert asyncio.run(measure.by_usage(HOME)).said is Said.NOTHING  # nobody's secret


def test_an_answer_for_a_credential_that_is_gone_counts_for_nobody() -> None:
    """The account may be somebody else's by then."""
    with Upstream() as upstream:
        desk = Desk(upstream)
        upstream.script("work", usage_of(five_hour=46).late("asked"), path=USAGE)

        async def go() -> Said:
            asking = asyncio.create_task(desk.measure.by_usage(WORK))
            await asyncio.to_thread(upstream.wait_held, "asked")
            desk.renew(WORK, "user:profile")
            upstream.release("asked")
            return (await asyncio.wait_for(asking, PATIENCE)).said

        assert asyncio.run(go()) is Said.NOTHING
        assert desk.used() == {}


def test_a_request_under_way_is_shared() -> None:
    """Whoever asks meanwhile waits for it; once anybody wants a prime, it is one for all."""
    with Upstream() as upstream:
        desk = Desk(upstream, kind=Kind.SETUP_TOKEN)
        answer = unified({"5h": (0.6, desk.now + hours(5))})
        upstream.script("work", answer.late("asked"), answer)

        async def go() -> list[bool]:
            probing = asyncio.create_task(desk.measure.by_request(WORK))
            await asyncio.to_thread(upstream.wait_held, "asked")
            priming = asyncio.create_task(desk.measure.by_request(WORK, is_prime=True))
            await asyncio.sleep(0)
            upstream.release("asked")
            first = [(await task)[1] for task in (probing, priming)]
            return [*first, (await desk.measure.by_request(WORK))[1]]

        assert asyncio.run(go()) == [True, True, False]
        assert len(desk.models()) == 2
        assert desk.used() == {"5h": 0.6}


def test_the_model_is_the_haiku_that_served_last() -> None:
    """Another line's model is not asked so little, nor is one that refused, or was only counted for."""
    with Upstream() as upstream:
        desk = Desk(upstream, kind=Kind.SETUP_TOKEN)
        for told in (
            line("claude-opus-5-5"),
            line(None),
            line("claude-haiku-9", ended="refused"),
            line("claude-haiku-9", path="/v1/messages/count_tokens"),
        ):
            desk.measure.ended(told)
        asyncio.run(desk.measure.by_request(WORK))
        desk.measure.ended(line("claude-haiku-4-5"))
        asyncio.run(desk.measure.by_request(WORK))

        assert desk.models() == [MODEL, "claude-haiku-4-5"]


def test_a_proxy_that_ends_waits_for_no_answer() -> None:
    """What is under way is given up."""
    with Upstream() as upstream:
        desk = Desk(upstream, kind=Kind.SETUP_TOKEN)
        upstream.script("work", unified({}).late("asked"))

        async def go() -> None:
            asking = asyncio.create_task(desk.measure.by_request(WORK))
            await asyncio.to_thread(upstream.wait_held, "asked")
            desk.measure.stop()
            with pytest.raises(asyncio.CancelledError):
                await asyncio.wait_for(asking, PATIENCE)

        asyncio.run(go())
        upstream.release("asked")
