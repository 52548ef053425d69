"""Tests of routing/outage.py."""

from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routing.holds import Hold, ended_login, unrenewed, unsigned
from routing.memory import Memory
from routing.observations import AccountsChanged
from routing.outage import LONGEST, Outage, Storm, outage
from routing.rules import Holds
from routing.words import Account, AccountId
from tests.routing.made import ANN, BEN, CAT, NAMES, NOON, account, hold, seconds

MINUTE = timedelta(minutes=1)
REFUSED, LIMITED = hold(18), hold(13)
ENDED = ended_login(ANN, "ended", NOON + MINUTE)
UNRENEWED = unrenewed(ANN, "no answer", NOON - MINUTE, NOON + 9 * MINUTE)
SLOW = unrenewed(ANN, "it takes long", NOON - seconds(59), NOON + MINUTE)
GONE = unsigned(ANN, "gone")


def holding(*pool: tuple[Account, Hold | None]) -> Memory:
    """A memory of accounts that are held so."""
    memory = Memory(rules=Holds())
    memory.learn(AccountsChanged(accounts=tuple(one for one, _ in pool)))
    memory.held.holds = {one.id: (held,) for one, held in pool if held is not None}
    return memory


A, B, OFF, ELSEWHERE = account(ANN), account(BEN), account(CAT, enabled=False), account(CAT, provider="openai")
CASES = [
    ("nobody there", (), None),
    ("one, and it serves", ((A, None),), None),
    ("one, refused", ((A, REFUSED),), Outage(names=("ann",), since=NOON)),
    ("one of two serves", ((A, REFUSED), (B, None)), None),
    ("one of two is limited", ((A, REFUSED), (B, LIMITED)), None),
    ("a refusal that is over", ((A, hold(18, end=-1)),), None),
    ("the last of them", ((A, REFUSED), (B, ENDED)), Outage(names=("ann", "ben"), since=NOON + MINUTE)),
    ("one cannot be renewed", ((A, UNRENEWED), (B, ENDED)), Outage(names=("ann", "ben"), since=NOON + MINUTE)),
    ("it cannot for a minute", ((A, UNRENEWED),), Outage(names=("ann",), since=NOON - MINUTE)),
    ("it cannot for a moment", ((A, SLOW),), None),
    ("one has no secret", ((A, GONE), (B, ENDED)), Outage(names=("ann", "ben"), since=NOON + MINUTE)),
    ("none has a secret", ((A, GONE),), Outage(names=("ann",), since=None)),
    ("the disabled do not count", ((A, REFUSED), (OFF, None)), Outage(names=("ann",), since=NOON)),
    ("none is enabled", ((OFF, REFUSED),), None),
    ("nor do those of others", ((A, REFUSED), (ELSEWHERE, None)), Outage(names=("ann",), since=NOON)),
]


@pytest.mark.parametrize(("pool", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_when_no_account_can_sign_in(pool: tuple[tuple[Account, Hold | None], ...], expected: Outage | None) -> None:
    """Every enabled account of the provider at once, since the last of them failed."""
    assert outage(holding(*pool), "anthropic", NOON) == expected


STORMS = [  # (seconds, account, ok) …, paused until so many seconds, and whether one may be tried at that end alone
    ("nothing", [], None),
    ("one fails again and again", [(0, ANN, False), (10, ANN, False), (20, ANN, False)], None),
    ("two within a minute", [(0, ANN, False), (60, BEN, False)], 360),
    ("two further apart", [(0, ANN, False), (61, BEN, False)], None),
    ("near the later of two", [(0, ANN, False), (61, BEN, False), (100, ANN, False)], 400),
    ("a success between", [(0, ANN, False), (1, CAT, True), (2, BEN, False)], None),
    ("out of order", [(2, ANN, False), (0, BEN, False)], 300),
    ("a late failure", [(0, ANN, False), (1, BEN, False), (2, CAT, False)], 301),
    ("the try after it fails", [(0, ANN, False), (1, BEN, False), (301, ANN, False)], 301 + 600),
    ("and again", [(0, ANN, False), (1, BEN, False), (301, ANN, False), (901, BEN, False)], 901 + 1200),
    (
        "at most half an hour",
        [(0, ANN, False), (1, BEN, False), (301, ANN, False), (901, BEN, False), (2101, BEN, False), (3901, ANN, False)],
        3901 + 1800,
    ),
    ("the try after it succeeds", [(0, ANN, False), (1, BEN, False), (301, ANN, True)], None),
    ("and then it begins anew", [(0, ANN, False), (1, BEN, False), (301, ANN, True), (302, ANN, False), (303, BEN, False)], 603),
]  # fmt: skip


@pytest.mark.parametrize(("told", "until"), [case[1:] for case in STORMS], ids=[case[0] for case in STORMS])
def test_renewals_pause_when_several_fail(told: list[tuple[float, AccountId, bool]], until: float | None) -> None:
    """Two accounts within a minute: five minutes, twice as long after each try that fails, at most thirty."""
    storm = Storm()
    for at, name, ok in told:
        storm = storm.fed(name, NOON + seconds(at), ok=ok)
    last = NOON + seconds(told[-1][0] if told else 0)

    assert storm.paused_until(last) == (None if until is None else NOON + seconds(until))
    if until is not None:
        end = NOON + seconds(until)
        assert (storm.paused_until(end), storm.is_single(end), storm.is_single(last)) == (None, True, False)


feeds = st.lists(st.tuples(st.sampled_from(NAMES), st.integers(-3600, 7200), st.booleans()), max_size=12)


@given(feeds, st.integers(-3600, 9000))
def test_no_pause_is_without_end(told: list[tuple[AccountId, int, bool]], now: int) -> None:
    """However it went and wherever the clock is, a pause lasts half an hour at most, and a success ends it."""
    storm = Storm()
    for name, at, ok in told:
        storm = storm.fed(name, NOON + seconds(at), ok=ok)
    until = storm.paused_until(NOON + seconds(now))

    assert until is None or until - (NOON + seconds(now)) <= LONGEST
    assert storm.fed(ANN, NOON + seconds(now), ok=True) == Storm()


@pytest.mark.parametrize(("back", "paused"), [(0, True), (1500, True), (1501, False)])
def test_a_clock_that_went_back_ends_a_pause(back: float, paused: bool) -> None:
    """Five minutes that would last longer than the longest pause are no longer believed."""
    storm = Storm().fed(ANN, NOON, ok=False).fed(BEN, NOON, ok=False)

    assert (storm.paused_until(NOON - seconds(back)) is not None) is paused


@given(st.sampled_from(NAMES), st.lists(st.integers(0, 9000), max_size=12))
def test_one_account_alone_stops_nobody(name: AccountId, times: list[int]) -> None:
    """Its own failures are its own backoff's business."""
    storm = Storm()
    for at in sorted(times):
        storm = storm.fed(name, NOON + seconds(at), ok=False)
        assert _is_open(storm, NOON + seconds(at))


def _is_open(storm: Storm, now: datetime) -> bool:
    return storm.paused_until(now) is None and not storm.is_single(now)
