"""Workloads made up for the tests of the simulator: short ways to say what a test is about, and strategies."""

from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from routing.simulation.workload import Cost, Outside, Plan, Turn, Workload

HOUR, DAY = 3600.0, 86400.0
COST = Cost(read=0.1, fresh=1, write=1.25, output=5)


def plan(name: str = "ann", **changes: Any) -> Plan:
    """An account of 100 units in five hours and 600 a week, which resets every seventh day."""
    return Plan(**{"name": name, "window_5h": 100, "week": 600, "week_resets_at": 7 * DAY, **changes})


def turn(at: float = 0, conversation: str = "talk", **changes: Any) -> Turn:
    """A turn that costs 10 units cold and 2 warm; one unit is 1000 tokens."""
    sizes = {"context": 1000, "fresh": 1000, "output": 0, "ttl": 300.0, "model": "claude-opus-4-5"}
    return Turn(**{"at": at, "conversation": conversation, **sizes, **changes})


def fixed(units: float, at: float = 0, conversation: str = "talk", **changes: Any) -> Turn:
    """A turn without a context, which costs the same everywhere."""
    return turn(at, conversation, **{"context": 0, "fresh": round(units * 1000), **changes})


def workload(*events: Turn | Outside, accounts: tuple[Plan, ...] = (), cost: Cost = COST) -> Workload:
    """A workload of these events on one account, or on these."""
    return Workload(
        accounts=accounts or (plan(),),
        turns=tuple(event for event in events if isinstance(event, Turn)),
        outside=tuple(event for event in events if isinstance(event, Outside)),
        cost=cost,
        unit_tokens=1000,
    )


def use(units: float, at: float = 0, account: str = "ann") -> Outside:
    """Use from outside."""
    return Outside(at=at, account=account, units=units)


NAMES = ("ann", "ben", "cat")
TIMES = st.integers(0, int(16 * DAY)) | st.integers(0, int(6 * HOUR)) | st.sampled_from([5 * HOUR, 7 * DAY, 14 * DAY])
PLANS = st.builds(
    plan,
    window_5h=st.integers(1, 60),
    week=st.integers(1, 200),
    week_resets_at=st.integers(int(-9 * DAY), int(9 * DAY)).map(float),
    models=st.dictionaries(st.sampled_from(["opus", "fable"]), st.sampled_from([0, 0.1, 0.5, 1])),
)
TURNS = st.builds(
    turn,
    TIMES.map(float),
    st.sampled_from("abcd"),
    model=st.sampled_from(["claude-opus-4-5", "claude-fable-5", "other"]),
    context=st.integers(0, 20_000),
    fresh=st.integers(0, 10_000),
    output=st.integers(0, 3_000),
    ttl=st.sampled_from([0.0, 300.0, HOUR]),
)


@st.composite
def workloads(draw: st.DrawFn, most_accounts: int = 3) -> Workload:
    """Workloads whose windows, weeks and families bind now and then."""
    names = NAMES[: draw(st.integers(1, most_accounts))]
    plans = tuple(replace(draw(PLANS), name=name) for name in names)
    outside = st.builds(use, st.integers(0, 30), TIMES.map(float), st.sampled_from(names))
    turns = draw(st.lists(TURNS, max_size=40))
    return workload(*turns, *draw(st.lists(outside, max_size=6)), accounts=plans)
