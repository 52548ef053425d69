"""Spans in which an account, or an account for one family, is not asked: how they are set, kept and lifted.

A hold never shortens a longer one. It is lifted by an answer to a request sent after it was set, or by a check; not where
only a secret or a new login cures it.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import Enum

from routing.readings import Reading, Status
from routing.rules import Holds
from routing.verdicts import AUTH_ROW, FORBIDDEN_ROW, LOGIN_ROWS, RENEWED_ROW, AuthLadder, HoldEnd, SoonestReset
from routing.words import AccountId, Demand, ExchangeId, Family

WINDOW_ROWS = frozenset({9, 12, 13})  # lifted by what an answer shows of the windows they rest on
KEPT = timedelta(days=1)  # an ended hold is forgotten this much later: now may go back
MENDED = datetime(9999, 1, 1, tzinfo=UTC)  # the end of a hold that no time ends


class Cure(Enum):
    """What ends a hold before its time, or at all."""

    ANSWER = "answer"  # its end, a later answer, a check
    SECRET = "secret"  # only a readable secret  # noqa: S105
    LOGIN = "login"  # only a new credential


@dataclass(frozen=True, slots=True, kw_only=True)
class Hold:
    """One span in which an account is not asked, and why.

    family: None holds the account for every family.
    windows: keys of the windows it rests on. by: the exchange that met the refusal; None when restored.
    set_at: when it was met last; since: when first, where that was earlier.
    restored: whether it was met before the last start and by nobody since.
    """

    account: AccountId
    family: Family | None
    row: int
    until: datetime
    because: str
    windows: frozenset[str]
    set_at: datetime
    by: ExchangeId | None = None
    restored: bool = False
    cure: Cure = Cure.ANSWER
    since: datetime | None = None

    def bars(self, demand: Demand) -> bool:
        """Whether the demand is in its scope."""
        return self.family is None or self.family == demand.family

    def is_over(self, now: datetime) -> bool:
        """Whether its end has come."""
        return self.until <= now

    @property
    def ends(self) -> datetime | None:
        """When it ends by itself; None when only a mend ends it."""
        return None if self.until == MENDED else self.until

    @property
    def place(self) -> tuple[Family | None, int, Cure, ExchangeId | None]:
        """Scope, row and cure: an account has one hold of each."""
        # One of row 19 may be taken back by the exchange that set it, which must not undo another exchange's.
        return (self.family, self.row, self.cure, self.by if self.row == FORBIDDEN_ROW else None)

    @property
    def began_at(self) -> datetime | None:
        """When it was met first; None when that is not known."""
        return None if self.set_at == MENDED else self.since or self.set_at

    @property
    def rests_on_windows(self) -> bool:
        """Whether it stands for as long as certain windows are used up, and these are known."""
        return self.row in WINDOW_ROWS and bool(self.windows) and self.cure is Cure.ANSWER

    def is_of_place(self, other: "Hold") -> bool:
        """Whether both are the one hold that an account has in this scope for this row."""
        return self.place == other.place

    def extends(self, other: "Hold") -> bool:
        """Whether the other, of the same scope and row, ended before this one began."""
        return (self.family, self.row) == (other.family, other.row) and other.is_over(self.set_at)


type AccountHolds = tuple[Hold, ...]


def unsigned(account: AccountId, because: str) -> Hold:
    """Build the hold of an account whose secret is not at hand: like a refused login, for as long as that lasts."""
    return replace(refused_login(account, because, MENDED, MENDED), cure=Cure.SECRET)


def ended_login(account: AccountId, because: str, at: datetime) -> Hold:
    """Build the hold of an account whose login can be renewed no more: until it has a new one."""
    return replace(refused_login(account, because, at, MENDED), cure=Cure.LOGIN)


def unrenewed(account: AccountId, because: str, at: datetime, until: datetime) -> Hold:
    """Build the hold of an account whose login could not be renewed, until that is tried again."""
    return replace(refused_login(account, because, at, until), row=RENEWED_ROW)


def refused_login(account: AccountId, because: str, at: datetime, until: datetime) -> Hold:
    """Build the hold of an account whose login was refused by a check."""
    return Hold(
        account=account, family=None, row=AUTH_ROW, until=until, because=because, windows=frozenset(), set_at=at
    )


def by_answers(holds: AccountHolds) -> AccountHolds:
    """Select what outlives a restart: what was met in answers, and not what is seen anew at the start."""
    return tuple(hold for hold in holds if hold.cure is Cure.ANSWER)


def barring(holds: AccountHolds, demand: Demand, now: datetime) -> AccountHolds:
    """Select the holds that keep an account from serving the demand now."""
    return tuple(hold for hold in holds if hold.until > now and hold.bars(demand))


def placed(holds: AccountHolds, hold: Hold) -> AccountHolds:
    """Add a hold to an account's; where one of its scope and row ends later, that end stays."""
    if hold.is_over(hold.set_at):
        return holds
    kept = []
    for other in holds:
        if other.is_of_place(hold):
            hold = _longer(other, hold)
        elif not hold.extends(other) and not other.is_over(hold.set_at - KEPT):
            kept.append(other)
    return (*kept, hold)


def _longer(held: Hold, hold: Hold) -> Hold:
    """Take the one that ends later, confirmed at the later of both times."""
    later = held if held.until >= hold.until else hold
    restored = held.restored and hold.restored
    since = None if held.is_over(hold.set_at) else min(_began(held), _began(hold))
    return replace(later, set_at=max(held.set_at, hold.set_at), restored=restored, since=since)


def _began(hold: Hold) -> datetime:
    return hold.since or hold.set_at


def after_success(holds: AccountHolds, demand: Demand, readings: Iterable[Reading], sent_at: datetime) -> AccountHolds:
    """Keep of an account's holds what stands after an answer of row 8 to a request sent then."""
    roomy = frozenset(r.window.key for r in readings if _shows_room(r))
    return tuple(hold for hold in holds if not (hold.set_at < sent_at and _is_disproved(hold, demand, roomy)))


def after_measuring(holds: AccountHolds, readings: Iterable[Reading], sent_at: datetime) -> AccountHolds:
    """Keep of an account's holds what stands after its windows were asked for then: no client's request was accepted."""
    roomy = frozenset(r.window.key for r in readings if _shows_room(r))
    return tuple(h for h in holds if not (h.set_at < sent_at and h.rests_on_windows and h.windows <= roomy))


def after_acceptance(holds: AccountHolds, at: datetime) -> AccountHolds:
    """Keep of an account's holds what stands after its credential was checked and accepted then."""
    return tuple(h for h in holds if not (h.cure is Cure.ANSWER and h.row in LOGIN_ROWS and h.set_at < at))


def _is_disproved(hold: Hold, demand: Demand, roomy: frozenset[str]) -> bool:
    if hold.cure is not Cure.ANSWER:
        return False
    if hold.rests_on_windows:
        return hold.windows <= roomy
    return hold.bars(demand)


def _shows_room(reading: Reading) -> bool:
    return reading.status is not Status.REJECTED and reading.used is not None and reading.used < 1


def taken_back(holds: AccountHolds, exchange: ExchangeId) -> AccountHolds:
    """Drop from an account's holds those of row 19 that the exchange set."""
    return tuple(hold for hold in holds if not (hold.row == FORBIDDEN_ROW and hold.by == exchange))


@dataclass(frozen=True, slots=True, kw_only=True)
class Ladder:
    """An account's consecutive refusals of row 18; set_at: when the latest that counted was met."""

    failures: int
    set_at: datetime

    def span(self, rules: Holds) -> timedelta:
        """How long its hold lasts: doubling from auth_s to auth_max_s."""
        doublings = min(self.failures - 1, 32)  # far beyond any maximum, and no overflow
        return timedelta(seconds=min(rules.auth_s * 2**doublings, rules.auth_max_s))


def climbed(ladder: Ladder | None, sent_at: datetime, at: datetime) -> Ladder | None:
    """Climb by one more refusal; None when the request went out before the last one was known."""
    if ladder is None:
        return Ladder(failures=1, set_at=at)
    return Ladder(failures=ladder.failures + 1, set_at=at) if sent_at > ladder.set_at else None


def end_of(
    end: HoldEnd, ladder: Ladder | None, readings: Iterable[Reading], rules: Holds, at: datetime
) -> datetime | None:
    """When an ordered hold ends; None when it is not to be set (a refusal that its ladder already counted)."""
    match end:
        case AuthLadder():
            return None if ladder is None else at + ladder.span(rules)
        case SoonestReset():
            resets = (r.resets_at for r in readings if r.resets_at is not None and r.resets_at > at)
            return min(resets, default=at + end.otherwise)
        case _:
            return end
