"""Tests of routing/pressure.py; moments are minutes after noon, and the 5-hour window began at noon unless said otherwise."""

from dataclasses import replace
from datetime import datetime
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routing.pressure import BOUND, LATELY, Level, Levels, Pressures, grown, is_out, lately, pressure, recent_rate
from routing.readings import Reading, Status
from tests.routing.made import ANN, BEN, NOON, hours, reading, seconds


def at(minutes: float) -> datetime:
    """So many minutes after noon."""
    return NOON + seconds(60 * minutes)


def read(used: float | None, minutes: float, *, resets: float | None = 5) -> Reading:
    """A reading of the 5-hour window."""
    return replace(reading("5h", used, resets=resets), sent_at=at(minutes), taken_at=at(minutes))


def told(*shown: tuple[float, float]) -> Pressures:
    """What is kept after these uses were read at these minutes."""
    kept = Pressures()
    for used, minutes in shown:
        kept.read(ANN, read(used, minutes))
    return kept


def levels(*shown: tuple[float, float]) -> list[tuple[float, float, float]]:
    """The levels after these uses were read at these minutes: use, and minutes of the first and the last reading."""
    held = None
    for used, minutes in shown:
        held = grown(held, used, read(used, minutes))
    return [(one.used, (one.first - NOON) / seconds(60), (one.last - NOON) / seconds(60)) for one in _of(held)]


def _of(held: Levels | None) -> tuple[Level, ...]:
    return held.levels if held else ()


LEVELS = [
    ("each higher use is a level", [(0.1, 0), (0.2, 5)], [(0.1, 0, 0), (0.2, 5, 5)]),
    ("the same use was last read later", [(0.1, 0), (0.1, 5)], [(0.1, 0, 5)]),
    ("a small fall is no level", [(0.1, 0), (0.01, 5), (0.1, 6)], [(0.1, 0, 6)]),
    ("a fall by a tenth begins anew", [(0.1, 0), (0.2, 5), (0.1, 6)], [(0.1, 6, 6)]),
    ("half an hour later the baseline stays", [(0.1, 0), (0.2, 20), (0.3, 50)], [(0.2, 20, 20), (0.3, 50, 50)]),
    ("not earlier", [(0.1, 0), (0.2, 20), (0.3, 49)], [(0.1, 0, 0), (0.2, 20, 20), (0.3, 49, 49)]),
    ("a late answer does not turn time back", [(0.1, 5), (0.2, 3)], [(0.1, 5, 5), (0.2, 5, 5)]),
]


@pytest.mark.parametrize(("shown", "expected"), [c[1:] for c in LEVELS], ids=[c[0] for c in LEVELS])
def test_levels(shown: list[tuple[float, float]], expected: list[tuple[float, float, float]]) -> None:
    """The baseline, and each higher level since."""
    assert levels(*shown) == expected


def test_a_later_reset_begins_anew() -> None:
    """Seconds of difference do not; an unknown reset neither, and the known one is kept."""
    held = grown(None, 0.1, read(0.1, 0))

    assert [one.used for one in grown(held, 0.2, read(0.2, 1, resets=10)).levels] == [0.2]
    assert [one.used for one in grown(held, 0.2, read(0.2, 1, resets=5.001)).levels] == [0.1, 0.2]
    unknown = grown(held, 0.2, read(0.2, 1, resets=None))
    assert ([one.used for one in unknown.levels], unknown.resets_at) == ([0.1, 0.2], NOON + hours(5))


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 200)), max_size=40))
def test_levels_rise_and_are_bounded(shown: list[tuple[float, float]]) -> None:
    """Whatever was read in whatever order, uses and moments of levels rise, and only the first is older than half an hour."""
    found = levels(*shown)

    assert all(low[0] < high[0] and low[2] <= high[1] for low, high in pairwise(found))
    assert all(first <= last for _, first, last in found)


def test_no_more_levels_than_the_bound() -> None:
    """The baseline and the newest are kept."""
    found = levels(*((step / 1000, 0.01 * step) for step in range(300)))

    assert len(found) == BOUND + 1
    assert (found[0][0], found[-1][0]) == (0.0, 0.299)


BASE = at(0)
RATES = [
    ("nothing was read", (), 60, None),
    ("less than ten minutes", [(0.1, 0), (0.2, 5)], 9.9, None),
    ("ten minutes", [(0.1, 0), (0.2, 5)], 10, 0.6),
    ("half an hour from the baseline, read until then", [(0.1, 0), (0.1, 40), (0.3, 50)], 60, 0.4),
    ("a longer gap is spread", [(0.1, 0), (0.3, 50)], 60, 0.2),
    ("a quiet window with a baseline", [(0.1, 0), (0.1, 5)], 60, 0.0),
    ("a burst holds for half an hour", [(0.1, 0), (0.1, 19), (0.4, 20)], 49, 0.6),
    ("then it is the baseline", [(0.1, 0), (0.1, 19), (0.4, 20)], 50, 0.0),
]


@pytest.mark.parametrize(("shown", "now", "expected"), [c[1:] for c in RATES], ids=[c[0] for c in RATES])
def test_the_recent_rate(shown: list[tuple[float, float]], now: float, expected: float | None) -> None:
    """Use per hour since the baseline, or since the first level."""
    held = None
    for used, minutes in shown:
        held = grown(held, used, read(used, minutes))
    found = recent_rate(_of(held), at(now))

    assert found is None if expected is None else found == pytest.approx(expected)


def test_the_observed_example() -> None:
    """17 % since 09:34, 34 % an hour at 10:00, a tenth held back: it runs out at about 12:09, before 13:50."""
    nine, reset = NOON - hours(3), NOON + hours(1 + 50 / 60)
    shown = replace(reading("5h", 0.17), resets_at=reset)
    steps = (Level(0.0, nine, nine + hours(0.55)), Level(0.17, nine + hours(34 / 60), nine + hours(34 / 60)))
    found = pressure(shown, steps, nine + hours(1), reserve=0.1)

    assert found is not None
    assert found.rate == pytest.approx(0.34)
    assert found.runs_out_at.strftime("%H:%M") == "12:08"
    assert found.runs_out_at - nine == pytest.approx(hours(1 + 0.73 / 0.34), abs=seconds(1))
    assert found.because == "5h runs out before its reset: 34% an hour lately"


WHOLE = [
    ("faster than time", read(0.4, 90), 90, True),
    ("as fast as time", read(0.3, 90), 90, False),
    ("slower", read(0.2, 90), 90, False),
    ("in its first 15 minutes that is not known", read(0.9, 14), 14, False),
    ("then it is", read(0.9, 15), 15, True),
    ("spent", read(1.0, 90), 90, False),
    ("rejected", replace(read(0.6, 90), status=Status.REJECTED), 90, False),
    ("its reset is not known", read(0.6, 90, resets=None), 90, False),
    ("its reset has passed", read(0.6, 90), 300, False),
    ("its use is not known", read(None, 90), 90, False),
    ("nothing is used", read(0.0, 90), 90, False),
]


@pytest.mark.parametrize(("shown", "now", "expected"), [c[1:] for c in WHOLE], ids=[c[0] for c in WHOLE])
def test_without_a_recent_rate_the_whole_window_counts(shown: Reading, now: float, expected: bool) -> None:
    """The use since it began, once a twentieth of it has passed."""
    found = pressure(shown, (), at(now))

    assert (found is not None) is expected
    assert found is None or found.because.endswith("an hour since it began")


def test_a_reserve_leaves_no_room() -> None:
    """What is held back runs out sooner; used up to the reserve it cannot run out any more."""
    shown = read(0.3, 90)

    assert pressure(shown, (), at(90)) is None
    assert pressure(shown, (), at(90), reserve=0.1) is not None
    assert pressure(shown, (), at(90), reserve=0.7) is None


@given(st.floats(0, 0.9), st.floats(0, 0.09), st.floats(0.25, 4.9), st.booleans())
def test_more_use_never_takes_pressure_away(used: float, more: float, passed: float, is_read: bool) -> None:
    """As long as there is room at all."""
    held = (Level(0.0, NOON, NOON), Level(used, NOON + hours(passed / 2), NOON + hours(passed))) if is_read else ()
    shown = read(used, passed * 60)
    calm = pressure(shown, held, NOON + hours(passed)) is None

    assert calm or pressure(shown, held, NOON + hours(passed), more=more) is not None


@given(st.floats(0, 1.1), st.floats(0, 1), st.floats(0.25, 4.9), st.sampled_from([0.0, 0.1]))
def test_more_use_never_takes_pressure_or_its_end_away(used: float, more: float, passed: float, reserve: float) -> None:
    """A window that runs out is under pressure, then out; never neither again before its reset."""
    shown, now = read(used, passed * 60), NOON + hours(passed)

    def is_pressed(more: float) -> bool:
        return Pressures().is_pressed(ANN, (shown,), now, reserve=reserve, more=more)

    assert is_pressed(more) or not is_pressed(0.0)


def test_what_has_run_out() -> None:
    """All that is not held back is used, or it is rejected, and the reset is to come; another length does not count."""
    rejected = replace(read(0.2, 60), status=Status.REJECTED)

    assert [is_out(read(used, 60), at(60)) for used in (0.99, 1.0)] == [False, True]
    assert is_out(read(0.9, 60), at(60), reserve=0.1)
    assert [is_out(rejected, at(minutes)) for minutes in (60, 300)] == [True, False]
    assert not is_out(read(None, 60), at(60))
    assert not Pressures().is_pressed(ANN, (reading("7d", 1.0), read(None, 60)), at(60), reserve=0, more=0)


def test_a_fresh_rise_presses_as_it_is_told() -> None:
    """What makes the pressure that people are shown makes the one that a choice looks at."""
    kept, shown = told((0.1, 0), (0.6, 20)), (read(0.6, 20),)

    assert kept.is_pressed(ANN, shown, at(20), reserve=0, more=0)
    assert not kept.is_pressed(ANN, shown, at(51), reserve=0, more=0)


def test_what_is_kept_of_accounts() -> None:
    """Only 5-hour windows whose use is known; each account's own; nothing of one that is gone."""
    kept = told((0.1, 0), (0.6, 20))
    kept.read(ANN, replace(reading("7d", 0.9), taken_at=at(20)))
    kept.read(ANN, read(None, 20))
    shown = (read(0.6, 20), reading("7d", 0.9))
    found = kept.of(ANN, shown, at(20))

    assert found is not None
    assert (found.window, round(found.rate, 9), found.is_recent) == ("5h", 1.5, True)
    assert kept.of(BEN, shown[1:], at(20)) is None
    kept.drop(ANN)
    late = kept.of(ANN, shown, at(20))
    assert late is not None
    assert not late.is_recent


def test_of_two_windows_the_first_to_run_out() -> None:
    """A model line's 5-hour window counts where the demand uses it."""
    kept = told((0.1, 0), (0.4, 30))
    line = replace(read(0.8, 30), window=replace(read(0.8, 30).window, key="5h_x", line="x"))

    for shown in ((read(0.4, 30), line), (line, read(0.4, 30))):
        found = kept.of(ANN, shown, at(30))
        assert found is not None
        assert found.window == "5h_x"


def test_the_baseline_is_the_last_of_the_old_levels() -> None:
    """Exactly half an hour old is old; with none so old the first level begins."""
    steps = tuple(Level(step / 10, at(step), at(step)) for step in range(3))

    assert lately(steps, at(1) + LATELY) == steps[1:]
    assert lately(steps, at(1)) == steps
    assert lately((), BASE) == ()
