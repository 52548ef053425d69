"""Tests of routing/holds.py."""

from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from routing.holds import (
    KEPT,
    AccountHolds,
    Hold,
    Ladder,
    after_acceptance,
    after_measuring,
    after_success,
    barring,
    by_answers,
    climbed,
    end_of,
    ended_login,
    placed,
    taken_back,
    unrenewed,
    unsigned,
)
from routing.readings import Reading, Status
from routing.rules import Holds
from routing.verdicts import AuthLadder, SoonestReset
from routing.words import Demand, ExchangeId
from tests.routing.made import (
    ANN,
    EXCHANGE,
    HAIKU,
    NOON,
    OPUS,
    demand,
    hold,
    holds,
    hours,
    moments,
    reading,
    readings,
    seconds,
)

OTHER = ExchangeId("e2")
SOON = NOON + seconds(60)


def held_until(account_holds: AccountHolds, asked: Demand) -> datetime:
    """When the last bar to the demand ends, seen from long before."""
    return max((h.until for h in account_holds if h.bars(asked)), default=datetime.min.replace(tzinfo=NOON.tzinfo))


def all_placed(many: list[Hold]) -> AccountHolds:
    """An account's holds after these refusals, in order."""
    result: AccountHolds = ()
    for one in many:
        result = placed(result, one)
    return result


@given(st.lists(holds, max_size=8), holds, st.sampled_from([OPUS, HAIKU]))
def test_a_hold_never_gets_shorter(before: list[Hold], one: Hold, family: str) -> None:
    """Whatever is refused next, no bar that stands ends earlier than it would have."""
    asked = demand(family=family)
    held = all_placed(before)

    assert held_until(held, asked) <= held_until(placed(held, one), asked)


@given(st.lists(holds, max_size=12))
def test_one_hold_per_scope_and_row(many: list[Hold]) -> None:
    """However often an account is refused, it has one hold of each scope and row (and exchange, for row 19)."""
    places = [one.place for one in all_placed(many)]

    assert len(places) == len(set(places))


@given(holds, moments)
def test_a_hold_bars_until_its_end(one: Hold, now: datetime) -> None:
    """It bars what is in its scope as long as its end has not come, also when now went back."""
    assert bool(barring((one,), demand(), now)) is (now < one.until and one.family in (None, OPUS))
    assert one.is_over(now) is (now >= one.until)


@given(st.lists(holds, max_size=6), st.lists(readings, max_size=3), moments)
def test_a_success_lifts_only_what_was_set_before_it_was_sent(
    many: list[Hold], shown: list[Reading], sent_at: datetime
) -> None:
    """A hold that was set later than the request went out is not disproved by its answer."""
    held = all_placed(many)
    kept = after_success(held, demand(), shown, sent_at)

    assert {one for one in held if one.set_at >= sent_at} <= set(kept) <= set(held)


@pytest.mark.parametrize("row", [9, 12, 13])
@pytest.mark.parametrize(
    ("shown", "lifted"),
    [
        ((reading("5h", 0.2), reading("7d", 0.3)), True),
        ((reading("5h", 0.2),), False),
        ((reading("5h", 0.2), reading("7d", 1.0)), False),
        ((reading("5h", 0.2), reading("7d", None)), False),
        ((reading("5h", 0.2), reading("7d", 0.3, status=Status.REJECTED)), False),
        ((), False),
    ],
)
def test_a_limit_is_lifted_when_every_window_shows_room(row: int, shown: tuple[Reading, ...], lifted: bool) -> None:
    """Rows 9, 12 and 13 end early when all windows they rest on are below 1 and not rejected."""
    held = (hold(row, windows=("5h", "7d")),)

    assert lifted is (after_success(held, demand(), shown, SOON) == ())


@pytest.mark.parametrize("row", [9, 11, 12, 13, 14, 17, 18, 19, 20])
@pytest.mark.parametrize(("family", "lifted"), [(None, True), (OPUS, True), (HAIKU, False)])
def test_what_rests_on_no_window_is_lifted_by_any_success_in_its_scope(
    row: int, family: str | None, lifted: bool
) -> None:
    """A success of the same family, or of any where the whole account is held, ends such a hold."""
    held = (hold(row, family=None if family is None else demand(family=family).family),)

    assert lifted is (after_success(held, demand(), (), SOON) == ())


def test_a_shorter_hold_confirms_a_longer_one() -> None:
    """The later end stays, only a request sent after the confirmation can lift it, and when it began is still known."""
    held = placed((hold(end=3),), hold(end=1, set_at=30))

    assert (replace(hold(end=3, set_at=30), since=NOON),) == held
    assert (replace(hold(end=4, set_at=30), since=NOON),) == placed(held, hold(end=4, set_at=10))
    assert [one.began_at for one in placed(held, hold(end=9, set_at=4 * 3600))] == [NOON + hours(4)]


def test_a_hold_that_is_over_when_it_is_set_is_none() -> None:
    """A reset in the past holds nothing."""
    assert placed((), hold(end=0)) == ()


def test_ended_holds_are_forgotten_after_a_day() -> None:
    """An ended hold is kept for a day, because now may go back, and then dropped."""
    late = KEPT / seconds(1)
    old = hold(12, end=1, family=OPUS)

    assert old in placed((old,), hold(end=40, set_at=late))
    assert old not in placed((old,), hold(end=40, set_at=late + 3600))


def test_row_19_is_taken_back_by_its_own_exchange_alone() -> None:
    """Two exchanges were refused so; the one that takes its hold back leaves the other's standing."""
    mine, other = hold(19, family=OPUS), hold(19, end=1, family=OPUS, by=OTHER)
    limit = hold(13)
    held = all_placed([mine, other, limit])

    assert (other, limit) == taken_back(held, EXCHANGE)


def test_row_19_does_not_pile_up() -> None:
    """One that ended before the next began makes way for it."""
    after = hold(19, end=2, set_at=3600, by=OTHER)

    assert (after,) == placed((hold(19, end=1),), after)


@given(st.integers(1, 10_000))
def test_the_ladder_doubles_up_to_its_maximum(failures: int) -> None:
    """15 minutes, doubling with every further refusal, at most 6 hours."""
    spans = [Ladder(failures=n, set_at=NOON).span(Holds()) for n in (failures, failures + 1)]

    assert spans[1] == min(2 * spans[0], hours(6))
    assert seconds(900) <= spans[0]


@given(moments, moments)
def test_only_a_request_sent_after_the_last_refusal_climbs(sent_at: datetime, at: datetime) -> None:
    """Requests that were in flight together count as one refusal."""
    ladder = Ladder(failures=2, set_at=NOON)
    expected = Ladder(failures=3, set_at=at) if sent_at > NOON else None

    assert expected == climbed(ladder, sent_at, at)
    assert Ladder(failures=1, set_at=at) == climbed(None, sent_at, at)


@pytest.mark.parametrize(
    ("end", "ladder", "shown", "expected"),
    [
        (NOON + hours(1), None, (), hours(1)),
        (AuthLadder(), Ladder(failures=2, set_at=NOON), (), seconds(1800)),
        (SoonestReset(otherwise=hours(1)), None, (), hours(1)),
        (SoonestReset(otherwise=hours(1)), None, (reading(resets=None), reading(resets=-1)), hours(1)),
        (SoonestReset(otherwise=hours(1)), None, (reading("5h", resets=3), reading("7d", resets=40)), hours(3)),
    ],
)
def test_ordered_ends(
    end: datetime | AuthLadder | SoonestReset, ladder: Ladder | None, shown: tuple[Reading, ...], expected: timedelta
) -> None:
    """An order's end is a time, a rung of the ladder, or the soonest known reset that is still to come."""
    assert NOON + expected == end_of(end, ladder, shown, Holds(), NOON)


def test_a_refusal_that_the_ladder_already_counted_sets_no_hold() -> None:
    """The hold that stands is neither doubled nor moved."""
    assert end_of(AuthLadder(), None, (), Holds(), NOON) is None


@given(st.lists(holds, max_size=8), moments)
def test_a_success_never_adds_a_bar(many: list[Hold], sent_at: datetime) -> None:
    """After an answer that was let through, no demand is barred that was not barred before."""
    held = all_placed(many)
    assume(held)

    assert held_until(after_success(held, demand(), (), sent_at), demand()) <= held_until(held, demand())


def test_a_restored_hold_that_is_met_again_is_no_longer_restored() -> None:
    """Whichever of both ends later, a refusal of this run confirms it."""
    restored = replace(hold(end=3), restored=True, by=None)

    assert [(one.until, one.restored) for one in placed((restored,), hold(end=1, set_at=5))] == [
        (restored.until, False)
    ]
    assert [one.restored for one in placed((restored,), restored)] == [True]


def test_a_login_that_is_to_be_renewed_is_held_until_then() -> None:
    """For every family, by its own row, and any later success ends it."""
    one = unrenewed(ANN, "no answer", NOON, NOON + hours(1))

    assert (one.row, one.family, one.ends, one.because) == (17, None, NOON + hours(1), "no answer")
    assert after_success((one,), demand(), (), SOON) == ()


@pytest.mark.parametrize("one", [unsigned(ANN, "gone"), ended_login(ANN, "ended", NOON)])
def test_what_only_a_mend_ends_stands_beside_what_answers_set(one: Hold) -> None:
    """It has no end, no success and no check ends it, a restart does not bring it back, and a refusal's hold keeps its own end."""
    held = placed((one,), hold(18, end=1))

    assert one.ends is None
    assert set(held) == {one, hold(18, end=1)}
    assert after_success(held, demand(), (), SOON) == after_acceptance(held, SOON) == (one,)
    assert by_answers(held) == (hold(18, end=1),)


def test_when_a_secret_went_is_not_known() -> None:
    """Of every other hold it is known when it was met first."""
    assert unsigned(ANN, "gone").began_at is None
    assert ended_login(ANN, "ended", NOON).began_at == hold().began_at == NOON


@given(st.lists(holds, max_size=6), moments)
def test_an_acceptance_ends_only_what_the_credential_was_refused_for(many: list[Hold], at: datetime) -> None:
    """Rows 17, 18 and 19 that were met before; limits and what was met later stand."""
    held = all_placed(many)

    assert after_acceptance(held, at) == tuple(h for h in held if h.row not in {17, 18, 19} or h.set_at >= at)


@given(held=st.lists(holds, max_size=4).map(tuple), shown=st.lists(readings, max_size=3), sent=moments)
def test_measuring_lifts_no_more_than_a_success(held: AccountHolds, shown: list[Reading], sent: datetime) -> None:
    """What stands after an accepted request that showed the same stands after measuring, and whatever rests on no window."""
    kept = after_measuring(held, shown, sent)

    assert set(after_success(held, demand(), shown, sent)) <= set(kept)
    assert all(hold in kept for hold in held if not hold.rests_on_windows)
    assert after_measuring(held, (), sent) == held
