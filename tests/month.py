"""`python -m tests.month`: six logins through a month in pretend time, with restarts and two outages of the token endpoint.

What renews them is the real thing, from the schedule to the files; pretended are the clock, the vendor, and that the command which
renews runs in this process. Prints how the accounts stand whenever that changes.
"""

from __future__ import annotations

import asyncio
import logging
import pathlib
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from addons.accounts import Accounts, readable
from addons.alarm import Alarm
from addons.exchange import Exchange, Path, Pause
from addons.relogin import renewal_of
from addons.renew import Renew
from credentials.credential import Credential
from credentials.file import FileStore
from credentials.renewal import Granted, Later, Refused, Reply
from credentials.renewer import Outcome
from credentials.renewing import Errand, Renewing
from credentials.secret import Secret
from credentials.web import UnreachableError
from home import accounts as book
from home.keeping import keep
from home.paths import Home
from home.settings import Settings
from home.state.renewals import Renewals
from home.state.state import State
from providers.anthropic import ANTHROPIC
from routing.decisions import Use
from routing.observations import Answered, Dispatched, Ended, Restored
from routing.readings import Reading, Source, Status
from routing.relogin import relogin
from routing.router import Router
from routing.trail import Attempt
from routing.verdicts import AUTH_ROW, AuthLadder, HoldOrder, Hop, Left, Verdict, VerdictKind
from routing.windows import Window
from routing.words import Account, AccountId, Demand, ExchangeId, Family, Kind
from tests.upstream import plant

NAMES = ("ann", "ben", "cat", "dan", "eve", "fay")
START = datetime(2026, 3, 1, tzinfo=UTC)
MONTH = timedelta(days=31)
STEP = timedelta(minutes=2)
PACE = timedelta(minutes=10)  # between two requests
HOURS, DAYS = timedelta(hours=1), timedelta(days=1)
ACCESS, REFRESH = 8 * HOURS, 29 * DAYS
BUSY = (START + 8 * DAYS, START + 8 * DAYS + 3 * HOURS)  # the endpoint answers 500
AWAY = (START + 19 * DAYS, START + 19 * DAYS + 10 * HOURS)  # longer than an access token lasts
RESTARTS = tuple(
    START + days * DAYS + timedelta(minutes=7) for days in (2.5, 8.05, 8.1, 14.9, 19.2, 19.38, 22.3, 27, 29.2)
)
ANEW = START + 29.5 * DAYS  # when their owner logs three of them in again
AGAIN = NAMES[:3]
FAMILY = Family("opus")
FIVE_HOURS = Window.parse("5h")


@dataclass
class Vendor:
    """Who gives tokens: each refresh token is good once, and a login for 29 days however often it is renewed.

    sent: how often each refresh token came. spent: how often one was exchanged.
    """

    sent: Counter[str] = field(default_factory=Counter)
    spent: Counter[str] = field(default_factory=Counter)
    _access: dict[str, datetime] = field(default_factory=dict)
    _refresh: dict[str, tuple[str, datetime]] = field(default_factory=dict)

    def login(self, name: str, now: datetime, lasts: timedelta = ACCESS) -> Credential:
        """A fresh login."""
        return self._pair(name, now, lasts, now + REFRESH)

    def accepts(self, access: Secret, now: datetime) -> bool:
        """Whether an access token serves."""
        return now < self._access.get(access.reveal(), now)

    def answer(self, refresh: Secret, now: datetime) -> Reply:
        """What the token endpoint says."""
        token = refresh.reveal()
        if AWAY[0] <= now < AWAY[1]:
            raise UnreachableError("Connection refused", was_sent=False)
        if BUSY[0] <= now < BUSY[1]:
            return Later("500")
        self.sent[token] += 1
        name, ends = self._refresh.pop(token, ("", now))
        if now >= ends:
            return Refused("Refresh token not found or invalid")
        self.spent[token] += 1
        pair = self._pair(name, now, ACCESS, ends)
        assert pair.expires_at is not None
        return Granted(
            access=pair.access, refresh=pair.refresh, expires_at=pair.expires_at, refresh_expires_at=ends, owner=name
        )

    def _pair(self, name: str, now: datetime, lasts: timedelta, ends: datetime) -> Credential:
        access, refresh = plant(name, "oauth"), plant(name, "oauth").replace("oat01", "ort01")
        self._access[access], self._refresh[refresh] = now + lasts, (name, ends)
        return Credential(
            kind="oauth",
            access=Secret(access),
            refresh=Secret(refresh),
            expires_at=now + lasts,
            refresh_expires_at=ends,
        )


class Month:
    """The pool, its owner and its clients.

    stands: what changed, and when. served, refused: requests. said: the proxy's log.
    """

    def __init__(self, folder: pathlib.Path) -> None:
        self.now = START
        self.vendor = Vendor()
        self.home = Home.find({"FLOWPOOL_HOME": str(folder)}).make()
        self.store = FileStore(folder / "secrets.json")
        self.stands: list[tuple[datetime, tuple[str, ...]]] = []
        self.served = self.refused = self.requests = 0
        self.accounts = tuple(
            Account(id=AccountId(name), name=name, provider="anthropic", kind=Kind.OAUTH) for name in NAMES
        )
        book.edit(self.home.accounts, lambda _: self.accounts)
        for at, name in enumerate(NAMES):
            self.store.put(name, self.vendor.login(name, self.now, ACCESS - at * timedelta(minutes=75)))

    async def run(self) -> None:
        """Live through it."""
        await self.start()
        restarts, request_at, anew = list(RESTARTS), self.now, False
        while self.now < START + MONTH:
            self.now += STEP
            if restarts and self.now >= restarts[0]:
                restarts.pop(0)
                self.stop()
                await self.start()
            if self.now >= ANEW and not anew:
                anew = True
                for name in AGAIN:
                    self.store.put(name, self.vendor.login(name, self.now))
                await self.pool.reload()
            await self.renew.look()
            while self.renew._due(self.now) is not None:
                await self.renew.look()
            if self.now >= request_at:
                request_at += PACE
                await self.ask()
                self.look()
            self.alarm.look()
        self.stop()

    async def start(self) -> None:
        """Start the proxy's parts, with what the last ones left."""
        self.router = Router(Settings().rules)
        self.pool = Accounts(
            self.accounts,
            readable(self.store, self.accounts),
            router=self.router,
            path=self.home.accounts,
            store=self.store,
            wake=lambda: None,
            every=0.01,
        )
        self.pool.running()
        self.state = State(self.home.state, clock=lambda: self.now)
        self.router.observe(Restored(remembered=self.state.remembered, at=self.now))
        self.renew = Renew(self.pool, self.router, self.command, lambda: None, clock=lambda: self.now)
        self.alarm = Alarm(self.router, ["anthropic"], clock=lambda: self.now)
        await self.pool.reload()

    def stop(self) -> None:
        """End them; what they know stays in the state."""
        self.state.put(self.router.remembered())
        self.state.close()
        self.pool.done()
        self.renew.done()

    def command(self, account: AccountId, is_due: bool) -> Outcome:
        """What `flowpool refresh` does, by the pretended clock."""
        known = next(one for one in book.load(self.home.accounts) if one.id == account)
        journal = Renewals(self.home.state, clock=lambda: self.now)
        try:
            return Renewing(
                errand=Errand(account_id=account, provider="anthropic", is_due_only=is_due),
                journal=journal,
                store=self.store,
                ask=lambda refresh: self.vendor.answer(refresh, self.now),
                keep=lambda handed: keep(self.home.accounts, self.store, known, handed),
                now=lambda: self.now,
                sleep=self.sleep,
            ).run()
        finally:
            journal.close()

    def sleep(self, seconds: float) -> None:
        """Let time pass."""
        self.now += timedelta(seconds=seconds)

    async def ask(self) -> None:
        """One client's request, on whoever may serve it."""
        self.requests += 1
        demand = Demand(provider="anthropic", model="claude-opus-5-5", family=FAMILY)
        exchange = Exchange(provider=ANTHROPIC, path=Path.POOLED, id=ExchangeId(str(self.requests)), began_at=self.now)
        is_served = False
        while not is_served and isinstance(choice := self.router.choose(demand, exchange.trail, self.now), Use):
            exchange.account = choice.account
            is_served = await self._attempt(exchange, choice.account, demand)
        self.router.observe(Ended(exchange=exchange.id, trail=exchange.trail, at=self.now))
        self.served += is_served
        self.refused += not is_served

    async def _attempt(self, exchange: Exchange, account: AccountId, demand: Demand) -> bool:
        """Send it, and judge the answer as the proxy does."""
        sent_at = self.now
        self.router.observe(Dispatched(exchange=exchange.id, account=account, demand=demand, at=self.now))
        exchange.signed = self.pool.credentials[account].access
        is_served = self.vendor.accepts(exchange.signed, self.now)
        verdict = GOOD
        if not is_served:
            while isinstance(renewal := renewal_of(exchange, demand, self.renew), Pause):
                await asyncio.gather(*self.renew._tasks.values())
            exchange.renewal_due = None
            verdict = relogin(REFUSED, renewal=renewal)
        told = Answered(
            exchange=exchange.id,
            account=account,
            demand=demand,
            verdict=verdict,
            sent_at=sent_at,
            at=self.now,
            readings=(self._reading(sent_at),) if is_served else (),
        )
        self.router.observe(told)
        attempt = Attempt(
            account=account, verdict=verdict, sent_at=sent_at, ended_at=self.now, waited=timedelta(), status=None
        )
        exchange.trail = exchange.trail.grown(attempt)
        return is_served

    def _reading(self, at: datetime) -> Reading:
        assert FIVE_HOURS is not None
        return Reading(
            window=FIVE_HOURS,
            used=0.2,
            resets_at=at + 5 * HOURS,
            status=Status.ALLOWED,
            sent_at=at,
            taken_at=at,
            source=Source.ANSWER,
        )

    def look(self) -> None:
        """Note how the accounts stand, if that is news."""
        states = tuple(picture.state.value for picture in self.router.snapshot(self.now).accounts)
        if not self.stands or self.stands[-1][1] != states:
            self.stands.append((self.now, states))


GOOD = Verdict(row=8, kind=VerdictKind.OK, because="answered")
REFUSED = Verdict(
    row=AUTH_ROW,
    kind=VerdictKind.AUTH,
    because="401",
    hop=Hop.EACH,
    left=Left.OWN,
    hold=HoldOrder(until=AuthLadder()),
    asks_renewal=True,
)


class Lines(logging.Handler):
    """The proxy's log, with the pretended time."""

    def __init__(self, month: Month) -> None:
        super().__init__(logging.INFO)
        self.month = month
        self.lines: list[tuple[datetime, str]] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a line."""
        self.lines.append((self.month.now, record.getMessage()))


def live(folder: pathlib.Path) -> tuple[Month, list[tuple[datetime, str]]]:
    """Live through the month; the log beside it."""
    month = Month(folder)
    lines = Lines(month)
    logger = logging.getLogger("addons")
    before = logger.level
    logger.addHandler(lines)
    logger.setLevel(logging.INFO)
    try:
        asyncio.run(month.run())
    finally:
        logger.removeHandler(lines)
        logger.setLevel(before)
    return month, lines.lines


def report(month: Month) -> str:
    """The states over time, and what it came to."""
    width = max(len(state) for _, states in month.stands for state in states) + 2
    rows = [("", NAMES), *((f"{at:%d %b %H:%M}", states) for at, states in month.stands)]
    table = [f"{when:14}" + "".join(cell.ljust(width) for cell in cells).rstrip() for when, cells in rows]
    spent = month.vendor.spent
    return "\n".join(
        (
            *table,
            f"{sum(spent.values())} renewals, no token spent twice: {max(spent.values(), default=0) <= 1}",
            f"{month.served} requests served, {month.refused} refused",
        )
    )


def main() -> None:
    """Print it."""
    with tempfile.TemporaryDirectory() as folder:
        month, _ = live(pathlib.Path(folder))
    sys.stdout.write(report(month) + "\n")


if __name__ == "__main__":
    main()
