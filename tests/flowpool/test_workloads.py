"""Tests of flowpool/workloads.py."""

import json
import math
from collections import Counter
from functools import cache
from itertools import pairwise
from typing import Any

import pytest

from flowpool.conversations import DAY, HOUR
from flowpool.workloads import KINDS, SUBAGENTS, WEEK, make

SEEDS = (1, 2, 2026)
BUSY = [kind for kind in KINDS if kind != "almost_idle"]
each_kind = pytest.mark.parametrize("kind", KINDS)
each_seed = pytest.mark.parametrize("seed", SEEDS)
made = cache(make)
type Entry = dict[str, Any]

SHAPES = {
    "accounts": {"name", "size", "window_5h", "week", "week_resets_at", "models"},
    "turns": {"at", "conversation", "model", "context", "fresh", "output", "ttl"},
    "outside": {"at", "account", "units"},
}


def talks(workload: Entry) -> dict[str, list[Entry]]:
    """The turns of each conversation."""
    found: dict[str, list[Entry]] = {}
    for turn in workload["turns"]:
        found.setdefault(turn["conversation"], []).append(turn)
    return found


def units(workload: Entry) -> list[tuple[Entry, float]]:
    """Each turn with its least cost: warm unless it is the first or comes after its cache expired."""
    cost, last, found = workload["cost"], dict[str, int](), []
    for turn in workload["turns"]:
        warm = turn["at"] - last.get(turn["conversation"], -DAY) <= turn["ttl"]
        last[turn["conversation"]] = turn["at"]
        context = turn["context"] * (cost["read"] if warm else cost["write"])
        tokens = turn["fresh"] * cost["fresh"] + turn["output"] * cost["output"] + context
        found.append((turn, tokens / workload["unit_tokens"]))
    return found


def load(kind: str, seed: int) -> float:
    """The least that all turns cost, for each unit that the accounts' weeks bring in that time."""
    workload = made(kind, seed)
    weeks = math.ceil(workload["turns"][-1]["at"] / DAY) / 7
    capacity = weeks * sum(one["week"] for one in workload["accounts"])
    return float(sum(cost for _, cost in units(workload)) / capacity)


def test_there_are_ten_kinds_with_a_line_each() -> None:
    """The names are those that are played, each with its meaning."""
    assert sorted(KINDS) == [
        "almost_idle", "bursts", "fable_heavy", "machines", "many_small",
        "night_batch", "office", "plans_1_5_20", "ttl_gaps", "weeks_bind",
    ]  # fmt: skip
    assert all(meaning and "\n" not in meaning for meaning in KINDS.values())


def test_an_unknown_kind_is_refused() -> None:
    """The message names those that there are."""
    with pytest.raises(ValueError, match="no kind of workload 'luck'; there are: office, night_batch"):
        make("luck", 1)


@each_kind
def test_the_same_seed_gives_the_same_file(kind: str) -> None:
    """Kind and seed decide every byte; another seed gives other turns and other resets."""
    assert json.dumps(make(kind, 7)) == json.dumps(make(kind, 7))
    assert made(kind, 1)["turns"] != made(kind, 2)["turns"]
    assert made(kind, 1)["accounts"] != made(kind, 2)["accounts"]


@each_kind
@each_seed
def test_the_shape_is_that_of_the_file(kind: str, seed: int) -> None:
    """Every entry has its keys and no others, and the whole is plain JSON."""
    workload = made(kind, seed)

    assert workload.keys() == {*SHAPES, "cost", "unit_tokens"}
    assert all(entry.keys() == keys for name, keys in SHAPES.items() for entry in workload[name])
    assert workload["cost"] == {"read": 0.05, "fresh": 1, "write": 1.25, "output": 5}
    assert json.loads(json.dumps(workload, allow_nan=False)) == workload


@each_kind
@each_seed
def test_times_are_sorted(kind: str, seed: int) -> None:
    """Turns and use from outside stand in the order of their times, and none comes before the start."""
    for name in ("turns", "outside"):
        times = [0, *(entry["at"] for entry in made(kind, seed)[name])]

        assert times == sorted(times)


@each_kind
@each_seed
def test_numbers_make_sense(kind: str, seed: int) -> None:
    """Capacities and tokens are above nothing, resets lie within the first week, names agree."""
    workload = made(kind, seed)
    names = [account["name"] for account in workload["accounts"]]

    assert len(set(names)) == len(names)
    assert {use["account"] for use in workload["outside"]} <= set(names)
    assert all(0 < one["window_5h"] < one["week"] and one["size"] > 0 for one in workload["accounts"])
    assert all(0 < one["week_resets_at"] < WEEK for one in workload["accounts"])
    assert all(0 < share <= 1 for one in workload["accounts"] for share in one["models"].values())
    assert all(turn[key] > 0 for turn in workload["turns"] for key in ("context", "fresh", "output", "ttl"))
    assert all(use["units"] > 0 for use in workload["outside"])


@each_kind
@each_seed
def test_the_size_of_a_file(kind: str, seed: int) -> None:
    """A busy kind has 5,000 to 10,000 turns; the idle one has few."""
    turns = len(made(kind, seed)["turns"])

    assert 5_000 <= turns <= 10_000 if kind in BUSY else 100 <= turns <= 1_000


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "ttl_gaps"])
@each_seed
def test_the_pace(kind: str, seed: int) -> None:
    """A turn every one and a half to two minutes, and its cache is still warm."""
    pauses = [(b["at"] - a["at"], a["ttl"]) for one in talks(made(kind, seed)).values() for a, b in pairwise(one)]

    assert 90 <= sum(pause for pause, _ in pauses) / len(pauses) <= 130
    assert all(pause <= ttl for pause, ttl in pauses)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in ("ttl_gaps", "bursts", "plans_1_5_20")])
@each_seed
def test_conversations_last_about_an_hour(kind: str, seed: int) -> None:
    """On average, from the first turn to the last."""
    lengths = [turns[-1]["at"] - turns[0]["at"] for turns in talks(made(kind, seed)).values()]

    assert 0.8 * HOUR <= sum(lengths) / len(lengths) <= 1.2 * HOUR


@each_seed
def test_a_cold_turn_is_four_percent_of_a_window(seed: int) -> None:
    """In the office, what a turn of average size costs when it is written anew."""
    office = made("office", seed)
    cold = [turn["context"] * 1.25 + turn["fresh"] + turn["output"] * 5 for turn in office["turns"]]

    assert 0.03 <= sum(cold) / len(cold) / office["unit_tokens"] / office["accounts"][0]["window_5h"] <= 0.05


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "weeks_bind"])
def test_six_windows_make_a_week(kind: str) -> None:
    """Of every account."""
    assert all(one["week"] == pytest.approx(6 * one["window_5h"]) for one in made(kind, 1)["accounts"])


@pytest.mark.parametrize("kind", BUSY)
@each_seed
def test_busy_kinds_are_near_what_the_accounts_hold(kind: str, seed: int) -> None:
    """Neither so little that every strategy serves all of it, nor so much that none can."""
    assert 0.9 <= load(kind, seed) <= 1.5


@each_seed
def test_almost_idle(seed: int) -> None:
    """A tenth of what there is, at the most."""
    assert load("almost_idle", seed) < 0.1


@each_seed
def test_the_office_keeps_office_hours(seed: int) -> None:
    """No turn comes at night or at the weekend, and twelve days are played."""
    times = [turn["at"] for turn in made("office", seed)["turns"]]

    assert all(9 <= at % DAY / HOUR < 19 and at // DAY % 7 < 5 for at in times)
    assert {at // DAY for at in times} == {0, 1, 2, 3, 4, 7, 8, 9, 10, 11}


@each_seed
def test_the_batch_runs_at_night(seed: int) -> None:
    """No turn comes by day."""
    assert all(
        turn["at"] % DAY / HOUR >= 22 or turn["at"] % DAY / HOUR < 5 for turn in made("night_batch", seed)["turns"]
    )


@each_seed
def test_subagents_start_together(seed: int) -> None:
    """Two bursts on each workday: 24 conversations whose first turn comes in the same second."""
    starts = Counter(turns[0]["at"] for name, turns in talks(made("bursts", seed)).items() if "subagent" in name)

    assert set(starts.values()) == {SUBAGENTS} == {24}
    assert Counter(at // DAY for at in starts) == dict.fromkeys([0, 1, 2, 3, 4, 7, 8, 9, 10, 11], 2)


@each_seed
def test_other_machines_use_the_accounts(seed: int) -> None:
    """Each account, a little at a time, in twelve days a fifth of a week or so; no other kind has any."""
    machines = made("machines", seed)
    used = Counter[str]()
    for use in machines["outside"]:
        used[use["account"]] += use["units"]

    assert used.keys() == {one["name"] for one in machines["accounts"]}
    assert all(0.15 <= used[one["name"]] / one["week"] <= 0.3 for one in machines["accounts"])
    assert max(use["units"] for use in machines["outside"]) < 5
    assert [kind for kind in KINDS if made(kind, seed)["outside"]] == ["machines"]


@each_seed
def test_fables_share_binds_before_the_week_does(seed: int) -> None:
    """Fable's turns want more of the weeks that they may have than all turns want of the whole weeks."""
    workload = made("fable_heavy", seed)
    costs = units(workload)
    fable = sum(cost for turn, cost in costs if turn["model"] == "fable") / sum(cost for _, cost in costs)
    (share,) = {one["models"]["fable"] for one in workload["accounts"]}

    assert fable > share + 0.05
    assert {turn["model"] for turn in workload["turns"]} == {"fable", "opus", "haiku"}
    assert [kind for kind in KINDS if any(one["models"] for one in made(kind, seed)["accounts"])] == ["fable_heavy"]


@each_seed
def test_caches_expire_in_the_gaps(seed: int) -> None:
    """More than a third of the turns comes when the cache is gone, in every conversation that has several."""
    chats = talks(made("ttl_gaps", seed)).values()
    cold = [b["at"] - a["at"] > b["ttl"] for turns in chats for a, b in pairwise(turns)]

    assert 0.35 < sum(cold) / len(cold) < 0.45


def test_plans_are_unequal() -> None:
    """Sizes of 1, 5 and 20, and capacities in the same proportion, together about those of the office."""
    accounts = made("plans_1_5_20", 1)["accounts"]
    windows = [one["window_5h"] for one in accounts]

    assert [one["size"] for one in accounts] == [1, 5, 20]
    assert [window / windows[0] for window in windows] == [1, 5, 20]
    assert sum(windows) == pytest.approx(_windows("office"), rel=0.1)


def _windows(kind: str) -> float:
    """What the 5-hour windows of all accounts hold together."""
    return float(sum(one["window_5h"] for one in made(kind, 1)["accounts"]))


def test_many_small_accounts_hold_as_much_as_few() -> None:
    """Six of them, with the capacity of the office's three."""
    assert len(made("many_small", 1)["accounts"]) == 6
    assert _windows("many_small") == _windows("office")


def test_weeks_are_tight() -> None:
    """A week is used up by less than two windows, and a window is wider than the office's."""
    accounts = made("weeks_bind", 1)["accounts"]

    assert all(one["week"] < 1.5 * one["window_5h"] for one in accounts)
    assert _windows("weeks_bind") > 2 * _windows("office")
