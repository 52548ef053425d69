"""What one exchange met so far; it grows by copying, so a decision can be replayed from it."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Self

from routing.decisions import Wait
from routing.verdicts import Verdict
from routing.words import AccountId, ExchangeId


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One sending of the request and how it ended.

    waited: the pause before it that was spent on the same account, out of the exchange's budget.
    status: the HTTP status of the answer; None when there was none.
    """

    account: AccountId
    verdict: Verdict
    sent_at: datetime
    ended_at: datetime
    waited: timedelta = timedelta()
    status: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Trail:
    """The attempts of one exchange, oldest first.

    renewed_at: index of the first attempt that still counts; a wait for recovery starts counts anew, one for room does not.
    roomed_at: index of the first attempt after the latest wait for room.
    exchange: whose trail it is, by which it keeps its place in a queue; None: it has none.
    renewals: how many waits for recovery came to their end; recovery_waited: how long all waits of both kinds lasted together.
    """

    started_at: datetime
    attempts: tuple[Attempt, ...] = ()
    renewed_at: int = 0
    roomed_at: int = 0
    renewals: int = 0
    recovery_waited: timedelta = timedelta()
    exchange: ExchangeId | None = None

    def grown(self, attempt: Attempt) -> Self:
        """Copy the trail with one more attempt at its end."""
        return replace(self, attempts=(*self.attempts, attempt))

    def renewed(self, waited: timedelta = timedelta(), *, early: bool = False) -> Self:
        """Copy the trail as it stands after a wait for recovery: every account may be asked again.

        early: it was woken before the wait's end.
        """
        return replace(
            self,
            renewed_at=len(self.attempts),
            renewals=self.renewals + (not early),
            recovery_waited=self.recovery_waited + waited,
        )

    def resumed(self, pause: Wait, waited: timedelta = timedelta(), *, early: bool = False) -> Self:
        """Copy the trail as it stands after that pause; one for room lets nobody be asked again but whose hold ended meanwhile.

        early: it was woken before the pause's end.
        """
        if pause.account is not None:
            return self
        if pause.is_for_room:
            return replace(self, roomed_at=len(self.attempts), recovery_waited=self.recovery_waited + waited)
        return self.renewed(waited, early=early)

    @property
    def counted(self) -> tuple[Attempt, ...]:
        """The attempts that still count against the bounds."""
        return self.attempts[self.renewed_at :]

    @property
    def last(self) -> Attempt | None:
        """The newest attempt that still counts."""
        return self.counted[-1] if self.counted else None

    @property
    def has_waited_for_room(self) -> bool:
        """Whether it did since the newest attempt, which claims no place any more and whose answer is gone."""
        return self.last is not None and self.roomed_at == len(self.attempts)

    @property
    def waited(self) -> timedelta:
        """What the pauses between tries added up to, over the whole exchange."""
        return sum((a.waited for a in self.attempts), start=timedelta())
