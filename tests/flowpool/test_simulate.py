"""simulate plays files, one strategy or all, and prints what came of it."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from flowpool import plays, workloads
from flowpool.plays import Made
from flowpool.simulate import simulate
from flowpool.workload_file import convert, read
from flowpool.workloads import make
from routing.rules import Routing
from routing.scoring import STRATEGIES
from tests.flowpool.cli import ROOT, Shell
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
    "waited_turns": 0,
    "waited_s": 0.0,
}
BOUND = 3.15  # all three: outside use may be crowded out
DEFAULT = Routing().strategy


@pytest.fixture
def played(tmp_path: Path) -> str:
    """A workload's file."""
    path = tmp_path / "played.json"
    path.write_text(json.dumps(PLAYED))
    return str(path)


@pytest.fixture
def other(tmp_path: Path) -> str:
    """Another one: the same without use from outside, so that all is served."""
    path = tmp_path / "other.json"
    path.write_text(json.dumps(PLAYED | {"outside": []}))
    return str(path)


def makes(monkeypatch: pytest.MonkeyPatch, made: Callable[[str, int], dict[str, Any]]) -> None:
    """Let kinds be made up so; what other tests made up is not remembered, nor is this remembered for them."""
    monkeypatch.setattr(workloads, "make", made)
    monkeypatch.setattr(plays, "_made", plays._made.__wrapped__)


def told(shell: Shell, *arguments: str) -> dict[str, Any]:
    """What simulate prints as JSON."""
    found = json.loads(shell.run("simulate", *arguments, "--jobs", "1", "--json").stdout)
    assert isinstance(found, dict)
    return found


def squeezed(text: str) -> str:
    """Without spaces, for long titles are broken where the screen ends."""
    return "".join(text.split())


def test_json_is_an_object_of_each_strategy_beside_the_bound(shell: Shell, played: str) -> None:
    """One strategy, the default one, or all of them in the order of the listing; and how sure it is."""
    one = told(shell, "--workload", played, "--strategy", "perishing")
    default = told(shell, "--workload", played)
    every = told(shell, "--workload", played, "--all")
    sure = every.pop("confidence")

    assert one["perishing"] == EXPECTED
    assert default[DEFAULT] == EXPECTED
    assert one["bound"] == pytest.approx(BOUND)
    assert list(one) == ["perishing", "bound", "confidence"]
    assert list(every) == [*STRATEGIES, "bound"]
    assert all(list(every[name]) == list(EXPECTED) for name in STRATEGIES)
    assert sure["against"] == DEFAULT
    assert list(sure["kinds"][played]) == list(sure["all"]) == list(STRATEGIES)
    assert sure["all"][DEFAULT]["served"] == {"mean": pytest.approx(100 * 2.1 / BOUND), "plus_minus": None}
    assert not shell.home.exists()


def test_several_workloads_are_added_up(shell: Shell, played: str) -> None:
    """Each is played by itself, from an empty start."""
    out = told(shell, "--workload", played, "--workload", played)

    assert out[DEFAULT] == {key: 2 * value for key, value in EXPECTED.items()}
    assert out["bound"] == pytest.approx(2 * BOUND)


def test_without_scipy_there_is_no_bound(monkeypatch: pytest.MonkeyPatch, played: str) -> None:
    """One line on stderr says how to get it; served is then told in percents of what was asked."""
    monkeypatch.setitem(sys.modules, "scipy.optimize", None)
    done = CliRunner().invoke(simulate, ["--workload", played, "--json", "--jobs", "1"])
    shown = CliRunner().invoke(simulate, ["--workload", played, "--jobs", "1"])

    assert json.loads(done.stdout)["bound"] is None
    assert done.stderr.count("\n") == 1
    assert done.stderr.endswith("run: pip install scipy\n")
    assert "% of what was asked" in " ".join(shown.stdout.split())


def test_a_turn_may_wait(shell: Shell, tmp_path: Path) -> None:
    """As long as --wait says; otherwise it is refused at once."""
    late = PLAYED | {"turns": [*PLAYED["turns"], {"at": 5 * 3600 - 60, **TURN}]}
    path = tmp_path / "late.json"
    path.write_text(json.dumps(late))
    refused, waited = (told(shell, "--workload", str(path), *more)[DEFAULT] for more in ((), ("--wait", "60")))

    assert (refused["served_turns"], refused["waited_turns"]) == (2, 0)
    assert (waited["served_turns"], waited["waited_turns"], waited["waited_s"]) == (3, 1, 60)


def test_the_first_accounts_can_be_played_alone(shell: Shell, tmp_path: Path) -> None:
    """As many as are wanted, in the order of the file; not more than there are."""
    path = tmp_path / "two.json"
    path.write_text(json.dumps(PLAYED | {"accounts": [ACCOUNT, ACCOUNT | {"name": "ben"}]}))
    both, one = (told(shell, "--workload", str(path), "--accounts", count)[DEFAULT] for count in ("2", "1"))
    done = shell.run("simulate", "--workload", str(path), "--accounts", "3", code=1)

    assert (both["served_turns"], one) == (3, EXPECTED)
    assert done.stderr == f"flowpool: {path} has 2 accounts, and not 3; run it with: --accounts 2\n"


def test_each_account_can_be_left_out_in_turn(shell: Shell, tmp_path: Path) -> None:
    """A line for each, after one with all; in JSON by its name."""
    path = tmp_path / "two.json"
    path.write_text(json.dumps(PLAYED | {"accounts": [ACCOUNT, ACCOUNT | {"name": "ben"}]}))
    call = ("simulate", "--workload", str(path), "--accounts", "-1", "--jobs", "1")
    shown, found = shell.run(*call).stdout, json.loads(shell.run(*call, "--json").stdout)
    lines = [line.split() for line in shown.splitlines() if DEFAULT in line]

    assert [line[1] for line in lines] == ["none", "ann", "ben"]
    assert found[DEFAULT]["served_turns"] == 3
    assert {name: one[DEFAULT]["served_turns"] for name, one in found["without"][str(path)].items()} == {
        "ann": 3,
        "ben": 2,
    }


def test_markdown_is_for_a_page(shell: Shell, played: str) -> None:
    """The same numbers."""
    out = shell.run("simulate", "--workload", played, "--strategy", "perishing", "--markdown").stdout

    assert out.startswith(f"**{played} (served: % of the bound)**\n\n| strategy | served |")
    assert "| perishing | 66.7 | 1 | 1 | 0 | 1.0k | 0 | 0 |" in out


def test_a_person_gets_a_table(shell: Shell, played: str, other: str) -> None:
    """A row for each strategy; of several workloads a table each, and one of the sums with the differences."""
    call = ("simulate", "--all", "--jobs", "1", "--workload", played)
    one = shell.run(*call).stdout
    two = shell.run(*call, "--workload", other, "--wait", "1").stdout
    rows = [line.split()[0] for line in two.splitlines() if line.strip() and line.split()[0] in STRATEGIES]
    titles = [squeezed(two).find(squeezed(f"{title} (served: % of the bound)")) for title in (played, other, "all")]

    assert sum(line.split()[:1] == [name] for name in STRATEGIES for line in one.splitlines()) == len(STRATEGIES)
    assert rows == list(STRATEGIES) * 3
    assert titles == sorted(titles)
    assert titles[0] == 0
    assert ("waited" in one, "waited" in two) == (False, True)
    assert ("against" in one, two.count("against")) == (False, 1)


def test_a_kind_is_made_up_once_for_each_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seeds count from 1; a kind without their number is made up once."""
    makes(monkeypatch, lambda _, seed: PLAYED | {"turns": PLAYED["turns"][:seed]})
    kind = ["--workload", "almost_idle", "--json", "--jobs", "1"]
    calls: tuple[list[str], ...] = ([], ["--seeds", "1"], ["--seeds", "2"])
    found = [json.loads(CliRunner().invoke(simulate, [*kind, *more]).stdout)[DEFAULT] for more in calls]

    assert [outcome["served_turns"] + outcome["refused_turns"] for outcome in found] == [1, 1, 1 + 2]


def test_without_a_workload_all_kinds_are_played(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each kind that there is, a table each and one of the sums."""
    made: list[Made] = []

    def note(kind: str, seed: int) -> dict[str, Any]:
        made.append(Made(kind, seed))
        return PLAYED

    makes(monkeypatch, note)
    done = CliRunner().invoke(simulate, ["--seeds", "2", "--jobs", "1"])

    assert list(dict.fromkeys(made)) == [(kind, seed) for kind in workloads.KINDS for seed in (1, 2)]
    assert done.stdout.count("% of the bound") == len(workloads.KINDS) + 1


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
        (("--workload", "ofice"), 2, "no kind of that name; did you mean office? the kinds are: office, "),
        (("--workload", "hist"), 2, "did you mean history?"),
        (("--workload", "x", "--seeds", "3"), 2, "--seeds goes with a KIND; what a file or history holds is played"),
        (("--workload", "x", "--strategy", "best"), 2, "Invalid value for '--strategy': 'best' is not one of"),
        (("--workload", "x", "--strategy", "perishing", "--all"), 2, "--strategy and --all exclude each other"),
        (("--workload", "x", "--markdown", "--json"), 2, "--markdown and --json exclude each other"),
        (("--workload", "x", "--accounts", "0"), 2, "--accounts 0 leaves nobody to serve; say how many, or -1"),
        (("--workload", "x", "--accounts", "-2"), 2, "Invalid value for '--accounts'"),
        (("--workload", "x", "--days", "3"), 2, "--days goes with --workload history"),
        (("--workload", "x", "--wait", "-1"), 2, "Invalid value for '--wait'"),
        (("--workload", "x", "--wait", "nan"), 2, "--wait nan is no number of seconds"),
        (("--workload", "x", "--jobs", "0"), 2, "Invalid value for '--jobs'"),
        (("--workload", "history"), 1, "no answered request of the last 14 days is known; use the pool first"),
    ],
)
def test_a_wrong_call_is_told(shell: Shell, arguments: tuple[str, ...], code: int, said: str) -> None:
    """In words that name what is wrong."""
    assert said in shell.run("simulate", *arguments, code=code).stderr


def test_a_wrong_file_is_one_line_and_exit_2(shell: Shell, tmp_path: Path) -> None:
    """As wrong settings are; it names the key, and nothing is played before all files are read."""
    path = tmp_path / "w.json"
    path.write_text(json.dumps(GOOD | {"unit_tokens": "x"}))
    done = shell.run("simulate", "--workload", str(path), code=2)

    assert done.stderr.startswith(f"flowpool: {path}: unit_tokens: Expected `float`, got `str`; ")
    assert (done.stdout, done.stderr.count("\n")) == ("", 1)


def test_a_misspelt_key_is_told(shell: Shell, tmp_path: Path) -> None:
    """On stderr; it is passed over."""
    path = tmp_path / "w.json"
    path.write_text(json.dumps(PLAYED | {"accounts": [ACCOUNT | {"modls": {}}]} | {"cost": {"raed": 1}}))
    path.write_text(path.read_text().replace('"models": {}, ', ""))
    done = shell.run("simulate", "--workload", str(path), "--jobs", "1", "--json")

    assert json.loads(done.stdout)[DEFAULT] == EXPECTED
    assert done.stderr == (
        f"flowpool: {path}: passed over, as there is no such key: "
        "accounts[0].modls (did you mean models?), cost.raed (did you mean read?)\n"
    )


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo terminals")
@pytest.mark.parametrize("form", ["--json", "--markdown"])
def test_a_terminal_is_told_how_far_it_is(tmp_path: Path, played: str, form: str) -> None:
    """On stderr, and in the end there is nothing of it; what is written to stdout is whole."""
    ours, theirs = os.openpty()
    command = [sys.executable, "-m", "flowpool", "simulate", "--workload", played, "--jobs", "1", form]
    environ = {"PATH": os.defpath, "FLOWPOOL_HOME": str(tmp_path), "TERM": "xterm", "COLUMNS": "80"}
    data = b""
    with os.fdopen(ours, "rb", buffering=0) as screen, os.fdopen(theirs, "wb", buffering=0) as stderr:
        done = subprocess.run(command, cwd=ROOT, env=environ, stdout=subprocess.PIPE, stderr=stderr, check=True)
        stderr.write(b"END")
        while not data.endswith(b"END"):
            data += screen.read(1000)
    seen = data.decode()

    assert "played 0 of 2\r" in seen
    assert "played 1 of 2, about " in seen
    assert seen.endswith("\r\x1b[2KEND")
    assert "\x1b" not in done.stdout.decode()
    assert form == "--markdown" or json.loads(done.stdout)[DEFAULT] == EXPECTED


def test_the_example_of_the_docs_is_played_as_they_say(shell: Shell, tmp_path: Path) -> None:
    """Whoever copies it gets what stands below it."""
    page = (ROOT / "docs" / "simulator.md").read_text()
    example, after = re.search(r"```json\n(.*?)```\n(.*?)\n## ", page, re.DOTALL).groups()  # type: ignore[union-attr]
    path = tmp_path / "small.json"
    path.write_text(example)
    found = told(shell, "--workload", str(path))

    assert (
        f"{found[DEFAULT]['served_turns']} turns are served and {found[DEFAULT]['refused_turns']} is refused" in after
    )
    assert f"{found[DEFAULT]['served_units']:.1f} of the bound's {found['bound']:.1f} units" in after


def test_help_names_every_kind(shell: Shell) -> None:
    """They are made up without any file."""
    words = shell.run("simulate", "--help").stdout.replace(",", " ").replace(".", " ").split()

    assert set(workloads.KINDS) <= set(words)


def test_tokens_need_not_be_whole(shell: Shell, tmp_path: Path) -> None:
    """They cost what they are; sums of tokens are whole."""
    path = tmp_path / "w.json"
    path.write_text(json.dumps(PLAYED | {"turns": [{**TURN, "at": 0, "context": 1000.25}], "outside": []}))
    found = told(shell, "--workload", str(path))[DEFAULT]

    assert found["served_units"] == pytest.approx(1.0500125)
    assert (found["rebuilt_tokens"], type(found["rebuilt_tokens"])) == (1000, int)
