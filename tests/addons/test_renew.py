"""Logins are renewed in time, once for all who ask, and not in vain."""

import asyncio
import json
import threading
from collections import deque
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from addons.accounts import Accounts
from addons.renew import Renew, renewal_command
from credentials.credential import Credential, parse
from credentials.memory import MemoryStore
from credentials.renewer import Outcome
from home import accounts as book
from home.settings import Settings
from routing.relogin import Renewal
from routing.router import Router
from routing.snapshot import AccountPicture, State
from routing.words import Account, AccountId, Kind
from tests.addons import made

WORK, HOME, THIRD = made.accounts("work", "home", "third", kind=Kind.OAUTH).values()
PATIENCE = 10.0
HOUR = timedelta(hours=1)


def login(account: Account, nth: int, ends: datetime) -> Credential:
    """The nth login of an account."""
    text = {
        "accessToken": f"{made.token(account.id)}-{nth}",
        "refreshToken": f"{made.token(account.id)}-r{nth}",
        "expiresAt": int(ends.timestamp() * 1000),
    }
    return parse("oauth", json.dumps(text))


class Pool:
    """Accounts whose logins end after so long, a command that does as it is told, and a clock that a test moves."""

    def __init__(self, folder: Path, *known: Account, ends: timedelta) -> None:
        self.now = datetime.now(UTC)
        self.router, self.store, self.woken = Router(Settings().rules), MemoryStore(), 0
        self.outcomes: deque[Outcome] = deque()
        self.ran: list[tuple[AccountId, bool]] = []
        self.gate = threading.Event()
        self.gate.set()
        path = folder / "accounts.toml"
        book.edit(path, lambda _: known)
        for account in known:
            self.store.put(account.id, login(account, 1, self.now + ends))
        secrets = {account.id: self.store.get(account.id) for account in known}
        self.accounts = Accounts(
            known, secrets, router=self.router, path=path, store=self.store, wake=lambda: None, every=0.02
        )
        self.renew = Renew(self.accounts, self.router, self.command, self.wake, clock=lambda: self.now)

    def command(self, account: AccountId, is_due: bool) -> Outcome:
        """Renew as the real one does, or as the test says."""
        self.ran.append((account, is_due))
        assert self.gate.wait(PATIENCE)
        outcome = self.outcomes.popleft() if self.outcomes else Outcome("renewed", "", None)
        if outcome.name == "renewed":
            self.store.put(account, login(self.accounts.ever[account], len(self.ran) + 1, self.now + 8 * HOUR))
        return outcome

    def wake(self) -> None:
        """Count."""
        self.woken += 1

    def play(self, story: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Play a story on a loop where the accounts are watched."""

        async def run() -> None:
            self.accounts.running()
            async with asyncio.timeout(PATIENCE):
                await self.accounts.reload()
                await story()
            self.accounts.done()
            self.renew.done()

        asyncio.run(run())

    async def settle(self) -> None:
        """Wait until nothing is renewed any more."""
        while self.renew._tasks:  # noqa: ASYNC110  # a task that ends takes itself away
            await asyncio.sleep(0.005)

    def picture(self, account: Account) -> AccountPicture:
        """How an account stands."""
        pictures = self.router.snapshot(self.now).accounts
        return next(one for one in pictures if one.account.id == account.id)


def test_who_ends_first_is_renewed_first_and_in_time(tmp_path: Path) -> None:
    """Nobody before its time; one after another; the proxy sends the new token at once."""
    pool = Pool(tmp_path, WORK, HOME, ends=HOUR)
    before = pool.accounts.credentials[WORK.id].access

    async def story() -> None:
        await pool.renew.look()
        assert pool.ran == []
        pool.now += HOUR - timedelta(minutes=4)
        await pool.renew.look()
        await pool.renew.look()
        assert sorted(pool.ran) == sorted([(WORK.id, True), (HOME.id, True)])
        await pool.renew.look()
        assert len(pool.ran) == 2

    pool.play(story)
    assert pool.accounts.credentials[WORK.id].access != before
    assert pool.renew.is_outdated(WORK.id, before)
    assert pool.accounts.credentials[WORK.id].refresh is None


def test_at_rest_nobody_is_looked_for_and_who_asks_is_served(tmp_path: Path) -> None:
    """A proxy that ends still renews what a request in flight needs; the rest is for the next one."""
    pool = Pool(tmp_path, WORK, ends=timedelta(minutes=1))

    async def story() -> None:
        pool.renew.rest()
        pool.renew.running()
        pool.renew.rest()
        await asyncio.sleep(0)
        assert pool.ran == []
        assert pool.renew.ask(WORK.id) is None
        await pool.settle()

    pool.play(story)
    assert pool.ran == [(WORK.id, False)]


def test_all_who_ask_wait_for_one_renewal(tmp_path: Path) -> None:
    """It is said to be on its way, and waiting requests are woken when it is over."""
    pool = Pool(tmp_path, WORK, ends=HOUR)

    async def story() -> None:
        pool.gate.clear()
        assert [pool.renew.ask(WORK.id) for _ in range(8)] == [None] * 8
        assert pool.renew.is_running(WORK.id)
        pool.gate.set()
        await pool.settle()

    pool.play(story)
    assert pool.ran == [(WORK.id, False)]
    assert pool.woken == 1
    assert pool.picture(WORK).state is State.UNMEASURED


def test_what_another_process_renewed_is_not_renewed_again(tmp_path: Path) -> None:
    """The store is read first."""
    pool = Pool(tmp_path, WORK, ends=HOUR)

    async def story() -> None:
        pool.store.put(WORK.id, login(WORK, 9, pool.now + 8 * HOUR))
        assert pool.renew.ask(WORK.id) is None
        await pool.settle()

    pool.play(story)
    assert pool.ran == []
    assert pool.woken == 1


FAILURES = [  # what came out of it, the state then if the token still serves, and if it was refused
    (Outcome("failed", "500", None), State.UNMEASURED, State.ERROR),
    (Outcome("systemic", "invalid_client", None), State.UNMEASURED, State.ERROR),
    (Outcome("dead", "invalid_grant", None), State.EXPIRING, State.AUTH_DEAD),
]


@pytest.mark.parametrize(("outcome", "serving", "refused"), FAILURES, ids=[one.name for one, *_ in FAILURES])
def test_a_token_that_still_serves_goes_on(tmp_path: Path, outcome: Outcome, serving: State, refused: State) -> None:
    """Whatever becomes of a renewal, nobody is kept away before the access token is refused, or over."""
    pool = Pool(tmp_path, WORK, ends=timedelta(minutes=4))

    async def story() -> None:
        pool.outcomes.append(outcome)
        await pool.renew.look()
        assert pool.picture(WORK).state is serving
        assert pool.picture(WORK).holds == ()
        await pool.renew.look()
        assert pool.renew.ask(WORK.id) is (Renewal.NONE if outcome.name == "dead" else Renewal.FAILED)
        assert pool.picture(WORK).state is refused

    pool.play(story)
    assert len(pool.ran) == 1


def test_a_login_that_ended_is_held_when_its_token_is_over(tmp_path: Path) -> None:
    """Without a request that would tell; a new login ends it."""
    pool = Pool(tmp_path, WORK, ends=timedelta(minutes=4))

    async def story() -> None:
        pool.outcomes.append(Outcome("dead", "invalid_grant", None))
        await pool.renew.look()
        pool.now += timedelta(minutes=5)
        await pool.renew.look()
        assert pool.picture(WORK).state is State.AUTH_DEAD
        pool.store.put(WORK.id, login(WORK, 9, pool.now + 8 * HOUR))
        await pool.accounts.reload()
        assert pool.picture(WORK).state is State.UNMEASURED
        assert pool.renew.ask(WORK.id) is None
        await pool.settle()

    pool.play(story)
    assert pool.ran == [(WORK.id, True), (WORK.id, False)]


def test_the_endpoint_is_left_alone_as_long_as_it_asks(tmp_path: Path) -> None:
    """Not a second earlier, whoever asks; after it the renewal is tried again."""
    pool = Pool(tmp_path, WORK, ends=timedelta(minutes=4))

    async def story() -> None:
        pool.outcomes.append(Outcome("failed", "429", pool.now + timedelta(seconds=45)))
        await pool.renew.look()
        for _ in range(44):
            pool.now += timedelta(seconds=1)
            await pool.renew.look()
        assert len(pool.ran) == 1
        pool.now += timedelta(seconds=1)
        await pool.renew.look()
        assert len(pool.ran) == 2

    pool.play(story)


def test_two_failures_spare_the_others(tmp_path: Path) -> None:
    """A trouble that is not theirs: nobody is renewed until it may be over, then one alone (X23)."""
    pool = Pool(tmp_path, WORK, HOME, THIRD, ends=timedelta(minutes=4))

    async def story() -> None:
        pool.outcomes.extend([Outcome("failed", "500", None)] * 3)
        for _ in range(5):
            await pool.renew.look()
        assert len(pool.ran) == 2
        assert pool.renew.ask(THIRD.id) is Renewal.FAILED
        pool.now += timedelta(minutes=5, seconds=1)
        await pool.renew.look()
        await pool.renew.look()
        assert len(pool.ran) == 3
        pool.now += timedelta(minutes=10, seconds=1)
        for _ in range(5):
            await pool.renew.look()
        assert len(pool.ran) == 6

    pool.play(story)


def test_a_command_that_fails_is_tried_again(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """What it raised is logged; no account is called dead for it."""
    pool = Pool(tmp_path, WORK, ends=timedelta(minutes=4))

    async def story() -> None:
        pool.renew._command = lambda *_: (_ for _ in ()).throw(OSError("no python"))
        await pool.renew.look()
        assert pool.picture(WORK).state is State.UNMEASURED
        pool.renew._command = pool.command
        pool.now += timedelta(seconds=31)
        await pool.renew.look()

    pool.play(story)
    assert "no python" in caplog.text
    assert pool.ran == [(WORK.id, True)]


@pytest.mark.parametrize("name", ["current", "renewed", "none"])
def test_a_login_that_stays_the_same_is_not_asked_for_in_a_loop(tmp_path: Path, name: str) -> None:
    """As when the store cannot be read here, or another program's word on it is not ours."""
    pool = Pool(tmp_path, WORK, ends=timedelta(minutes=4))

    def command(account: AccountId, is_due: bool) -> Outcome:
        pool.ran.append((account, is_due))
        return Outcome(name)

    pool.renew._command = command

    async def story() -> None:
        for _ in range(29):
            await pool.renew.look()
            pool.now += timedelta(seconds=1)
        assert len(pool.ran) == 1
        pool.now += timedelta(seconds=2)
        await pool.renew.look()
        assert len(pool.ran) == 2

    pool.play(story)


def test_commands_run_one_after_another(tmp_path: Path) -> None:
    """However many accounts are refused at once: each command is a process with its own memory."""
    pool = Pool(tmp_path, WORK, HOME, THIRD, ends=HOUR)
    busy: list[int] = []

    def command(account: AccountId, is_due: bool) -> Outcome:
        busy.append(1)
        assert len(busy) == 1
        outcome = pool.command(account, is_due)
        busy.pop()
        return outcome

    async def story() -> None:
        pool.renew._command = command
        assert [pool.renew.ask(account.id) for account in (WORK, HOME, THIRD)] == [None] * 3
        await pool.settle()

    pool.play(story)
    assert len(pool.ran) == 3


def test_accounts_that_cannot_be_read_are_no_fault_of_ours(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A person's half-written file costs one line, and the renewal is tried again."""
    pool = Pool(tmp_path, WORK, ends=timedelta(minutes=4))
    path = tmp_path / "accounts.toml"

    async def story() -> None:
        pool.renew._command = renewal_command(path, pool.store)
        path.write_text("[[accounts")
        await pool.renew.look()

    pool.play(story)
    assert "Traceback" not in caplog.text
    assert f"the login of work was not renewed: {path}" in caplog.text


def test_a_setup_token_is_never_renewed(tmp_path: Path) -> None:
    """Nor is one asked for that is not known."""
    pool = Pool(tmp_path, WORK, ends=HOUR)

    async def story() -> None:
        pool.store.put(WORK.id, parse("setup-token", made.token("other")))
        await pool.accounts.reload()
        pool.now += 9 * HOUR
        await pool.renew.look()
        assert pool.renew.ask(WORK.id) is Renewal.NONE
        assert pool.renew.ask(HOME.id) is Renewal.NONE

    pool.play(story)
    assert pool.ran == []


def test_what_ended_long_ago_is_no_storm(tmp_path: Path) -> None:
    """Two logins that are known to be over must not keep a third from being renewed after each start."""
    pool = Pool(tmp_path, WORK, HOME, THIRD, ends=-HOUR)
    pool.outcomes.extend([Outcome("dead", "400: gone", is_known=True)] * 2)

    async def story() -> None:
        for _ in range(3):
            await pool.renew.look()
        assert len(pool.ran) == 3
        states = sorted(pool.picture(one).state for one in (WORK, HOME, THIRD))
        assert states == [State.AUTH_DEAD, State.AUTH_DEAD, State.UNMEASURED]

    pool.play(story)


def test_a_hold_that_was_lifted_stands_again_when_the_token_is_refused_again(tmp_path: Path) -> None:
    """Or each request would go out with it."""
    pool = Pool(tmp_path, WORK, ends=HOUR)
    pool.outcomes.append(Outcome("failed", "500"))

    async def story() -> None:
        assert pool.renew.ask(WORK.id) is None
        await pool.settle()
        assert pool.picture(WORK).state is State.ERROR
        pool.accounts.lift([WORK.id])
        assert pool.picture(WORK).holds == ()
        assert pool.renew.ask(WORK.id) is Renewal.FAILED
        assert pool.picture(WORK).state is State.ERROR

    pool.play(story)


def test_nobody_waits_for_the_renewal_of_an_account_that_was_removed(tmp_path: Path) -> None:
    """It goes on all the same."""
    pool = Pool(tmp_path, WORK, HOME, ends=HOUR)
    pool.gate.clear()

    async def story() -> None:
        assert pool.renew.ask(WORK.id) is None
        assert pool.renew.is_running(WORK.id)
        book.edit(tmp_path / "accounts.toml", lambda known: tuple(one for one in known if one.id != WORK.id))
        await pool.accounts.reload()
        assert not pool.renew.is_running(WORK.id)
        pool.gate.set()
        await pool.settle()

    pool.play(story)


def test_a_rest_ordered_before_the_clock_was_set_back_is_over(tmp_path: Path) -> None:
    """A computer that was a day ahead for a while must not wait for a day."""
    pool = Pool(tmp_path, WORK, ends=-HOUR)
    pool.now += 24 * HOUR
    pool.outcomes.append(Outcome("failed", "500"))

    async def story() -> None:
        await pool.renew.look()
        pool.now -= 24 * HOUR
        await pool.renew.look()
        assert len(pool.ran) == 2

    pool.play(story)
