"""Plays are run here or beside, and end with who wanted them."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest

from flowpool import plays
from flowpool.errors import Failure
from flowpool.plays import Bound, Made, Play, accounts_of, asked, find_bound, find_outcome, keep, played, run
from flowpool.workload_file import convert
from flowpool.workloads import make
from routing.simulator import Outcome, play
from tests.interrupts import hears_ctrl_c
from tests.routing.simulation.made import fixed, plan, use, workload

ROOT = Path(__file__).parents[2]
SMALL = workload(fixed(1), fixed(1, 1), use(1), use(1, 0, "ben"), accounts=(plan(), plan("ben")))
IDLE = Made("almost_idle", 1)
LONG = 60.0  # seconds; a bound for what takes one on a machine that is not busy


def dies(_: Play) -> None:
    """Be killed, as by a system without memory."""
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_play_is_of_what_it_names() -> None:
    """A made-up workload or one at hand; without a strategy it is the bound."""
    made = convert(make("almost_idle", 1))

    assert played(Play(source=IDLE, strategy="perishing", wait=60)) == play(made, "perishing", wait=60)
    assert played(Play(source=SMALL, strategy="perishing")) == play(SMALL, "perishing")
    assert played(Play(source=SMALL, strategy=None)) == pytest.approx(Bound(2, 2))
    assert asked(SMALL) == 2
    assert accounts_of(IDLE) == tuple(account.name for account in made.accounts)


def test_accounts_that_are_left_out_take_their_outside_use_along() -> None:
    """The turns stay."""
    kept = keep(SMALL, (1,))

    assert kept == workload(*SMALL.turns, use(1, 0, "ben"), accounts=(plan("ben"),))
    assert played(Play(source=SMALL, strategy="perishing", accounts=(1,))) == play(kept, "perishing")


def test_beside_and_here_is_the_same() -> None:
    """In the order that was asked, whoever is ready first."""
    wanted = [Play(source=source, strategy=name) for source in (IDLE, SMALL) for name in (None, "perishing")]

    assert list(run(wanted, 2)) == list(run(wanted, 1))
    found = run(wanted[2:], 1)
    assert isinstance(find_bound(found), Bound)
    assert isinstance(find_outcome(found), Outcome)


def children() -> set[str]:
    """The processes that this one has started and that still run."""
    listed = Path(f"/proc/{os.getpid()}/task").glob("*/children")
    return {pid for path in listed for pid in path.read_text().split()}


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_who_stops_early_leaves_no_process() -> None:
    """Though most of it is still to be played."""
    before = children()
    found = run([Play(source=IDLE, strategy="perishing")] * 50, 2)
    list(islice(found, 1))
    assert len(children() - before) >= 2
    found.close()

    assert not {pid for pid in children() - before if "spawn_main" in Path(f"/proc/{pid}/cmdline").read_text()}


@pytest.mark.skipif(sys.platform == "win32", reason="kills by a signal")
def test_a_process_that_is_killed_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """It says how to do without."""
    monkeypatch.setattr(plays, "played", dies)
    with pytest.raises(Failure, match="was killed; run it with: --jobs 1"):
        list(run([Play(source=SMALL, strategy="perishing")] * 2, 2))


def processes(parent: int) -> Iterator[int]:
    """The processes that another one has started."""
    for path in Path(f"/proc/{parent}/task").glob("*/children"):
        yield from map(int, path.read_text().split())


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
@pytest.mark.parametrize(
    ("how", "code"), [(signal.SIGINT, 1), (signal.SIGTERM, 143), (signal.SIGKILL, -signal.SIGKILL)]
)
def test_whatever_ends_the_command_ends_its_processes(tmp_path: Path, how: signal.Signals, code: int) -> None:
    """Ctrl-C and SIGTERM are one word on stderr; even who is killed leaves nobody behind."""
    command = [sys.executable, "-m", "flowpool", "simulate", "--all", "--seeds", "50", "--jobs", "2"]
    environ = {**os.environ, "FLOWPOOL_HOME": str(tmp_path)}
    with subprocess.Popen(
        command, cwd=ROOT, env=environ, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, preexec_fn=hears_ctrl_c
    ) as running:
        until = time.monotonic() + LONG
        started: set[int] = set()
        while len(started) < 3 and time.monotonic() < until:  # two that play, and who tracks what they share
            started = set(processes(running.pid))
        running.send_signal(how)
        _, told = running.communicate(timeout=LONG)
        while any(Path(f"/proc/{pid}/cwd").exists() for pid in started) and time.monotonic() < until:
            pass

    assert len(started) >= 2
    assert running.returncode == code
    assert not [pid for pid in started if Path(f"/proc/{pid}/cwd").exists()]
    assert how == signal.SIGKILL or told.decode().strip() == "flowpool: stopped"
