"""Tests of routing/strategies/steady.py."""

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routing.observations import Answered
from routing.rules import Routing, Rules
from routing.scoring import STRATEGIES
from routing.strategies.contract import Candidate
from routing.strategies.steady import idle_latest, is_beaten, latest_of
from routing.words import AccountId
from tests.routing.made import ANN, BEN, CAT, EXCHANGE, NAMES, OK, demand, reading, seconds
from tests.routing.shell import Shell
from tests.routing.strategies.contract import free, with_shown

ONE, OTHER, BUSY = with_shown(ANN), with_shown(BEN), with_shown(CAT, leases=1)


@pytest.mark.parametrize(
    ("latest", "found", "idle"),
    [(None, None, None), (ANN, ONE, ONE), (CAT, BUSY, None), (AccountId("gone"), None, None)],
)
def test_the_latest_is_who_stands_in_front(
    latest: AccountId | None, found: Candidate | None, idle: Candidate | None
) -> None:
    """None before the first choice and where it may not serve; idle where nothing is in flight."""
    choice = free(ONE, OTHER, BUSY, latest=latest)

    assert latest_of(choice) == found
    assert idle_latest(choice) == idle


@pytest.mark.parametrize(("other", "expected"), [(0.5, False), (0.519, False), (0.5201, True)])
def test_a_point_off_each_way(other: float, expected: bool) -> None:
    """Beaten by more than two points of what is left, and by nobody where there is nobody."""

    def scored(one: Candidate, more: float) -> float:
        return (0.5 if one is ONE else other) - more

    assert is_beaten(ONE, [OTHER], scored) is expected
    assert not is_beaten(ONE, [], scored)


READERS = sorted(set(STRATEGIES) - {"round_robin", "priority", "failover"})
"""Strategies that order by readings; round_robin goes to another account each time by its nature, the others read nothing."""
TIMES = 20  # that readings are taken

uses = st.sampled_from([0.0, 0.1, 0.3, 0.48, 0.5, 0.515, 0.8, 0.9, 0.95, 0.975, 0.98, 1.0]) | st.floats(0, 1)
plans = st.tuples(uses, uses, st.sampled_from([1, 2.5, 4]), st.sampled_from([1, 5, 24, 25, 100, 167]))
"""What is used of an account's 5-hour window and of its week, and the hours to their resets."""
pools = st.lists(plans, min_size=3, max_size=3) | st.builds(lambda plan: [plan] * 3, plans)
jitters = st.lists(st.lists(st.floats(-0.005, 0.005), min_size=6, max_size=6), min_size=TIMES, max_size=TIMES)


@pytest.mark.parametrize("strategy", READERS)
@given(pool=pools, jitter=jitters, step=st.integers(0, 10))
def test_jitter_of_readings_never_makes_more_than_one_switch(
    strategy: str, pool: list[tuple[float, float, float, float]], jitter: list[list[float]], step: int
) -> None:
    """Twenty readings, each up to half a point off: new conversations change accounts once at most."""
    shell = Shell(*NAMES, rules=Rules(routing=Routing(strategy=strategy)))
    asked = []
    for turn, noise in enumerate(jitter):
        for name, plan, off in zip(NAMES, pool, zip(noise[:3], noise[3:], strict=True), strict=True):
            _measured(shell, name, plan, off)
        asked += shell.play(demand(f"talk {turn}"), lambda _: OK).asked
        shell.now += seconds(step)

    assert len(asked) == TIMES
    assert sum(one != other for one, other in pairwise(asked)) <= 1


def _measured(shell: Shell, name: AccountId, plan: tuple[float, float, float, float], off: tuple[float, float]) -> None:
    """Let an account be read as it is, but for the noise."""
    session, week, session_left, week_left = plan
    shown = (
        reading("5h", max(session + off[0], 0.0), resets=session_left),
        reading("7d", max(week + off[1], 0.0), resets=week_left),
    )
    shell.router.observe(
        Answered(
            exchange=EXCHANGE,
            account=name,
            demand=demand(None),
            verdict=OK,
            sent_at=shell.now,
            at=shell.now,
            readings=tuple(replace(one, sent_at=shell.now, taken_at=shell.now) for one in shown),
        )
    )
