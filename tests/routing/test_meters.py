"""routing/meters.py: readings are merged, count for whom they count, and say what windows hold."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routing.memory import Memory
from routing.meters import FAMILIES, Meters
from routing.observations import (
    AccountsChanged,
)
from routing.readings import Reading
from routing.rules import Holds
from routing.spent import Spent
from routing.words import AccountId, Family
from tests.routing.made import (
    ANN,
    BEN,
    HAIKU,
    OK,
    OPUS,
    account,
    demand,
    reading,
    readings,
)
from tests.routing.told import answer, known, served


def test_readings_are_merged_and_new_lines_learned() -> None:
    """A window's reports become one; an unknown line counts for the families it was seen on."""
    memory = known()
    answer(memory, OK, shown=[reading("7d", 0.5), reading("7d_new", 0.1), reading("7d_opus", 0.2)])
    answer(memory, OK, shown=[reading("7d", 0.4)])
    answer(memory, OK, shown=[reading("7d_new", 0.2)], request=demand(family="fable"))

    assert memory.meters.readings[ANN]["7d"].used == 0.5
    assert memory.meters.lines == {"new": {OPUS, Family("fable")}}
    assert [r.used for r in memory.meters.counting(OPUS)[ANN]] == [0.5, 0.2, 0.2]
    assert [r.used for r in memory.meters.counting(HAIKU)[ANN]] == [0.5]
    assert memory.meters.counting(OPUS)[BEN] == ()


def test_what_answers_used_up_is_learned() -> None:
    """What windows hold, and the conversation's pace; it goes with the account."""
    memory = Memory(rules=Holds())
    memory.learn(AccountsChanged(accounts=(account(), account(BEN))))
    for turn in range(3):
        for told in served(ANN, 0.1 * turn, Spent(read=10_000, fresh=1_000), at=60 * turn):
            memory.learn(told)

    assert memory.meters.capacities.known["5h"][ANN] == pytest.approx(1_500 / 0.1)
    assert memory.traffic.load.pledged.totals[ANN] > 0
    assert not memory.traffic.load.in_flight()
    assert memory.remembered().capacities.keys() == {(ANN, "5h")}
    memory.learn(AccountsChanged(accounts=(account(BEN),)))
    assert (len(memory.traffic.load), memory.remembered().capacities) == (0, {})


@pytest.mark.parametrize(("spent", "side"), [(None, False), (Spent(fresh=1_000), True)])
def test_an_answer_that_says_nothing_of_use_teaches_nothing(spent: Spent | None, side: bool) -> None:
    """Nor does a side call, which uses nothing up."""
    memory = Memory(rules=Holds())
    memory.learn(AccountsChanged(accounts=(account(),)))
    for turn in range(3):
        for told in served(ANN, 0.1 * turn, spent, side=side, at=60 * turn):
            memory.learn(told)

    assert memory.remembered().capacities == {}
    assert len(memory.traffic.load) == (0 if side else 1)


steps = st.one_of(
    st.tuples(
        st.just("read"), st.sampled_from([ANN, BEN]), st.lists(readings, max_size=2), st.sampled_from([OPUS, HAIKU])
    ),
    st.tuples(st.just("measured"), st.sampled_from([ANN, BEN]), st.lists(readings, max_size=2), st.none()),
    st.tuples(st.just("forget"), st.sampled_from([ANN, BEN]), st.just(()), st.none()),
    st.tuples(
        st.just("restore"), st.sampled_from([ANN, BEN]), st.lists(readings, max_size=2), st.sampled_from([OPUS, HAIKU])
    ),
    st.tuples(st.just("drop"), st.sampled_from([ANN, BEN]), st.just(()), st.none()),
)


@given(st.lists(steps, max_size=12))
def test_what_counts_is_never_out_of_date(
    taken: list[tuple[str, AccountId, list[Reading], Family | None]],
) -> None:
    """After every step it is what a look at all readings finds, asked before or not."""
    meters = Meters()
    for what, name, shown, family in taken:
        match what:
            case "forget":
                meters.forget(name, ["5h", "7d_new"])
            case "restore":
                meters.restore([(name, one) for one in shown], {"new": frozenset({Family(family or "")})})
            case "drop":
                meters.drop(name)
            case _:
                meters.read(name, shown, family)
        for asked in (OPUS, HAIKU):
            for one in (ANN, BEN):
                all_of_it = meters.readings.get(one, {}).values()
                counts = tuple(each for each in all_of_it if each.window.counts_for(asked, meters.lines))
                assert meters.counting(asked)[one] == counts


def test_families_that_clients_make_up_are_not_kept_without_end() -> None:
    """They are found anew instead."""
    meters = Meters()
    meters.read(ANN, [reading("7d", 0.5)])
    for number in range(3 * FAMILIES):
        assert len(meters.counting(Family(f"made up {number}"))[ANN]) == 1

    assert len(meters._counting) <= FAMILIES


def test_a_line_learned_counts_at_once() -> None:
    """For the family that it was met on, on every account."""
    meters = Meters()
    meters.read(ANN, [reading("7d_new", 0.5)])
    meters.read(BEN, [reading("7d_new", 0.6)])
    assert meters.counting(OPUS)[BEN] == ()

    meters.read(ANN, [reading("7d_new", 0.5)], OPUS)
    assert [one.used for one in meters.counting(OPUS)[BEN]] == [0.6]
    assert meters.counting(HAIKU)[BEN] == ()


def test_all_readings_of_one_account() -> None:
    """Shortest window first, by key among equals; none of an account that is not known."""
    meters = Meters()
    meters.read(ANN, [reading("7d_opus", 0.5), reading("7d", 0.5), reading("5h", 0.5)])

    assert [one.window.key for one in meters.of(ANN)] == ["5h", "7d", "7d_opus"]
    assert meters.of(BEN) == ()
