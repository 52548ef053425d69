"""Who is measured, when and by what, and how measuring slows itself down."""

from dataclasses import dataclass, field, replace
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routing.gauges import LONGEST, LONGEST_OBEYED, UNTRIED, Gauge
from routing.measuring import UNASKED, Plan, Way, plan
from routing.observations import AccountsChanged
from routing.router import Router
from routing.rules import PROBE_LEAST_S, Probing, Rules
from routing.snapshot import AccountPicture, HoldPicture, State, WindowPicture
from routing.words import Kind
from tests.routing.gauged import meetings, met
from tests.routing.made import NOON, account, hours, reading, seconds

BOTH = Probing(usage=True, paid=True)
FREE = Probing()
EVERY = seconds(PROBE_LEAST_S)


def window(key: str = "5h", *, resets: float | None = 2, ago: float = 600) -> WindowPicture:
    """A window that was read so many seconds before noon; resets: hours after noon."""
    read = reading(key, resets=resets, taken=-ago)
    return WindowPicture(
        key=key,
        used=read.used,
        resets_at=read.resets_at,
        status=read.status,
        source=read.source,
        taken_at=read.taken_at,
    )


def hold(row: int) -> HoldPicture:
    return HoldPicture(scope="account", until=NOON + hours(1), because=f"row {row}", row=row)


def picture(
    *windows: WindowPicture,
    state: State = State.HEALTHY,
    kind: Kind = Kind.OAUTH,
    holds: tuple[HoldPicture, ...] = (),
) -> AccountPicture:
    router = Router(Rules())
    router.observe(AccountsChanged(accounts=(account(kind=kind),)))
    (plain,) = router.snapshot(NOON).accounts
    return replace(plain, state=state, windows=windows, holds=holds)


def planned(
    of: AccountPicture, gauge: Gauge = UNTRIED, rules: Probing = FREE, *, may_ask: bool = True, now: datetime = NOON
) -> Plan:
    return plan(of, gauge, rules, now, may_ask_usage=may_ask)


@dataclass
class Case:
    """What is known, and by what and in how many seconds the account is measured; None: not as things stand."""

    name: str
    of: AccountPicture
    by: Way | None
    after: float | None
    gauge: Gauge = UNTRIED
    rules: Probing = BOTH
    may_ask: bool = True
    because: str = field(default="", compare=False)


USAGE, REQUEST = Way.USAGE, Way.REQUEST
TOKEN = Kind.SETUP_TOKEN
CASES = [
    Case("nothing known", picture(state=State.UNMEASURED), USAGE, 0),
    Case("old readings", picture(window()), USAGE, 0),
    Case("readings just old enough", picture(window(ago=180)), USAGE, 0),
    Case("fresh readings", picture(window(ago=179)), USAGE, 1),
    Case("one of two windows fresh", picture(window(ago=60), window("7d")), USAGE, 120),
    Case(
        "held by a window whose reset passed", picture(window(resets=-1), state=State.HELD, holds=(hold(13),)), USAGE, 0
    ),
    Case("nothing left to pay with", picture(window(), state=State.BUDGET_SPENT, holds=(hold(20),)), USAGE, 0),
    Case("login ends in days", picture(window(), state=State.EXPIRING), USAGE, 0),
    Case("asked a minute ago", picture(), USAGE, 120, gauge=Gauge(asked_at=NOON - seconds(60))),
    Case("closed for it", picture(window()), None, None, gauge=Gauge(is_closed=True), rules=FREE),
    Case("closed for it, and paid", picture(window()), REQUEST, 0, gauge=Gauge(is_closed=True)),
    Case("setup token", picture(window(), kind=TOKEN), None, None, rules=FREE, may_ask=False),
    Case("setup token, paid", picture(window(), kind=TOKEN), REQUEST, 0, may_ask=False),
    Case("setup token, paid, fresh", picture(window(ago=100), kind=TOKEN), REQUEST, 80, may_ask=False),
    Case("paid, window lapsed", picture(window(resets=-1), kind=TOKEN), REQUEST, None, may_ask=False),
    Case("paid, window ends now", picture(window(resets=0), kind=TOKEN), REQUEST, None, may_ask=False),
    Case("paid, window without reset", picture(window(resets=None), kind=TOKEN), REQUEST, None, may_ask=False),
    Case("paid, no such window", picture(window("7d"), kind=TOKEN), REQUEST, None, may_ask=False),
    Case("paid, unmeasured", picture(kind=TOKEN, state=State.UNMEASURED), REQUEST, None, may_ask=False),
    Case("paid, held by its week", picture(window(), kind=TOKEN, holds=(hold(13),)), REQUEST, 0, may_ask=False),
    Case("paid, held otherwise", picture(window(), kind=TOKEN, holds=(hold(19),)), REQUEST, None, may_ask=False),
    Case("usage off", picture(window()), None, None, rules=Probing(usage=False)),
    Case("usage off, paid", picture(window()), REQUEST, 0, rules=Probing(usage=False, paid=True)),
    Case("an API key", picture(window(), kind=Kind.API_KEY), None, None, may_ask=False),
    Case("every ten minutes", picture(window(ago=300)), USAGE, 300, rules=Probing(every=600)),
    *(Case(state.value, picture(window(), state=state), None, None) for state in UNASKED),
]


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_who_is_measured_when_and_by_what(case: Case) -> None:
    """The way, the moment, and a reason in words."""
    found = planned(case.of, case.gauge, case.rules, may_ask=case.may_ask)

    assert (found.by, found.next_at) == (case.by, None if case.after is None else NOON + seconds(case.after))
    assert found.is_due(NOON) == (case.after == 0)
    assert found.because


def test_a_rest_after_a_failure_goes_before_every() -> None:
    """It is measured when the longer of the two is over, and the reason is the failure's."""
    throttled = UNTRIED.throttled(NOON, "429", FREE, seconds(2895))

    assert planned(picture(), throttled) == Plan(by=USAGE, next_at=NOON + seconds(2895), because="429")
    assert planned(picture(), throttled.read(NOON)).next_at == NOON + EVERY


def test_a_new_credential_is_asked_again() -> None:
    """What the old one was refused for is forgotten; that the account was asked too often is not."""
    closed = UNTRIED.closed(NOON)
    assert planned(picture(), closed, FREE).by is None
    assert planned(picture(), closed.facing("new"), FREE) == Plan(
        by=USAGE, next_at=NOON + EVERY, because="it was asked just now"
    )

    failed = UNTRIED.failed(NOON, "401", FREE)
    assert planned(picture(), failed.facing("new")).next_at == NOON + EVERY

    throttled = UNTRIED.closed(NOON).throttled(NOON, "429", FREE, seconds(2000))
    assert planned(picture(), throttled.facing("new")).next_at == NOON + seconds(2000)


def test_a_clock_that_went_back_does_not_stop_measuring() -> None:
    """What was noted in the future says nothing."""
    gauge = UNTRIED.throttled(NOON + hours(48), "429", FREE, None)

    assert planned(picture(window(ago=-7200)), gauge).is_due(NOON)


moments = st.floats(0, 86400)


@given(
    reads=st.lists(moments, max_size=3),
    asks=st.lists(st.tuples(meetings, moments), max_size=4),
    every=st.floats(PROBE_LEAST_S, 7200),
)
def test_nobody_is_asked_twice_within_the_rest(reads: list[float], asks: list[tuple[str, float]], every: float) -> None:
    """Whatever was met, an account that is due was neither read nor asked within `every`, and it is due one day."""
    rules, gauge = Probing(every=every), UNTRIED
    for what, ago in sorted(asks, key=lambda ask: -ask[1]):
        gauge = met(gauge, what, NOON - seconds(ago), rules, ago)
    found = plan(picture(*(window(ago=ago) for ago in reads)), gauge, rules, NOON, may_ask_usage=True)

    if found.is_due(NOON):
        assert all(ago >= every for ago in [*reads, *(ago for _, ago in asks)])
        assert gauge.rest_until is None or gauge.rest_until <= NOON
    if found.by is not None:
        assert found.next_at is not None
        assert NOON <= found.next_at <= NOON + max(LONGEST, LONGEST_OBEYED, seconds(every))
