"""An outage of all logins is one incident."""

import asyncio
import logging
from datetime import timedelta

import pytest

from addons.alarm import Alarm
from home.settings import Settings
from routing.observations import AccountsChanged, Answered
from routing.router import Router
from tests.routing.made import ANN, BEN, EXCHANGE, NOON, OK, account, auth, demand


class Pool:
    """Two accounts, and an alarm on a clock that a test moves."""

    def __init__(self) -> None:
        self.now = NOON
        self.router = Router(Settings().rules)
        self.router.observe(AccountsChanged(accounts=(account(ANN), account(BEN))))
        self.alarm = Alarm(self.router, ["anthropic"], every=0.001, clock=lambda: self.now)

    def answered(self, who: str, *, good: bool) -> None:
        """A login was refused, or accepted."""
        self.now += timedelta(seconds=1)
        self.router.observe(
            Answered(
                exchange=EXCHANGE,
                account=account(who).id,
                demand=demand(),
                verdict=OK if good else auth(),
                sent_at=self.now,
                at=self.now,
            )
        )
        for _ in range(3):
            self.alarm.look()


def test_one_line_when_it_begins_and_one_when_it_ends(caplog: pytest.LogCaptureFixture) -> None:
    """Silence before, between and after; the notice lasts as long as the incident."""
    caplog.set_level(logging.INFO)
    pool = Pool()

    pool.answered(ANN, good=False)
    assert not caplog.messages
    assert not pool.alarm.notices
    for _ in range(3):
        pool.answered(BEN, good=False)
    line = "no login of anthropic works since 12:00 UTC: ann, ben; run: flowpool doctor"
    assert caplog.messages == [f"flowpool: {line}"]
    assert pool.alarm.notices == (line,)
    pool.now += timedelta(hours=7)
    pool.answered(ANN, good=True)
    pool.answered(BEN, good=True)
    assert caplog.messages[1:] == ["flowpool: logins of anthropic work again"]
    assert not pool.alarm.notices


def test_it_looks_by_itself() -> None:
    """From the proxy's start on, until its end."""
    pool = Pool()
    for who in (ANN, BEN):
        pool.answered(who, good=False)
    pool.alarm._outages.clear()

    async def play() -> None:
        pool.alarm.running()
        async with asyncio.timeout(10):
            while not pool.alarm.notices:  # noqa: ASYNC110  # it tells nobody but the log
                await asyncio.sleep(0.001)
        pool.alarm.done()

    asyncio.run(play())
