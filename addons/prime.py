"""Prime: opens accounts' 5-hour windows early, on the schedule of the person's day (routing/priming.py)."""

import asyncio
import logging
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from addons.measure import Measure
from addons.rounds import Rounds
from home import tables
from home.pictures import moment
from routing.measuring import UNASKED
from routing.priming import Day, FiveHours, Plan, Rest, Roster, Schedule, failure, five_hours
from routing.snapshot import ACCOUNT_SCOPE, AccountPicture
from routing.words import Account, AccountId

EVERY = 1.0  # seconds between two looks at the clock

logger = logging.getLogger(__name__)


class Prime:
    """schedule: None primes nobody."""

    name = "flowpool_prime"

    def __init__(self, measure: Measure, schedule: Schedule | None, *, every: float = EVERY) -> None:
        self._accounts, self._router, self._clock = measure.accounts, measure.router, measure.clock
        self._measure = measure
        self._schedule = schedule
        self._roster = Roster()
        self._failed: dict[AccountId, Rest] = {}
        self._rounds = Rounds("prime", self.look, every)

    def running(self) -> None:
        """Begin to look, where there is a day."""
        if self._schedule is not None:
            self._rounds.start()

    def done(self) -> None:
        """Look no more."""
        self._rounds.stop()

    async def look(self) -> None:
        """Prime everybody whose time has come, all at once."""
        now = self._clock()
        pictures = self._router.snapshot(now).accounts
        usable = {picture.account.id for picture in pictures if self._is_usable(picture)}
        self._roster = self._roster.looked((picture.account.id for picture in pictures), usable)
        due = (p.account for p in pictures if (planned := self._plan(p, now)) is not None and planned.is_due(now))
        await asyncio.gather(*(self._prime(account) for account in due if account.id in usable))

    def told(self, picture: AccountPicture, now: datetime) -> dict[str, Any]:
        """What the document of `status` has of an account besides its picture; nothing where there is no day."""
        if self._schedule is None:
            return {}
        planned = self._plan(picture, now)
        if planned is None:
            return {"prime": None}
        next_at = moment(planned.next_at)
        return {"prime": {"slot": moment(planned.slot), "next_at": next_at, "because": planned.because}}

    def _is_usable(self, picture: AccountPicture) -> bool:
        """Whether the account has windows and can be signed for."""
        account = picture.account
        has_secret = account.id in self._accounts.credentials
        return has_secret and account.kind.is_subscription and picture.state not in UNASKED

    def _plan(self, picture: AccountPicture, now: datetime) -> Plan | None:
        members, account = self._roster.members, picture.account.id
        if self._schedule is None or account not in members:
            return None
        rests = tuple(self._rests(picture))
        return self._schedule.plan(members.index(account), len(members), self._window(account, now), now, rests=rests)

    def _rests(self, picture: AccountPicture) -> Iterator[Rest]:
        """Reasons to leave it alone: a hold, which a prime would meet, and a prime that failed just now."""
        for hold in picture.holds:
            if hold.scope == ACCOUNT_SCOPE and hold.until is not None:
                yield Rest(until=hold.until, because=hold.because)
        failed = self._failed.get(picture.account.id)
        if failed is not None:
            yield failed

    def _window(self, account: AccountId, now: datetime) -> FiveHours:
        return five_hours(self._router.readings(account), now)

    async def _prime(self, account: Account) -> None:
        finding, _ = await self._measure.by_request(account.id, is_prime=True)
        now = self._clock()
        window = self._window(account.id, now)
        failed = failure(window, now, has_read=bool(finding.readings))
        if failed is None:
            self._failed.pop(account.id, None)
            until = moment(window.reset) or "a time that is not known"
            logger.info("flowpool: primed %s: its 5h window runs until %s", account.name, until)
        else:
            self._failed[account.id] = failed
            why = f"{failed.because}: {finding.detail}" if finding.detail else failed.because
            logger.warning("flowpool: %s: %s; again at %s", account.name, why, moment(failed.until))


def schedule_of(chosen: tables.Prime) -> Schedule | None:
    """The schedule that config.toml asks for, whose texts were read once already."""
    if not chosen.day:
        return None
    if not chosen.timezone:
        return Schedule(day=Day.parse(chosen.day))
    from zoneinfo import ZoneInfo  # noqa: PLC0415  # few have one

    return Schedule(day=Day.parse(chosen.day), zone=ZoneInfo(chosen.timezone))
