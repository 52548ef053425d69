"""Accounts that were refused are asked about, and come back when the provider takes them again."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from addons.accounts import Accounts
from addons.recheck import Recheck, asked
from credentials.credential import parse
from credentials.memory import MemoryStore
from home.settings import Settings
from routing.health import Standing
from routing.observations import Answered
from routing.router import Router
from routing.snapshot import State
from routing.words import Kind
from tests.addons import made
from tests.routing.made import EXCHANGE, auth, demand
from tests.upstream import Reply, Upstream, bad_token, bare, closed_port, org_not_allowed, plant, server_error
from tests.upstream.side import MODELS

(WORK,) = made.accounts("work", kind=Kind.SETUP_TOKEN).values()
PATIENCE = 10.0


class Desk:
    """One account that was refused so many seconds ago, and the proxy's parts around it."""

    def __init__(self, upstream: Upstream, ago: float) -> None:
        token = plant("work")
        upstream.add("work", token)
        self.upstream, self.router, self.woken = upstream, Router(Settings().rules), asyncio.Event()
        secrets = {WORK.id: parse("setup-token", token)}
        self.accounts = Accounts(
            [WORK], secrets, router=self.router, path=Path("none"), store=MemoryStore(), wake=lambda: None
        )
        at = datetime.now(UTC) - timedelta(seconds=ago)
        self.router.observe(
            Answered(exchange=EXCHANGE, account=WORK.id, demand=demand(), verdict=auth(), sent_at=at, at=at)
        )

    @property
    def state(self) -> State:
        """How the account stands."""
        return self.router.snapshot(datetime.now(UTC)).accounts[0].state

    def run(self, until: Callable[[], bool]) -> None:
        """Let it look until that is so."""

        async def go() -> None:
            recheck = Recheck(self.accounts, self.router, self.upstream.url, self.woken.set, every=0.01)
            recheck.running()
            async with asyncio.timeout(PATIENCE):
                while not until():  # noqa: ASYNC110  # what is looked at tells nobody
                    await asyncio.sleep(0.01)
            recheck.done()

        asyncio.run(go())

    @property
    def asked(self) -> int:
        """How often the provider was asked."""
        return len(self.upstream.requests)


def test_an_account_that_is_taken_again_serves_again() -> None:
    """A good answer ends the hold, and waiting requests are woken."""
    with Upstream() as upstream:
        desk = Desk(upstream, ago=61)
        assert desk.state is State.AUTH_DEAD

        desk.run(lambda: desk.state is not State.AUTH_DEAD)
        assert (desk.asked, desk.woken.is_set()) == (1, True)


def test_nobody_is_asked_before_its_time() -> None:
    """A minute after the refusal, not before; and only once more two minutes after the next."""
    with Upstream() as upstream:
        early = Desk(upstream, ago=50)
        assert early.router.to_check(datetime.now(UTC)) == ()

        due = Desk(upstream, ago=61)
        upstream.script("work", org_not_allowed(), path=MODELS)
        due.run(lambda: due.asked == 1 and due.router.to_check(datetime.now(UTC)) == ())
        assert due.state is State.AUTH_DEAD
        assert due.router.to_check(datetime.now(UTC) + timedelta(seconds=115)) == ()
        assert due.router.to_check(datetime.now(UTC) + timedelta(seconds=121)) == (WORK.id,)


ANSWERS: list[tuple[Reply, Standing]] = [
    (bad_token(), Standing.INVALID),
    (org_not_allowed(), Standing.DISABLED),
    (bare(), Standing.LIMITED),
    (server_error(), Standing.UNKNOWN),
]


@pytest.mark.parametrize(("answer", "standing"), ANSWERS, ids=[standing.name for _, standing in ANSWERS])
def test_only_a_clear_answer_is_one(answer: Reply, standing: Standing) -> None:
    """A limit and a fault say nothing of the credential."""
    with Upstream() as upstream:
        token = plant("work")
        upstream.add("work", token)
        upstream.script("work", answer, path=MODELS)

        assert asked(upstream.url, parse("setup-token", token)).standing is standing


def test_nobody_there_says_nothing() -> None:
    """An upstream that is away is no verdict (X22)."""
    found = asked(f"http://127.0.0.1:{closed_port()}", parse("setup-token", plant("work")))

    assert found.standing is Standing.UNKNOWN
