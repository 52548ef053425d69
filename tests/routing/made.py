"""Values made up for the tests of routing: a fixed noon, short ways to say what a test is about, and strategies."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from hypothesis import strategies as st

from routing.holds import Hold
from routing.readings import Reading, Source, Status
from routing.trail import Attempt, Trail
from routing.verdicts import AuthLadder, HoldOrder, Hop, Left, SoonestReset, Verdict, VerdictKind
from routing.windows import Window
from routing.words import Account, AccountId, ConversationId, Demand, ExchangeId, Family, Kind, SessionId

NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)
ANN, BEN, CAT = AccountId("ann"), AccountId("ben"), AccountId("cat")
OPUS, HAIKU = Family("opus"), Family("haiku")
EXCHANGE = ExchangeId("e1")
NAMES = (ANN, BEN, CAT)


def seconds(count: float) -> timedelta:
    """So many seconds."""
    return timedelta(seconds=count)


def hours(count: float) -> timedelta:
    """So many hours."""
    return timedelta(hours=count)


def account(
    name: str = ANN,
    *,
    kind: Kind = Kind.OAUTH,
    enabled: bool = True,
    rank: int | None = None,
    provider: str = "anthropic",
) -> Account:
    """An account whose id is its name."""
    return Account(id=AccountId(name), name=name, provider=provider, kind=kind, enabled=enabled, rank=rank)


def demand(
    conversation: str | None = "talk",
    *,
    family: str = OPUS,
    model: str | None = None,
    side: bool = False,
    patience: float = 600,
    session: str | None = "session",
) -> Demand:
    """A turn of a conversation."""
    return Demand(
        provider="anthropic",
        model=family if model is None else model,
        family=Family(family),
        conversation=None if conversation is None else ConversationId(conversation),
        session=None if session is None else SessionId(session),
        side=side,
        patience=seconds(patience),
    )


def window(key: str) -> Window:
    """The window of a key that names one."""
    parsed = Window.parse(key)
    assert parsed is not None
    return parsed


def reading(
    key: str = "7d",
    used: float | None = 0.5,
    *,
    resets: float | None = 24,
    status: Status | None = Status.ALLOWED,
    sent: float = 0,
    taken: float = 0,
    source: Source = Source.ANSWER,
) -> Reading:
    """A reading; resets: hours after noon; sent and taken: seconds after noon."""
    return Reading(
        window=window(key),
        used=used,
        resets_at=None if resets is None else NOON + hours(resets),
        status=status,
        sent_at=NOON + seconds(sent),
        taken_at=NOON + seconds(taken),
        source=source,
    )


def verdict(
    row: int,
    *,
    same: Iterable[float] = (),
    hop: Hop = Hop.NO,
    left: Left = Left.RELAY,
    hold: HoldOrder | None = None,
    kind: VerdictKind = VerdictKind.LIMIT,
    unless_fits: Verdict | None = None,
) -> Verdict:
    """A verdict; same: seconds."""
    return Verdict(
        row=row,
        kind=kind,
        because=f"row {row}",
        same=tuple(seconds(s) for s in same),
        hop=hop,
        left=left,
        hold=hold,
        unless_fits=unless_fits,
    )


def until(end: float, *, family: Family | None = None, windows: Iterable[str] = ()) -> HoldOrder:
    """An order to hold; end: hours after noon."""
    return HoldOrder(until=NOON + hours(end), family=family, windows=frozenset(windows))


OK = verdict(8, kind=VerdictKind.OK)
THROTTLE_LONGER = verdict(14, hop=Hop.ONE, hold=until(1 / 60), kind=VerdictKind.THROTTLE)


def limit(end: float = 2) -> Verdict:
    """Row 13: the week is used up; end: hours after noon."""
    return verdict(13, hop=Hop.EACH, left=Left.OWN, hold=until(end, windows=("7d",)))


def model_limit(family: Family = OPUS, end: float = 2) -> Verdict:
    """Row 12: the week of one model line is used up."""
    order = until(end, family=family, windows=(f"7d_{family}",))
    return verdict(12, hop=Hop.EACH, left=Left.OWN, hold=order, kind=VerdictKind.MODEL_LIMIT)


def throttle(wait: float = 2) -> Verdict:
    """Row 14 with a short retry-after."""
    return verdict(14, same=(wait, wait), kind=VerdictKind.THROTTLE, unless_fits=THROTTLE_LONGER)


def auth() -> Verdict:
    """Row 18: the login was refused."""
    order = HoldOrder(until=AuthLadder())
    return verdict(18, hop=Hop.EACH, left=Left.OWN, hold=order, kind=VerdictKind.AUTH)


def forbidden(family: Family = OPUS, end: float = 1 / 6) -> Verdict:
    """Row 19: the account may not serve the family."""
    order = until(end, family=family)
    return verdict(19, hop=Hop.EACH, left=Left.OWN, hold=order, kind=VerdictKind.FORBIDDEN)


def balance() -> Verdict:
    """Row 20: nothing is left to pay with, until the soonest reset."""
    order = HoldOrder(until=SoonestReset(otherwise=hours(1)))
    return verdict(20, hop=Hop.EACH, left=Left.OWN, hold=order, kind=VerdictKind.CREDIT)


def overloaded() -> Verdict:
    """Row 21."""
    return verdict(21, same=(1, 2), hop=Hop.ONE, kind=VerdictKind.OVERLOADED)


def paid() -> Verdict:
    """Row 9: served as paid overage."""
    order = until(2, windows=("7d",))
    return verdict(9, hop=Hop.EACH, left=Left.OWN, hold=order, kind=VerdictKind.OVERAGE)


def attempt(name: str, met: Verdict, *, ended: float = 0, waited: float = 0) -> Attempt:
    """An attempt that ended so many seconds after noon."""
    at = NOON + seconds(ended)
    return Attempt(account=AccountId(name), verdict=met, sent_at=at, ended_at=at, waited=seconds(waited))


def trail(*attempts: Attempt, renewed_at: int = 0) -> Trail:
    """The trail of an exchange that began at noon."""
    return Trail(started_at=NOON, attempts=attempts, renewed_at=renewed_at)


def hold(
    row: int = 13,
    *,
    end: float = 2,
    set_at: float = 0,
    family: Family | None = None,
    windows: Iterable[str] = (),
    by: ExchangeId | None = EXCHANGE,
    name: AccountId = ANN,
) -> Hold:
    """A hold; end: hours after noon; set_at: seconds after noon."""
    return Hold(
        account=name,
        family=family,
        row=row,
        until=NOON + hours(end),
        because=f"row {row}",
        windows=frozenset(windows),
        set_at=NOON + seconds(set_at),
        by=by,
    )


rows = st.sampled_from([9, 11, 12, 13, 14, 17, 18, 19, 20])
families = st.sampled_from([OPUS, HAIKU])
fractions = st.floats(0, 1.2)
spans = st.integers(-7200, 7200)  # seconds around noon
moments = spans.map(lambda s: NOON + seconds(s))
holds = st.builds(
    hold,
    rows,
    end=st.floats(-3, 3),
    set_at=spans,
    family=st.none() | families,
    windows=st.sets(st.sampled_from(["5h", "7d", "7d_opus"])),
    by=st.sampled_from([EXCHANGE, ExchangeId("e2"), None]),
)
readings = st.builds(
    reading,
    st.sampled_from(["5h", "7d", "7d_opus", "7d_new"]),
    st.none() | fractions,
    resets=st.none() | st.floats(-2, 168),
    status=st.none() | st.sampled_from(Status),
    sent=spans,
    taken=spans,
)
accounts = st.builds(
    account,
    st.sampled_from(NAMES),
    kind=st.sampled_from(Kind),
    enabled=st.integers(0, 4).map(bool),
    rank=st.none() | st.integers(0, 2),
    provider=st.sampled_from(["anthropic", "anthropic", "anthropic", "openai"]),
)
pools = st.lists(accounts, min_size=1, max_size=3, unique_by=lambda a: a.id).map(tuple)
demands = st.builds(
    demand,
    st.sampled_from(["talk", "chat", None]),
    family=families,
    side=st.integers(0, 4).map(lambda n: n == 0),
    patience=st.sampled_from([1, 60, 600]),
    session=st.sampled_from(["session", None]),
)
orders = st.builds(
    HoldOrder,
    until=moments | st.just(AuthLadder()) | st.just(SoonestReset(otherwise=hours(1))),
    family=st.none() | families,
    windows=st.frozensets(st.sampled_from(["5h", "7d"])),
)
refusals = st.builds(
    verdict,
    st.sampled_from([1, 3, 9, 10, 11, 12, 13, 14, 15, 18, 19, 20, 21, 22, 23, 24]),
    same=st.lists(st.sampled_from([0, 0.25, 1, 2, 4, 9]), max_size=3),
    hop=st.sampled_from(Hop),
    left=st.sampled_from(Left),
    hold=st.none() | orders,
    kind=st.sampled_from([k for k in VerdictKind if k is not VerdictKind.OK]),
    unless_fits=st.none() | st.just(THROTTLE_LONGER),
)
