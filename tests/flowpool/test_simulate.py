"""simulate plays files, one strategy or all, and prints what came of it."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from flowpool import workloads
from flowpool.simulate import simulate, total
from flowpool.workload_file import convert, read
from flowpool.workloads import make
from routing.scoring import STRATEGIES
from routing.simulator import Outcome
from tests.flowpool.cli import Shell
from tests.flowpool.test_workload_file import GOOD

ACCOUNT = {"name": "ann", "size": 1, "window_5h": 10, "week": 600, "week_resets_at": 604_800, "models": {}}
TURN = {"conversation": "c", "model": "opus", "context": 1000, "fresh": 1000, "output": 0, "ttl": 300}
PLAYED: dict[str, Any] = {  # 2.25 units cold, 1.05 warm; outside use leaves room for two of them
    "accounts": [ACCOUNT],
    "turns": [{"at": at, **TURN} for at in (0, 60, 120)],
    "outside": [{"at": 0, "account": "ann", "units": 6}],
    "unit_tokens": 1000,
}
EXPECTED = {
    "served_turns": 2,
    "refused_turns": 1,
    "attempts_refused": 1,
    "served_units": 2.1,
    "lost_units": 0.0,
    "rebuilt_tokens": 1000,
    "moved_warm_tokens": 0,
    "moves": 0,
}


@pytest.fixture
def played(tmp_path: Path) -> str:
    """A workload's file."""
    path = tmp_path / "played.json"
    path.write_text(json.dumps(PLAYED))
    return str(path)


def test_json_is_an_object_of_each_strategy_beside_the_bound(shell: Shell, played: str) -> None:
    """One strategy, the default one, or all of them in the order of the listing."""
    one = json.loads(shell.run("simulate", "--workload", played, "--strategy", "perishing", "--json").stdout)
    default = json.loads(shell.run("simulate", "--workload", played, "--json").stdout)
    every = json.loads(shell.run("simulate", "--workload", played, "--all", "--json").stdout)

    assert one == default == {"perishing": EXPECTED, "bound": None}
    assert list(every) == [*STRATEGIES, "bound"]
    assert all(list(every[name]) == list(EXPECTED) for name in STRATEGIES)
    assert not shell.home.exists()


def test_several_workloads_are_added_up(shell: Shell, played: str) -> None:
    """Each is played by itself, from an empty start."""
    out = shell.run("simulate", "--workload", played, "--workload", played, "--json").stdout

    assert json.loads(out)["perishing"] == {key: 2 * value for key, value in EXPECTED.items()}


def test_a_person_gets_a_table(shell: Shell, played: str) -> None:
    """A row for each strategy; of several workloads a table each, and one of the sums."""
    one = shell.run("simulate", "--workload", played, "--all").stdout
    two = shell.run("simulate", "--workload", played, "--workload", "almost_idle", "--all").stdout

    for name in STRATEGIES:
        assert (one.count(name), two.count(name)) == (1, 3)
    assert [line.strip() for line in two.splitlines() if line.strip() in ("almost_idle", "all")] == [
        "almost_idle",
        "all",
    ]


def test_a_kind_is_made_up_once_for_each_seed(shell: Shell) -> None:
    """Seeds count from 1; a kind without their number is made up once."""
    kind = ("--workload", "almost_idle", "--json")
    one, alike, two = (
        json.loads(shell.run("simulate", *kind, *more).stdout)["perishing"]
        for more in ((), ("--seeds", "1"), ("--seeds", "2"))
    )
    counts = [len(make("almost_idle", seed)["turns"]) for seed in (1, 2)]

    assert one == alike
    assert [outcome["served_turns"] + outcome["refused_turns"] for outcome in (one, two)] == [counts[0], sum(counts)]


def test_without_a_workload_all_kinds_are_played(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each kind that there is, a table each and one of the sums."""
    made: list[tuple[str, int]] = []

    def note(kind: str, seed: int) -> dict[str, Any]:
        made.append((kind, seed))
        return PLAYED

    monkeypatch.setattr(workloads, "make", note)
    done = CliRunner().invoke(simulate, ["--seeds", "2"])

    assert made == [(kind, seed) for kind in workloads.KINDS for seed in (1, 2)]
    assert done.stdout.count("perishing") == len(workloads.KINDS) + 1


@pytest.mark.parametrize("kind", workloads.KINDS)
def test_what_is_made_up_could_stand_in_a_file(tmp_path: Path, kind: str) -> None:
    """Every number of it is in its range."""
    path = tmp_path / "made.json"
    path.write_text(json.dumps(make(kind, 1)))

    assert read(str(path)) == convert(make(kind, 1))


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ((), 2, "say what to play: --workload FILE, or --seeds N"),
        (("--seeds", "0"), 2, "Invalid value for '--seeds'"),
        (("--workload", "none.json"), 1, "none.json: No such file or directory"),
        (("--workload", "x", "--strategy", "best"), 2, "Invalid value for '--strategy': 'best' is not one of"),
        (("--workload", "x", "--strategy", "perishing", "--all"), 2, "--strategy and --all exclude each other"),
    ],
)
def test_a_wrong_call_is_told(shell: Shell, arguments: tuple[str, ...], code: int, said: str) -> None:
    """In words that name what is wrong."""
    assert said in shell.run("simulate", *arguments, code=code).stderr


def test_a_wrong_file_is_one_line(shell: Shell, tmp_path: Path) -> None:
    """It names the key; nothing is played before all files are read."""
    path = tmp_path / "w.json"
    path.write_text(json.dumps(GOOD | {"unit_tokens": "x"}))
    done = shell.run("simulate", "--workload", str(path), code=1)

    assert done.stderr.startswith(f"flowpool: {path}: unit_tokens: Expected `float`, got `str`; ")
    assert (done.stdout, done.stderr.count("\n")) == ("", 1)


def test_help_names_every_kind(shell: Shell) -> None:
    """They are made up without any file."""
    words = shell.run("simulate", "--help").stdout.replace(",", " ").replace(".", " ").split()

    assert set(workloads.KINDS) <= set(words)


def test_outcomes_are_added_number_by_number() -> None:
    """None of them is a mean."""
    one, two = Outcome(served_turns=1, lost_units=2.5), Outcome(served_turns=3, moves=4)

    assert total([one, two]) == Outcome(served_turns=4, lost_units=2.5, moves=4)
    assert total([]) == Outcome()
