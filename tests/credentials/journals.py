"""A journal in memory, a clock that is set by hand, and logins made up for the tests of renewing."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from credentials.credential import Credential, parse
from credentials.journal import JournalFault
from credentials.memory import MemoryStore
from credentials.renewal import Granted, Renewal, Reply, fingerprint
from credentials.renewer import CURRENT, GONE, RENEWED, Handed, Outcome
from credentials.renewing import Errand, Renewing
from credentials.secret import Secret

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
WORK = "a1"


def login(number: int, ends: timedelta = timedelta(hours=8), *, refresh: bool = True) -> Credential:
    """The login of that generation, which ends so long after noon."""
    said = {"accessToken": f"sk-ant-oat01-PLANTED-{number}", "expiresAt": int((NOON + ends).timestamp() * 1000)}
    if refresh:
        said["refreshToken"] = f"sk-ant-ort01-PLANTED-{number}"
    return parse("oauth", json.dumps(said))


def print_of(credential: Credential) -> str:
    """The fingerprint of its refresh token."""
    assert credential.refresh is not None
    return fingerprint(credential.refresh)


def granted(number: int, ends: timedelta = timedelta(hours=8)) -> Granted:
    """The endpoint's gift of that generation."""
    new = login(number, ends)
    return Granted(access=new.access, refresh=new.refresh, expires_at=NOON + ends, owner="u-1")


@dataclass
class MemoryJournal:
    """Forgets with the test. fails: names of methods that raise. holder: who has the claim, "" nobody, "me" this one."""

    holder: str = ""
    fails: set[str] = field(default_factory=set)
    notes: list[tuple[Renewal, str]] = field(default_factory=list)
    spent: dict[str, str] = field(default_factory=dict)
    released: int = 0
    on_claim: Callable[[], object] = lambda: None

    def _check(self, name: str) -> None:
        if name in self.fails:
            raise JournalFault("the state cannot be written; run: df -h")

    def claim(self, _name: str) -> bool:
        self._check("claim")
        self.on_claim()
        if self.holder:
            return False
        self.holder = "me"
        return True

    def extend(self, _name: str) -> bool:
        self._check("extend")
        return self.holder == "me"

    def release(self, _name: str) -> None:
        self.released += 1
        self._check("release")
        self.holder = ""

    def last(self, _account_id: str) -> Renewal | None:
        self._check("last")
        return self.notes[-1][0] if self.notes else None

    def is_spent(self, fingerprint: str) -> bool:
        self._check("is_spent")
        return fingerprint in self.spent

    def note(self, _account_id: str, renewal: Renewal, *, spent: str = "") -> None:
        self._check(f"note {renewal.outcome}")
        self._check("note")
        self.notes.append((renewal, spent))
        if spent:
            self.spent[renewal.fingerprint] = spent

    @property
    def outcomes(self) -> list[str]:
        """What was written down, in order."""
        return [renewal.outcome for renewal, _ in self.notes]


@dataclass
class World:
    """One account, its store and journal, and an endpoint that answers from a list; events: all in order."""

    replies: list[Reply | Exception | Callable[[], Reply]] = field(default_factory=list)
    journal: MemoryJournal = field(default_factory=MemoryJournal)
    store: MemoryStore = field(default_factory=MemoryStore)
    now: datetime = NOON
    source: Credential | None = None
    events: list[str] = field(default_factory=list)
    handed: list[Handed] = field(default_factory=list)
    put_fails: int = 0
    slept: float = 0.0

    def __post_init__(self) -> None:
        self.store.put(WORK, login(1, timedelta(minutes=1)))

    def ask(self, refresh: Secret) -> Reply:
        """Answer the next."""
        self.events.append(f"ask {refresh.reveal().rpartition('-')[2]}")
        reply = self.replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return reply() if callable(reply) else reply

    def keep(self, handed: Handed) -> Outcome:
        """Write it where the spent one still is."""
        if self.put_fails:
            self.put_fails -= 1
            raise OSError(28, "No space left on device")
        self.events.append("keep")
        if WORK not in self.store.ids():
            return Outcome(GONE, "it was removed meanwhile")
        if print_of(self.store.get(WORK)) != handed.spent:
            return Outcome(CURRENT, "it was replaced meanwhile")
        self.store.put(WORK, handed.credential)
        return Outcome(RENEWED)

    def hand_over(self, handed: Handed) -> None:
        """Take it as the parent."""
        self.events.append("hand over")
        self.handed.append(handed)

    def sleep(self, seconds: float) -> None:
        """Let the time pass at once."""
        self.slept += seconds
        self.now += timedelta(seconds=seconds)

    def renew(self, *, is_due_only: bool = False, is_asked_for: bool = False) -> Outcome:
        """Run one worker."""
        errand = Errand(account_id=WORK, provider="vendor", is_due_only=is_due_only, is_asked_for=is_asked_for)
        return Renewing(
            errand=errand,
            journal=self.journal,
            store=self.store,
            ask=self.ask,
            keep=self.keep,
            source=lambda: self.source,
            hand_over=self.hand_over,
            now=lambda: self.now,
            clock=self.seconds,
            sleep=self.sleep,
        ).run()

    def seconds(self) -> float:
        """The time since noon."""
        return (self.now - NOON).total_seconds()

    @property
    def generation(self) -> str:
        """Which login is stored, by its number."""
        return self.store.get(WORK).access.reveal().rpartition("-")[2]
