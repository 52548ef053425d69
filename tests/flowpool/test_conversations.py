"""Tests of flowpool/conversations.py."""

from itertools import pairwise
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowpool.conversations import DAY, HOUR, Manner, desks, talk, workdays

seeds = st.integers(0, 2**32)
spans = st.tuples(st.integers(1, 500), st.integers(0, 500)).map(lambda pair: (pair[0], sum(pair)))
manners = st.builds(
    Manner,
    turns=st.tuples(st.integers(1, 5), st.integers(5, 9)),
    pace=spans,
    start=spans,
    models=st.sampled_from([(("opus", 1),), (("opus", 1), ("fable", 1))]),
    ttl=st.integers(1, 9999),
    gap=spans,
    gaps=st.floats(0, 1),
)


def drawn(seed: int) -> Random:
    """A source of chance that gives the same each time."""
    return Random(seed)  # noqa: S311  # repeatable


@given(seeds, st.integers(0, 10**6), manners)
def test_a_talk_goes_as_its_manner_says(seed: int, at: int, manner: Manner) -> None:
    """It starts when it should, has one model, and each number lies within its bounds."""
    turns = talk(drawn(seed), "chat", at, manner)
    pauses = [later["at"] - turn["at"] for turn, later in pairwise(turns)]

    assert turns[0]["at"] == at
    assert manner.turns[0] <= len(turns) <= manner.turns[1]
    assert manner.start[0] <= turns[0]["context"] <= manner.start[1]
    assert {(turn["conversation"], turn["ttl"]) for turn in turns} == {("chat", manner.ttl)}
    assert len({turn["model"] for turn in turns} & {name for name, _ in manner.models}) == 1
    assert all(low <= pause <= high for pause in pauses for low, high in [_bounds(pause, manner)])


def _bounds(pause: int, manner: Manner) -> tuple[int, int]:
    """The pair that a pause belongs to."""
    return manner.pace if manner.pace[0] <= pause <= manner.pace[1] else manner.gap


@given(seeds, manners)
def test_a_context_is_all_that_came_before(seed: int, manner: Manner) -> None:
    """What a turn adds and answers is in the next one's context, and nothing else."""
    turns = talk(drawn(seed), "chat", 0, manner)

    assert all(later["context"] == turn["context"] + turn["fresh"] + turn["output"] for turn, later in pairwise(turns))


@pytest.mark.parametrize(("gaps", "expected"), [(0, {10}), (1, {99})])
def test_the_share_of_gaps(gaps: float, expected: set[int]) -> None:
    """Without gaps every pause is the pace; with nothing but gaps none is."""
    turns = talk(drawn(1), "chat", 0, Manner(pace=(10, 10), gap=(99, 99), gaps=gaps))

    assert {later["at"] - turn["at"] for turn, later in pairwise(turns)} == expected


def test_workdays_leave_out_weekends() -> None:
    """The first day is a Monday."""
    assert [midnight // DAY for midnight in workdays(9)] == [0, 1, 2, 3, 4, 7, 8]


def _begin(turns: list[dict[str, Any]]) -> int:
    return int(turns[0]["at"])


@given(seeds, st.integers(1, 3), st.sampled_from([(9, 12.5), (22, 26)]))
def test_desks_work_within_their_hours(seed: int, count: int, hours: tuple[float, float]) -> None:
    """Every desk works each workday, none begins outside its hours, and none holds two conversations at once."""
    talks = list(desks(drawn(seed), Manner(), count=count, hours=hours, days=8, rest=600))
    names = [turns[0]["conversation"] for turns in talks]
    held: dict[str, list[list[dict[str, Any]]]] = {}
    for turns, name in zip(talks, names, strict=True):
        held.setdefault(name.partition("-at-")[0], []).append(turns)

    assert len(set(names)) == len(names)
    assert len(held) == count * 6
    for desk in held.values():
        assert all(before[-1]["at"] + 60 <= _begin(after) <= before[-1]["at"] + 600 for before, after in pairwise(desk))
        midnight = _begin(desk[0]) // DAY * DAY
        assert all(hours[0] * HOUR <= _begin(turns) - midnight < hours[1] * HOUR for turns in desk)
        assert midnight + hours[1] * HOUR <= desk[-1][-1]["at"] + 600
