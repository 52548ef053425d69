"""The worker's side of renewing one login: the only place where a refresh token is spent."""

import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from credentials.credential import Credential
from credentials.errors import CredentialError
from credentials.journal import Journal, JournalFault
from credentials.renewal import (
    Granted,
    Later,
    Refused,
    Renewal,
    Reply,
    Systemic,
    backoff,
    due_at,
    fingerprint,
    is_better,
    renewed,
)
from credentials.renewer import (
    ADOPTED,
    CURRENT,
    DEAD,
    FAILED,
    NONE,
    RENEWED,
    SYSTEMIC,
    WAITING,
    Handed,
    Keep,
    Outcome,
    persist,
)
from credentials.secret import Secret
from credentials.store import Store
from credentials.web import UnreachableError

POLL = 0.05  # seconds between two looks whether the claim is free
TURN = 150.0  # seconds to wait for it: as long as a worker that asks may hold it
KEEPING = 600.0  # seconds for which a pair that the disk does not take is tried to be kept
JUST = timedelta(seconds=10)  # two people's commands this close mean one renewal
LONGEST_REST = timedelta(hours=1)  # a pause that ends later was noted before the clock was set back
_GIVEN_AGAIN = "the service gave the refused access token again"
_SPENT_BEFORE = "its refresh token was used before, and what came for it is not here"


@dataclass(frozen=True, slots=True, kw_only=True)
class Errand:
    """Whose login is renewed. is_due_only, is_asked_for: as in credentials.renewer.command."""

    account_id: str
    provider: str
    is_due_only: bool = False
    is_asked_for: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Renewing:
    """One renewal, from looking to the last note.

    ask: puts the question and reads the answer; raises UnreachableError. source: reads the copy of another program, if
    there is one. keep: writes a pair where the store still has the spent one. hand_over: gives it to the parent; never
    raises. shield: what keeps signals away while a pair may be under way.
    """

    errand: Errand
    journal: Journal
    store: Store
    ask: Callable[[Secret], Reply]
    keep: Keep
    source: Callable[[], Credential | None] = lambda: None
    hand_over: Callable[[Handed], None] = lambda _: None
    shield: Callable[[], AbstractContextManager[object]] = nullcontext
    turn: float = TURN
    keeping: float = KEEPING
    now: Callable[[], datetime] = field(default=lambda: datetime.now(UTC))
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep

    def run(self) -> Outcome:
        """Renew it if that is to be done; one question at most. Raises CredentialError when the secret cannot be read."""
        seen = self._stored()
        if seen.refresh is None:
            return Outcome(NONE, f"a {seen.kind} without a refresh token cannot be renewed")
        try:
            if not self._take_turn():
                return Outcome(FAILED, f"another program has been renewing logins for {self.turn:g} s")
            try:
                return self._renew(seen)
            finally:
                with suppress(JournalFault):
                    self.journal.release(self.errand.provider)
        except JournalFault as fault:  # nothing was sent: a pair that may not be kept must not be asked for
            return Outcome(FAILED, str(fault))

    def _take_turn(self) -> bool:
        end = self.clock() + self.turn
        while not self.journal.claim(self.errand.provider):
            if self.clock() >= end:
                return False
            self.sleep(POLL)
        return True

    def _renew(self, seen: Credential) -> Outcome:
        """Decide under the claim, by what is there now."""
        old = self._stored()
        if old.refresh is None or old.refresh != seen.refresh or old.access != seen.access:
            return Outcome(CURRENT, "another program renewed it")
        due = due_at(self.errand.account_id, old)
        if self.errand.is_due_only and due is not None and due > self.now():
            return Outcome(CURRENT, "it is not due")
        spent = fingerprint(old.refresh)
        if (adopted := self._adopt(old, spent)) is not None:
            return adopted
        last = self.journal.last(self.errand.account_id)
        if self._was_just_renewed(last):
            return Outcome(CURRENT, "it was renewed just now")
        return self._rests(old, spent, last) or self._ask(old, old.refresh, spent, last)

    def _was_just_renewed(self, last: Renewal | None) -> bool:
        is_kept = self.errand.is_asked_for and last is not None and last.outcome == "kept"
        return is_kept and last is not None and timedelta() <= self.now() - last.at < JUST

    def _adopt(self, old: Credential, spent: str) -> Outcome | None:
        """Take over another program's newer pair of the same login, if there is one; tried once, for it is kept there too."""
        found = self.source()
        if not is_better(found, old) or found is None or found.refresh is None:
            return None
        if self.journal.is_spent(fingerprint(found.refresh)):
            return None
        kept = self.keep(Handed(credential=found, spent=spent))
        if kept.name == RENEWED:
            self._note(Renewal(fingerprint=spent, outcome="kept", at=self.now()))
            return Outcome(ADOPTED)
        return kept

    def _rests(self, old: Credential, spent: str, last: Renewal | None) -> Outcome | None:
        """What is said without asking: the token is spent, or it is too early."""
        is_same = last is not None and last.fingerprint == spent
        if self.journal.is_spent(spent):
            because = last.because if last is not None and is_same and last.because else _SPENT_BEFORE
            return Outcome(DEAD, because, is_known=True)
        if last is None:
            return None
        until, because = last.asked_until, last.because
        if is_same and not self.errand.is_asked_for:
            until = last.retry_at
        if self.errand.is_due_only and last.outcome == "kept" and old.expires_at is not None:
            until = max(last.at, last.at + (old.expires_at - last.at) / 2)
            because = "the service's logins last so short that half of one is waited for"
        is_rest = until is not None and timedelta() < until - self.now() <= LONGEST_REST
        return Outcome(WAITING, because, until) if is_rest else None

    def _ask(self, old: Credential, refresh: Secret, spent: str, last: Renewal | None) -> Outcome:
        failures = 0 if last is None or last.outcome == "kept" else last.failures
        with self.shield():
            sent = Renewal(fingerprint=spent, outcome="sent", at=self.now(), failures=failures)
            self.journal.note(self.errand.account_id, sent)
            if not self.journal.extend(self.errand.provider):  # the machine may have slept meanwhile
                return Outcome(FAILED, "another program renews logins now")
            match self._answer(refresh):
                case Granted() as granted:
                    return self._take(old, granted, spent, failures)
                case Refused(because):
                    return self._end(old, spent, because)
                case Systemic(because):
                    return self._put_off(SYSTEMIC, spent, because, failures + 1, None)
                case Later(because, retry_after):
                    return self._put_off(FAILED, spent, because, failures + 1, retry_after)

    def _answer(self, refresh: Secret) -> Reply:
        try:
            return self.ask(refresh)
        except UnreachableError as error:
            return Later(f"the service is unreachable ({error})")

    def _take(self, old: Credential, granted: Granted, spent: str, failures: int) -> Outcome:
        """Keep a new pair. The parent has it first, then the store, and only then is it used by anybody."""
        is_spent = granted.refresh is not None and granted.refresh != old.refresh
        if self._is_refused_again(old, granted) and not is_spent:
            return self._put_off(FAILED, spent, _GIVEN_AGAIN, failures + 1, None)
        handed = Handed(credential=renewed(old, granted), spent=spent, whose=granted.whose())
        self.hand_over(handed)
        gone = "spent" if is_spent else ""
        self._note(Renewal(fingerprint=spent, outcome="sent", at=self.now()), spent=gone)
        outcome = self._persist(handed)
        is_kept = outcome.name in (RENEWED, CURRENT)
        told = Renewal(
            fingerprint=spent,
            outcome="kept" if is_kept else "failed",
            at=self.now(),
            failures=0 if is_kept else 1,
            because=outcome.because,
        )
        self._note(told, spent=gone)  # once more: the disk may have been full before
        if is_kept and granted.refresh is not None and self._is_refused_again(old, granted):
            return self._put_off(FAILED, fingerprint(granted.refresh), _GIVEN_AGAIN, failures + 1, None)
        return outcome

    def _is_refused_again(self, old: Credential, granted: Granted) -> bool:
        """Tell whether it gave what an upstream just refused: for no other reason is a login renewed before it is due."""
        is_early = not self.errand.is_due_only and not self.errand.is_asked_for
        return is_early and granted.access == old.access

    def _end(self, old: Credential, spent: str, because: str) -> Outcome:
        """The endpoint takes the token no more: unless somebody else has a newer pair, the login has ended."""
        self._note(Renewal(fingerprint=spent, outcome="refused", at=self.now(), because=because), spent="refused")
        with suppress(CredentialError):
            if self._stored().refresh != old.refresh:
                return Outcome(CURRENT, "another program renewed it")
        return self._adopt(old, spent) or Outcome(DEAD, because)

    def _put_off(self, name: str, spent: str, because: str, failures: int, retry_after: timedelta | None) -> Outcome:
        now = self.now()
        asked_until = None if retry_after is None else now + retry_after
        retry_at = max(now + backoff(failures), asked_until or now)
        told = Renewal(
            fingerprint=spent,
            outcome="failed",
            at=now,
            failures=failures,
            retry_at=retry_at,
            asked_until=asked_until,
            because=because,
        )
        self._note(told)
        return Outcome(name, because, retry_at)

    def _persist(self, handed: Handed) -> Outcome:
        def hold() -> None:
            with suppress(JournalFault):
                self.journal.extend(self.errand.provider)

        return persist(lambda: self.keep(handed), self.keeping, meanwhile=hold, sleep=self.sleep, clock=self.clock)

    def _note(self, renewal: Renewal, *, spent: str = "") -> None:
        """Write it down if that is possible: a pair in hand comes first."""
        with suppress(JournalFault):
            self.journal.note(self.errand.account_id, renewal, spent=spent)

    def _stored(self) -> Credential:
        return self.store.get(self.errand.account_id)
