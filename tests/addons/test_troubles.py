"""What stands in the way of renewing is told to the Router once, and ends with the login that it was about."""

from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from addons.accounts import Accounts
from addons.troubles import AGAIN, MARGIN, Troubles
from addons.watch import Found
from credentials.credential import Credential
from credentials.memory import MemoryStore
from credentials.secret import Secret
from routing.observations import RenewalFailed
from routing.words import Account, Kind
from tests.addons import made
from tests.addons.test_accounts import Told
from tests.routing.made import NOON

WORK, HOME = made.accounts("work", "home", kind=Kind.OAUTH).values()
MINUTE = timedelta(minutes=1)


class Pool:
    """Two logins whose access tokens end in so many minutes."""

    def __init__(self, ends: float = 60) -> None:
        self.router = Told()
        self.ends = NOON + ends * MINUTE
        self.accounts = Accounts(
            (WORK, HOME),
            {account.id: self.login(1) for account in (WORK, HOME)},
            router=self.router,
            path=Path("none"),
            store=MemoryStore(),
            wake=lambda: None,
        )
        self.troubles = Troubles(self.accounts, self.router)

    def login(self, generation: int) -> Credential:
        """A login that was saved at that time."""
        return Credential(
            kind="oauth", access=Secret("at"), refresh=Secret("rt"), expires_at=self.ends, saved_at=generation
        )

    def renewed(self, generation: int) -> None:
        """Give both a new login."""
        self.accounts.take(
            Found(accounts=(WORK, HOME), credentials={one.id: self.login(generation) for one in (WORK, HOME)})
        )

    @property
    def told(self) -> list[tuple[str, float | None, bool]]:
        """What the Router was told: of whom, until how many seconds after noon, and whether that bars."""
        found = [one for one in self.router.told if isinstance(one, RenewalFailed)]
        return [
            (one.account, None if one.until is None else (one.until - NOON).total_seconds(), one.bars) for one in found
        ]


def test_a_token_that_serves_is_not_barred_until_it_is_refused_or_over() -> None:
    """Each is told once, however often it is looked at."""
    pool = Pool(ends=1)
    later = NOON + 10 * MINUTE
    for _ in range(3):
        pool.troubles.failed(WORK.id, NOON, "500", later)
        pool.troubles.tell_all(NOON)
    assert pool.told == [("work", 600 + MARGIN.total_seconds(), False)]
    for _ in range(3):
        pool.troubles.tell_all(NOON + MINUTE)
    assert pool.told[1:] == [("work", 600 + MARGIN.total_seconds(), True)]

    refused = Pool()
    refused.troubles.refused(WORK.id)
    refused.troubles.failed(WORK.id, NOON, "500", later)
    assert refused.told == [("work", 600 + MARGIN.total_seconds(), True)]


def test_a_failure_without_a_time_is_tried_again_soon() -> None:
    """Nobody is left alone for good by a command that could not run."""
    pool = Pool()
    pool.troubles.failed(WORK.id, NOON, "no python")

    assert pool.troubles.rests_until(WORK.id, NOON, is_alone=True) == NOON + AGAIN
    assert pool.troubles.rests_until(WORK.id, NOON + AGAIN, is_alone=True) is None
    assert pool.troubles.rests_until(HOME.id, NOON, is_alone=True) is None


def test_a_new_login_knows_nothing_of_the_old_one_s_trouble() -> None:
    """Neither that it ended, nor that it was refused, nor when it may be renewed."""
    pool = Pool()
    pool.troubles.refused(WORK.id)
    pool.troubles.ended(WORK.id, NOON, "invalid_grant")
    assert pool.troubles.has_ended(WORK.id)
    assert pool.told == [("work", None, True)]

    pool.renewed(2)
    assert not pool.troubles.has_ended(WORK.id)
    pool.troubles.failed(WORK.id, NOON, "500", NOON + MINUTE)
    assert pool.told[1:] == [("work", 60 + MARGIN.total_seconds(), False)]


def test_two_failures_rest_all_and_are_one_line(caplog: pytest.LogCaptureFixture) -> None:
    """Who is over by then is barred for as long, though nothing of its own failed; afterwards one alone may try."""
    pool = Pool(ends=-1)
    for account in (WORK, HOME):
        pool.troubles.feed(account.id, NOON, ok=False)

    assert [record.getMessage() for record in caplog.records] == [
        "flowpool: renewing logins of anthropic pauses, as several fail at once"
    ]
    pause = pool.troubles.rests_until(WORK.id, NOON, is_alone=True)
    assert pause is not None
    assert {one for one, *_ in pool.told} == {"work", "home"}
    assert all(bars for *_, bars in pool.told)
    assert pool.troubles.rests_until(WORK.id, pause, is_alone=True) is None
    assert pool.troubles.rests_until(WORK.id, pause, is_alone=False) is not None
    pool.troubles.feed(WORK.id, pause, ok=True)
    assert pool.troubles.rests_until(HOME.id, pause, is_alone=False) is None


@given(st.lists(st.tuples(st.sampled_from([WORK, HOME]), st.integers(0, 40), st.booleans()), min_size=1, max_size=12))
def test_a_lapsed_login_is_barred_for_as_long_as_it_rests(steps: list[tuple[Account, int, bool]]) -> None:
    """Whatever happened: whose token is over is held until renewing may be tried again, and a little longer."""
    pool, now = Pool(ends=0), NOON
    for account, minutes, ok in steps:
        now += minutes * MINUTE
        pool.troubles.feed(account.id, now, ok=ok)
        if not ok:
            pool.troubles.failed(account.id, now, "500", now + MINUTE)
        pool.troubles.tell_all(now)
        for known in (WORK, HOME):
            rest = pool.troubles.rests_until(known.id, now, is_alone=True)
            if rest is not None:
                (of, until, bars) = [one for one in pool.told if one[0] == known.id][-1]
                assert (of, until, bars) == (known.id, (rest + MARGIN - NOON).total_seconds(), True)
