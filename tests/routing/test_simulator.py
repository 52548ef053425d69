"""Whole plays: nothing is served twice or from nowhere, and the Router meets the world as it would meet a provider."""

import math
from collections import defaultdict
from dataclasses import replace
from datetime import datetime, timedelta
from typing import override
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routing import simulator
from routing.decisions import Choice, Wait
from routing.observations import AccountsChanged, Answered, Dispatched, Observation
from routing.router import Router
from routing.scoring import STRATEGIES
from routing.simulation.workload import Outside, Plan, Turn, Workload, family_of
from routing.simulation.world import Refused, Served, World
from routing.simulator import Outcome, play
from routing.trail import Trail
from routing.words import AccountId, Demand, Family
from tests.routing.simulation.made import DAY, HOUR, fixed, plan, turn, use, workload, workloads

NAMES = st.sampled_from(list(STRATEGIES))
MANY = 1e12
FABLE = "claude-fable-5"

type Spent = tuple[float, float, Family | None]
"""When, how many units, and for which family."""


class Witness(World):
    """A world that writes down what was spent on each account, and what was refused where."""

    def __init__(self, played: Workload) -> None:
        super().__init__(played)
        self.spent: dict[str, list[Spent]] = defaultdict(list)
        self.refused: list[tuple[Turn, str, int]] = []
        self.homes: list[tuple[Turn, str]] = []
        self.latest = 0.0

    @override
    def ask(self, turn: Turn, account: str) -> Served | Refused:
        met = super().ask(turn, account)
        self.latest = turn.at
        if isinstance(met, Served):
            self.spent[account].append((turn.at, met.units, family_of(turn.model)))
            self.homes.append((turn, account))
        else:
            self.refused.append((turn, account, len(self.spent[account])))
        return met

    @override
    def use(self, outside: Outside) -> float:
        units = super().use(outside)
        if units:
            self.spent[outside.account].append((outside.at, units, None))
        return units


def witnessed(played: Workload, strategy: str, wait: float = 0) -> tuple[Outcome, Witness]:
    """A play, and what its world saw."""
    witness = Witness(played)
    with patch.object(simulator, "World", lambda _: witness):
        return play(played, strategy, wait=wait), witness


def by_window(spent: list[Spent]) -> list[tuple[float, float]]:
    """Find when each 5-hour window opened and what it gave, from the list alone."""
    windows: list[tuple[float, float]] = []
    for at, units, _ in spent:
        if windows and at < windows[-1][0] + 5 * HOUR:
            windows[-1] = (windows[-1][0], windows[-1][1] + units)
        else:
            windows.append((at, units))
    return windows


def by_week(made: Plan, spent: list[Spent], family: Family | None = None) -> dict[int, float]:
    """Find what each week gave; family: to it alone."""
    weeks: dict[int, float] = defaultdict(float)
    for at, units, whose in spent:
        if family in (None, whose):
            weeks[week_of(made, at)] += units
    return weeks


def week_of(made: Plan, at: float) -> int:
    """Number the weeks; 0 begins at the reset that the plan names."""
    return math.floor((at - made.week_resets_at) / (7 * DAY))


@given(workloads(), NAMES, st.sampled_from([0.0, HOUR]))
def test_no_window_gives_more_than_it_holds_and_what_is_not_given_is_lost(
    played: Workload, strategy: str, wait: float
) -> None:
    """Conservation, counted from what was spent: windows, weeks and families; served or outside."""
    outcome, witness = witnessed(played, strategy, wait)
    lost, events = 0.0, played.events()
    last = max([event.at for event in events] + [witness.latest]) if events else 0.0
    for made in played.accounts:
        spent = witness.spent[made.name]
        weeks = by_week(made, spent)
        assert all(units <= made.window_5h + 1e-6 for _, units in by_window(spent))
        assert all(units <= made.week + 1e-6 for units in weeks.values())
        for name, share in made.models.items():
            assert all(units <= share * made.week + 1e-6 for units in by_week(made, spent, family_of(name)).values())
        ended = range(week_of(made, 0), week_of(made, last))
        lost += sum(made.week - weeks[number] for number in ended)

    assert outcome.lost_units == pytest.approx(lost, abs=1e-6)


@given(workloads(), NAMES)
def test_every_number_is_what_the_world_saw(played: Workload, strategy: str) -> None:
    """Each turn is served once or refused; a move is a change of account; rebuilt and moved are counted by hand."""
    outcome, witness = witnessed(played, strategy)
    last: dict[tuple[str, str, str], float] = {}
    homes: dict[str, str] = {}
    moves, rebuilt, moved_warm = 0, 0.0, 0.0
    for asked, account in witness.homes:
        talk, model = asked.conversation, asked.model
        warm = {a.name for a in played.accounts if asked.at - last.get((a.name, talk, model), -MANY) <= asked.ttl}
        moves += homes.setdefault(talk, account) != account
        rebuilt += asked.context * (account not in warm)
        moved_warm += asked.context * (account not in warm and bool(warm))
        last[account, talk, model], homes[talk] = asked.at, account

    assert len({id(asked) for asked, _ in witness.homes}) == outcome.served_turns
    assert outcome.served_turns + outcome.refused_turns == len(played.turns)
    assert (outcome.moves, outcome.rebuilt_tokens, outcome.moved_warm_tokens) == (moves, rebuilt, moved_warm)
    assert outcome.attempts_refused == len(witness.refused)
    assert outcome.served_units == pytest.approx(sum(played.price(a, warm=True) for a, _ in witness.homes))


@given(workloads(), NAMES)
def test_nobody_is_refused_what_would_fit(played: Workload, strategy: str) -> None:
    """A cold turn that is refused is larger than what some window of the account has left."""
    _, witness = witnessed(played, strategy)
    for asked, account, before in witness.refused:
        made = next(a for a in played.accounts if a.name == account)
        spent = [*witness.spent[account][:before], (asked.at, 0.0, None)]
        week, family = week_of(made, asked.at), family_of(asked.model)
        caps = {family_of(name): share * made.week for name, share in made.models.items()}
        left = [made.window_5h - by_window(spent)[-1][1], made.week - by_week(made, spent)[week]]
        left += [caps[family] - by_week(made, spent, family)[week]] if family in caps else []

        assert played.price(asked, warm=False) > min(left)


@given(workloads(), NAMES)
def test_the_same_play_ends_the_same(played: Workload, strategy: str) -> None:
    """Whatever the order of the file is, as long as no two things happen at one moment."""
    outcome = play(played, strategy)
    assert play(played, strategy) == outcome
    if len({event.at for event in played.events()}) == len(played.events()):
        mixed = replace(played, turns=played.turns[::-1], outside=played.outside[::-1])
        assert play(mixed, strategy) == outcome


@given(workloads(most_accounts=1), NAMES)
def test_one_account_without_limits_serves_all_and_moves_nothing(played: Workload, strategy: str) -> None:
    """No attempt is refused, and context is written only where its cache is cold."""
    roomy = (replace(played.accounts[0], window_5h=MANY, week=MANY, models={}),)
    outcome = play(replace(played, accounts=roomy), strategy)

    assert (outcome.served_turns, outcome.refused_turns, outcome.attempts_refused) == (len(played.turns), 0, 0)
    assert outcome.served_units == pytest.approx(sum(played.price(asked, warm=True) for asked in played.turns))
    assert (outcome.moves, outcome.moved_warm_tokens) == (0, 0)


@given(workloads(most_accounts=1), NAMES, st.integers(1, 5))
def test_more_room_refuses_nobody_whom_less_room_served(played: Workload, strategy: str, times: int) -> None:
    """Where all was served, all is served with more; the rest of the outcome is the same but for what is lost."""
    (made,) = played.accounts
    larger = replace(made, window_5h=made.window_5h * times, week=made.week * times)
    outcome, more = play(played, strategy), play(replace(played, accounts=(larger,)), strategy)
    if not outcome.attempts_refused and not played.outside:
        assert replace(more, lost_units=outcome.lost_units) == outcome


@pytest.mark.parametrize(("window", "turns"), [(0.5, 0), (1, 1), (3.5, 3), (10, 10), (99, 20)])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_more_room_serves_more(strategy: str, window: float, turns: int) -> None:
    """Twenty turns of one unit in an hour."""
    played = workload(*(fixed(1, at=180 * n) for n in range(20)), accounts=(plan(window_5h=window),))

    assert play(played, strategy).served_turns == turns


def test_nothing_happens_without_events() -> None:
    """All counts are nothing."""
    assert play(workload(), "perishing") == Outcome()


def test_a_strategy_has_a_known_name() -> None:
    """The Router says which there are."""
    with pytest.raises(ValueError, match="no strategy is called 'best'; there are "):
        play(workload(), "best")


@given(workloads(), NAMES, st.sampled_from([0.25, 2.0, 64.0]))
def test_units_have_no_meaning_of_their_own(played: Workload, strategy: str, times: float) -> None:
    """With more and smaller units the Router chooses as before: it is shown parts, never capacities."""
    smaller = replace(
        played,
        unit_tokens=played.unit_tokens / times,
        accounts=tuple(replace(a, window_5h=a.window_5h * times, week=a.week * times) for a in played.accounts),
        outside=tuple(replace(one, units=one.units * times) for one in played.outside),
    )
    outcome, same = play(played, strategy), play(smaller, strategy)

    assert same.served_units == pytest.approx(outcome.served_units * times)
    assert same.lost_units == pytest.approx(outcome.lost_units * times)
    assert replace(same, served_units=0, lost_units=0) == replace(outcome, served_units=0, lost_units=0)


def listened(played: Workload, strategy: str) -> list[Observation]:
    """All that the Router of a play was told."""
    told: list[Observation] = []

    class Listener(Router):
        @override
        def observe(self, observation: Observation) -> None:
            told.append(observation)
            super().observe(observation)

    with patch.object(simulator, "Router", Listener):
        play(played, strategy)
    return told


@given(workloads(), NAMES)
def test_the_router_is_told_what_a_live_one_is_told(played: Workload, strategy: str) -> None:
    """Whole percents and resets to come from answers; of a refusal its reset; of a plan its size."""
    told = listened(played, strategy)
    answers = [one for one in told if isinstance(one, Answered)]
    accounts = [a for one in told if isinstance(one, AccountsChanged) for a in one.accounts]

    assert [(a.name, a.identity.plan) for a in accounts] == [(a.name, "1") for a in played.accounts]
    for answer in answers:
        keys = [reading.window.key for reading in answer.readings]
        family = answer.demand.family
        assert keys[:2] == ([] if answer.verdict.is_refusal else ["5h", "7d"])
        assert keys[2:] in ([], [f"7d_{family}"])
        for reading in answer.readings:
            assert reading.used in {percent / 100 for percent in range(101)}
            assert reading.resets_at is not None
            assert reading.resets_at > answer.at


@given(workloads(), NAMES)
def test_a_warm_conversation_stays_where_nobody_refuses(played: Workload, strategy: str) -> None:
    """As long as all its turns have one ttl: the Router believes the one before, the world the one at hand."""
    alike = replace(played, turns=tuple(replace(asked, ttl=HOUR) for asked in played.turns))
    outcome = play(alike, strategy)

    assert outcome.attempts_refused or not outcome.moved_warm_tokens


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_warm_conversation_stays_though_another_account_is_less_used(strategy: str) -> None:
    """Each turn takes two percent of a week, so that every strategy would alternate between weeks alike."""
    accounts = (plan("ann", week=100), plan("ben", week=100))
    outcome = play(workload(*(turn(60 * minute) for minute in range(10)), accounts=accounts), strategy)

    assert (outcome.served_turns, outcome.moves, outcome.rebuilt_tokens) == (10, 0, 1000)


def test_a_refused_turn_arrives_as_a_move() -> None:
    """Only there: the Router counts it on the next account's ramp."""
    accounts = (plan("ann", window_5h=1), plan("ben", window_5h=1))
    told = listened(workload(*(fixed(1, at=at) for at in (0, 60)), accounts=accounts), "perishing")

    assert [one.is_move for one in told if isinstance(one, Dispatched)] == [False, False, True]


def test_a_conversation_moves_when_its_account_is_full() -> None:
    """Both are measured; talk goes to ann, whose week ends first, until a refusal moves it; cold, it comes back.

    A turn costs 2.25 units cold and 1.1 warm, ann's window holds 5 and was opened for 0.1.
    """
    accounts = (plan("ann", window_5h=5, week_resets_at=DAY), plan("ben", week_resets_at=6 * DAY))
    both = (fixed(0.1, 0, "one"), fixed(0.1, 1, "two"))
    talk = [turn(60 * minute) for minute in (1, 2, 3, 4, 5, 360)]
    outcome, witness = witnessed(workload(*both, *talk, accounts=accounts), "perishing")

    assert {account for _, account in witness.homes[:2]} == {"ann", "ben"}
    assert [account for _, account in witness.homes[2:]] == ["ann", "ann", "ann", "ben", "ben", "ann"]
    assert outcome.served_units == pytest.approx(6 * 1.1 + 0.2)
    assert replace(outcome, served_units=0) == Outcome(
        served_turns=8, attempts_refused=1, rebuilt_tokens=3000, moved_warm_tokens=1000, moves=2
    )


def test_a_full_account_is_left_alone_but_for_a_test_of_its_hold() -> None:
    """A hold is believed for ten minutes: other turns are refused by the Router alone, and cost no attempt."""
    times = [0, 10, 20, 600, 700, 760, 1301, 5 * HOUR]
    played = workload(*(fixed(1, at=at) for at in times), accounts=(plan(window_5h=1),))
    outcome, witness = witnessed(played, "perishing")

    assert [asked.at for asked, _, _ in witness.refused] == [10, 700, 1301]
    assert (outcome.served_turns, outcome.refused_turns, outcome.attempts_refused) == (2, 6, 3)


NEAR_RESET = (fixed(1), fixed(1, 10), fixed(1, 5 * HOUR - 100))  # the window holds one of them


def test_without_a_wait_a_turn_is_refused_at_once() -> None:
    """Though the reset is a hundred seconds away, and a live proxy would wait by itself."""
    outcome = play(workload(*NEAR_RESET, accounts=(plan(window_5h=1),)), "perishing")

    assert (outcome.refused_turns, outcome.waited_turns, outcome.waited_s) == (2, 0, 0)


@pytest.mark.parametrize(("wait", "served"), [(99.0, 1), (100.0, 2), (240.0, 2)])
def test_a_turn_waits_for_a_reset_that_comes_in_time(wait: float, served: int) -> None:
    """It is served in the next window, and says how long it waited."""
    outcome, witness = witnessed(workload(*NEAR_RESET, accounts=(plan(window_5h=1),)), "perishing", wait=wait)

    assert outcome.served_turns == served
    assert (outcome.waited_turns, outcome.waited_s) == ((1, 100.0) if served == 2 else (0, 0.0))
    assert [at for at, _, _ in witness.spent["ann"]] == [0.0, 5 * HOUR][:served]


def test_a_wait_that_was_in_vain_is_a_refusal_in_the_end() -> None:
    """Outside use takes the next window first, and then a second pause would be too long."""
    played = workload(*NEAR_RESET, use(1, 5 * HOUR), accounts=(plan(window_5h=1),))
    outcome = play(played, "perishing", wait=240)

    assert (outcome.served_turns, outcome.refused_turns, outcome.waited_turns) == (1, 2, 1)


def test_a_conversation_stays_in_its_order() -> None:
    """Its next turn comes before the first has ended: it is asked after it, at that moment; others are not held up."""
    full = fixed(9, 0, "other")
    turns = (fixed(3, 5 * HOUR - 90, "talk"), fixed(1, 5 * HOUR - 60, "talk"), fixed(1, 5 * HOUR - 30, "short"))
    played = workload(full, *turns, accounts=(plan(window_5h=10),))
    outcome, witness = witnessed(played, "perishing", wait=240)

    assert [(asked.conversation, asked.at) for asked, _ in witness.homes] == [
        ("other", 0),
        ("talk", 5 * HOUR),
        ("talk", 5 * HOUR),
        ("short", 5 * HOUR),
    ]
    assert (outcome.waited_turns, outcome.waited_s) == (2, 90 + 30)


def test_who_stands_behind_waits_in_its_own_turn() -> None:
    """The first takes the new window; the second of its conversation waits for the next one, and the third behind it."""
    turns = [fixed(1, 5 * HOUR - 90 + n) for n in range(3)]
    played = workload(fixed(1, 0, "other"), *turns, accounts=(plan(window_5h=1),))
    outcome, witness = witnessed(played, "perishing", wait=6 * HOUR)

    assert [at for at, _, _ in witness.spent["ann"]] == [n * 5 * HOUR for n in range(4)]
    assert (outcome.waited_turns, outcome.waited_s) == (3, 90 + 2 * 5 * HOUR)


def test_who_waits_is_in_flight_nowhere() -> None:
    """Turns are never in flight together, so none is whenever another comes."""
    flying: list[int] = []

    class Looking(Router):
        @override
        def choose(self, demand: Demand, trail: Trail, now: datetime) -> Choice:
            if trail.last is None:
                flying.extend(account.in_flight for account in self.snapshot(now).accounts)
            return super().choose(demand, trail, now)

    turns = fixed(9, 0, "one"), fixed(3, 5 * HOUR - 90, "two"), fixed(1, 5 * HOUR - 60, "three")
    with patch.object(simulator, "Router", Looking):
        outcome = play(workload(*turns, accounts=(plan(window_5h=10),)), "perishing", wait=240)

    assert (outcome.served_turns, outcome.waited_turns) == (3, 2)
    assert flying == [0] * 5


def test_a_pause_for_one_account_starts_no_count_anew() -> None:
    """The Router says so by naming it; it gets the trail back as it was."""
    trails: list[Trail] = []

    class Pausing(Router):
        @override
        def choose(self, demand: Demand, trail: Trail, now: datetime) -> Choice:
            trails.append(trail)
            if len(trails) == 1:
                return Wait(until=now + timedelta(seconds=5), account=AccountId("ann"), because="again")
            return super().choose(demand, trail, now)

    with patch.object(simulator, "Router", Pausing):
        outcome = play(workload(fixed(1)), "perishing", wait=60)

    assert trails == [trails[0]] * 2
    assert (outcome.served_turns, outcome.waited_turns, outcome.waited_s) == (1, 1, 5)


def test_a_cache_cools_while_its_turn_waits() -> None:
    """What counts is when the turn is taken."""
    turns = (turn(5 * HOUR - 299), turn(5 * HOUR - 100, fresh=1000))
    opened = fixed(8, 0, "other")
    played = workload(opened, *turns, accounts=(plan(window_5h=10.5),))
    outcome = play(played, "perishing", wait=240)

    assert (outcome.served_turns, outcome.waited_turns, outcome.rebuilt_tokens) == (3, 1, 1000)
    cold = replace(played, turns=(opened, replace(turns[0], at=5 * HOUR - 301), turns[1]))
    assert play(cold, "perishing", wait=240).rebuilt_tokens == 2000


@given(workloads(), NAMES, st.sampled_from([0.0, 60.0, HOUR, 3 * HOUR]))
def test_waiting_loses_no_turn_and_mixes_no_conversation(played: Workload, strategy: str, wait: float) -> None:
    """Each is served once or refused; a conversation's are asked in the order of the file; the same play ends the same."""
    outcome, witness = witnessed(played, strategy, wait=wait)

    assert outcome.served_turns + outcome.refused_turns == len(played.turns)
    assert outcome.served_turns == len(witness.homes)
    assert outcome.waited_s <= wait * outcome.waited_turns + 1e-3
    assert bool(outcome.waited_turns) <= bool(wait)
    assert play(played, strategy, wait=wait) == outcome


def test_at_no_wait_nobody_waits_for_room() -> None:
    """Forty conversations that one refusal moves at once: each is asked elsewhere or refused, none pauses for its turn there."""
    talks = [turn(n, f"talk {n % 40}") for n in range(400)]
    outcome = play(workload(*talks, accounts=(plan(window_5h=60), plan("ben", window_5h=60))), "perishing")

    assert (outcome.waited_turns, outcome.waited_s) == (0, 0)


def test_a_full_family_bars_no_other() -> None:
    """Fable has 60 of the week's 600 units: it is refused until the week ends, and opus goes on."""
    accounts = (plan(models={"fable": 0.1}),)
    turns = (fixed(50, 0, model=FABLE), fixed(20, 60, model=FABLE), fixed(20, 60), fixed(20, 7 * DAY, model=FABLE))
    outcome, witness = witnessed(workload(*turns, accounts=accounts), "perishing")

    assert [asked for asked, _ in witness.homes] == [turns[0], *turns[2:]]
    assert (outcome.served_units, outcome.lost_units) == (90, 600 - 70)


def test_outside_use_of_the_same_moment_comes_first() -> None:
    """It takes the last of the window, though it stands behind the turn in the file."""
    outcome = play(workload(fixed(1), fixed(1, at=5 * HOUR), use(500)), "perishing")

    assert (outcome.served_turns, outcome.refused_turns) == (1, 1)
