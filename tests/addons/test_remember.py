"""Tests of addons/remember.py."""

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from addons import remember
from addons.remember import Remember
from home.state import reader
from home.state.state import State
from routing.observations import AccountsChanged, HoldsLifted, Succeeded
from routing.remembered import Remembered
from routing.router import Router
from routing.rules import Rules
from routing.stickiness import Stick
from routing.words import ConversationId
from tests.home.state.made import LINE, LONG
from tests.routing.made import ANN, BEN, EXCHANGE, account, demand

TALK = (ConversationId("talk"), "opus")


class Watched(State):
    """A real state that tells when it was given a picture."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.path = path
        self.pictures: list[Remembered] = []
        self.was_put = asyncio.Event()

    def put(self, remembered: Remembered) -> None:
        """Take it, and note it."""
        super().put(remembered)
        self.pictures.append(remembered)
        self.was_put.set()


@pytest.fixture
def state(tmp_path: Path) -> Iterator[Watched]:
    """The state of a pool that was used before by ann and ben."""
    soon = datetime.now(UTC) + timedelta(hours=1)
    before = State(tmp_path / "s")
    before.put(
        Remembered(sticks={TALK: Stick(account=ANN, until=soon), (TALK[0], "haiku"): Stick(account=BEN, until=soon)})
    )
    before.close(LONG)
    state = Watched(tmp_path / "s")
    yield state
    state.close(LONG)


@pytest.fixture
def router() -> Router:
    """A Router that knows ann alone."""
    router = Router(Rules())
    router.observe(AccountsChanged(accounts=(account(ANN),)))
    return router


def served(router: Router, talk: str = "chat") -> None:
    """A turn was served."""
    router.observe(Succeeded(exchange=EXCHANGE, account=ANN, demand=demand(talk), at=datetime.now(UTC)))


def test_the_router_is_told_what_was_remembered(router: Router, state: Watched) -> None:
    """What still stands of the accounts that there are."""
    Remember(router, state)

    assert list(router.remembered().sticks) == [TALK]


def test_a_removed_account_is_forgotten_by_the_state_too(router: Router, state: Watched, tmp_path: Path) -> None:
    """The first look already writes what no longer stands."""
    Remember(router, state).look()

    assert state.flush(LONG)
    assert list(reader.remembered(tmp_path / "s").sticks) == [TALK]


def test_a_picture_is_handed_over_when_something_was_observed(router: Router, state: Watched) -> None:
    """Looking alone costs nothing."""
    watch = Remember(router, state)
    watch.look()
    watch.look()
    assert len(state.pictures) == 1

    router.observe(HoldsLifted(account=ANN, at=datetime.now(UTC)))
    watch.look()
    assert len(state.pictures) == 2


@pytest.mark.parametrize(("every", "pictures"), [(0.0, 2), (3600.0, 0)])
def test_a_request_that_ended_is_entered(
    router: Router, state: Watched, monkeypatch: pytest.MonkeyPatch, every: float, pictures: int
) -> None:
    """Each line enters the ledger; a picture goes with it unless the last one is younger than a look's time."""
    monkeypatch.setattr(remember, "EVERY", every)
    watch = Remember(router, state)
    for talk in ("chat", "song"):
        served(router, talk)
        watch.ended(LINE)

    assert state.flush(LONG)
    assert reader.requests(state.path) == [LINE, LINE]
    assert len(state.pictures) == pictures


async def _watched(router: Router, state: Watched, watch: Remember) -> None:
    watch.running()
    await asyncio.wait_for(state.was_put.wait(), LONG)
    state.was_put.clear()
    served(router)
    await asyncio.wait_for(state.was_put.wait(), LONG)
    served(router, "last")
    watch.done()


def test_it_looks_by_itself_and_once_more_at_the_end(router: Router, state: Watched, tmp_path: Path) -> None:
    """While the proxy runs no call is needed, and what was observed last is written before it ends."""
    asyncio.run(_watched(router, state, Remember(router, state)))

    assert [talk for talk, _ in reader.remembered(tmp_path / "s").sticks] == ["talk", "chat", "last"]


def test_all_that_is_known_by_now_is_on_the_disk_when_that_is_asked(
    router: Router, state: Watched, tmp_path: Path
) -> None:
    """So that the process that takes over finds it there."""
    watch = Remember(router, state)
    served(router)

    assert asyncio.run(watch.flush())
    assert ("chat", "opus") in {(str(talk), family) for talk, family in reader.remembered(tmp_path / "s").sticks}


def test_a_proxy_that_never_ran_ends_too(router: Router, state: Watched) -> None:
    """Loading may fail after this addon was made."""
    Remember(router, state).done()

    assert state.close(LONG)
