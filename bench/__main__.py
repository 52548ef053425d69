"""`python -m bench`: every figure that flowpool promises, beside bare mitmdump, in one run.

The programs run side by side and are measured in turn, round by round, so that a machine's mood meets them all; ratios are
those of one round, and the median round is what counts.
"""

import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

import click

from bench import measures, report
from bench.choose import choose_us
from bench.programs import BARE, MITMDUMP, SERVE, Running, described, programs, upstream
from bench.report import Row, spread

MS = 1e3
PLAIN = "plain"

# The bars: ratios to bare mitmdump; seconds; MB; percent; microseconds.
SMALL_SERVE, SMALL_MITMDUMP, CROWD_SERVE = 0.65, 1.0, 0.6
EVENT, HOP, LOADED, BIG = 0.002, 0.003, 0.05, 0.04
RESIDENT, GROWTH = 150, 5
STATUS, STATUS_ALONE, CHOOSE_US = 0.15, 0.3, 300

type Measured = dict[str, list[float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How much is measured: rounds, and how many requests or seconds of each kind in one of them."""

    rounds: int
    small: int
    crowd: int
    stream_s: float
    hops: int
    loaded: int
    loaded_s: float
    growth: int
    big: int
    choices: int
    statuses: int


FULL = Plan(
    rounds=5, small=600, crowd=3_000, stream_s=5, hops=20, loaded=200, loaded_s=12, growth=10_000, big=5, choices=300, statuses=7
)  # fmt: skip
QUICK = Plan(
    rounds=1, small=200, crowd=500, stream_s=2, hops=5, loaded=20, loaded_s=3, growth=500, big=2, choices=50, statuses=2
)  # fmt: skip


@click.command
@click.option(
    "--quick", is_flag=True, help="A smoke test of the measurements; its figures mean little, and are not kept."
)
def main(*, quick: bool) -> None:
    """Measure what flowpool adds."""
    plan = QUICK if quick else FULL
    with tempfile.TemporaryDirectory(prefix="flowpool-bench-") as folder:
        rows = []
        for row in measure(plan, Path(folder)):
            click.echo(f"{row.what}: {' | '.join(row.cells()[2:])}", err=True)
            rows.append(row)
    at = datetime.now(UTC)
    text = f"# Measured on {at:%Y-%m-%d}\n\n{report.machine()}; {plan.rounds} rounds.\n\n{report.table(rows)}"
    click.echo(text)
    if not quick:
        click.echo(f"kept in {report.keep(text)}", err=True)


def measure(plan: Plan, folder: Path) -> Iterator[Row]:
    """Yield the rows of the table, in order."""
    with upstream(folder) as behind:
        with programs(folder, behind) as running:
            every = [Running(PLAIN, behind.address, behind.pid), *running]
            yield from _requests(plan, every)
            yield from _streams(plan, every)
            yield _hops(plan, running[1:])
            yield _big(plan, every)
        yield from _loaded(plan, folder, behind)
        yield _growth(plan, folder, behind)
        yield _status(plan, folder, behind)
    yield _choose(plan)


def _rounds(plan: Plan, running: Sequence[Running], one: Callable[[Running], float]) -> Measured:
    """Measure all the programs in turn, round by round."""
    measured: Measured = {each.name: [] for each in running}
    for number in range(plan.rounds):
        first = number % len(running)
        for each in (*running[first:], *running[:first]):
            measured[each.name].append(one(each))
    return measured


def _ratios(measured: Measured, name: str) -> list[float]:
    return [value / bare for value, bare in zip(measured[name], measured[BARE], strict=True)]


def _ms(measured: Measured, digits: int = 2) -> dict[str, str]:
    return {name: spread([value * MS for value in values], " ms", digits) for name, values in measured.items()}


def _with_ratio(measured: Measured, digits: int = 2) -> dict[str, str]:
    cells = _ms(measured, digits)
    for name in (MITMDUMP, SERVE):
        cells[name] += f"; ratio {spread(_ratios(measured, name))}"
    return cells


def _requests(plan: Plan, every: Sequence[Running]) -> Iterator[Row]:
    alone = _rounds(plan, every, lambda each: measures.at(measures.small(each, 1, plan.small), 0.5))
    under, serve = (median(_ratios(alone, name)) for name in (MITMDUMP, SERVE))
    bar = "serve ≤ 0.65 of bare; under mitmdump ≤ 1.0 of bare"
    yield Row(
        what="small POST, kept connection, p50",
        bar=bar,
        met=under <= SMALL_MITMDUMP and serve <= SMALL_SERVE,
        **_with_ratio(alone),
    )
    crowd = _rounds(plan, every, lambda each: measures.at(measures.small(each, 16, plan.crowd), 0.99))
    serve = median(_ratios(crowd, SERVE))
    yield Row(
        what="the same over 16 connections, p99",
        bar="serve ≤ 0.6 of bare",
        met=serve <= CROWD_SERVE,
        **_with_ratio(crowd),
    )


def _streams(plan: Plan, every: Sequence[Running]) -> Iterator[Row]:
    delays = _rounds(plan, every, lambda each: measures.at(measures.stream_delays(each, 50, 5, plan.stream_s), 0.99))
    added = {name: max(0.0, median(values) - median(delays[PLAIN])) for name, values in delays.items()}
    met = max(added[MITMDUMP], added[SERVE]) <= EVENT
    yield Row(what="50 streams, delay of an event, p99", bar="≤ 2 ms added", met=met, **_ms(delays))


def _hops(plan: Plan, running: Sequence[Running]) -> Row:
    taken: Measured = {each.name: [] for each in running}
    for number in range(plan.rounds):
        for each in running:
            taken[each.name].append(median(measures.hops(each, plan.hops, round_number=number)))
    met = max(map(median, taken.values())) <= HOP
    return Row(what="refusal to the next account's request on the wire", bar="≤ 3 ms", met=met, **_ms(taken))


def _big(plan: Plan, every: Sequence[Running]) -> Row:
    taken = _rounds(plan, every, lambda each: measures.big(each, plan.big))
    added = max(median(taken[name]) - median(taken[BARE]) for name in (MITMDUMP, SERVE))
    return Row(what="8 MB request body", bar="≤ 40 ms over bare", met=added <= BIG, **_ms(taken, 1))


def _loaded(plan: Plan, folder: Path, behind: Running) -> Iterator[Row]:
    """The programs one after another: each is to have the machine for itself, and its memory to be its own."""
    half = plan.loaded_s / 2
    delays: dict[str, float] = {}
    resident: dict[str, float] = {}
    delays[PLAIN], _ = _loaded_once(Running(PLAIN, behind.address, behind.pid), plan.loaded, half)
    for name in (BARE, MITMDUMP, SERVE):
        with programs(folder / "loaded", behind, [name]) as (only,):
            delays[name], resident[name] = _loaded_once(only, plan.loaded, half)
    met = max(delays[MITMDUMP], delays[SERVE]) - delays[PLAIN] < LOADED
    what = f"{plan.loaded} streams, 5 events/s, 1 MB bodies: delay, p99.9"
    yield Row(
        what=what, bar="< 50 ms added", met=met, **{name: f"{value * MS:.1f} ms" for name, value in delays.items()}
    )
    fits = max(resident[MITMDUMP], resident[SERVE]) < RESIDENT
    cells = {name: f"{value:.0f} MB" for name, value in resident.items()}
    yield Row(what="the same: resident memory at its most", bar="< 150 MB", met=fits, **cells)


def _loaded_once(running: Running, streams: int, half: float) -> tuple[float, float]:
    delays, resident = measures.loaded_streams(running, streams, 5, half, half)
    return measures.at(delays, 0.999), resident


def _growth(plan: Plan, folder: Path, behind: Running) -> Row:
    grown: dict[str, float] = {}
    for name in (BARE, MITMDUMP, SERVE):
        with programs(folder / "growth", behind, [name]) as (only,):
            grown[name] = measures.growth(only, plan.growth, warm_up=plan.growth // 2)
    met = max(grown[MITMDUMP], grown[SERVE]) < GROWTH
    what = f"{plan.growth:,} requests, a tenth refused, 50 kB bodies: resident memory after as many half as warm-up"
    return Row(what=what, bar="grows < 5 %", met=met, **{name: f"{value:+.1f} %" for name, value in grown.items()})


def _status(plan: Plan, folder: Path, behind: Running) -> Row:
    stopped = described(folder / "status" / "stopped", behind)
    measures.status(stopped)
    without = [measures.status(stopped) for _ in range(plan.statuses)]
    with programs(folder / "status", behind, [SERVE]) as (only,):
        assert only.proxy is not None  # noqa: S101 - serve has its files
        measures.status(only.proxy)
        beside = [measures.status(only.proxy) for _ in range(plan.statuses)]
    met = median(beside) <= STATUS and median(without) <= STATUS_ALONE
    cell = f"{spread([s * MS for s in beside], ' ms', 0)}; {spread([s * MS for s in without], ' ms', 0)}"
    bar = "≤ 150 ms; without a proxy ≤ 300 ms"
    return Row(what="`flowpool status`, a new process", bar=bar, serve=cell, met=met)


def _choose(plan: Plan) -> Row:
    cold, warm = zip(*(choose_us(plan.choices) for _ in range(plan.rounds)), strict=True)
    cell = f"{spread(cold, ' µs', 0)}; warm {spread(warm, ' µs', 0)}"
    return Row(
        what="`Router.choose`, 50 accounts, 2,000 conversations",
        bar="≤ 300 µs",
        serve=cell,
        met=median(cold) <= CHOOSE_US,
    )


if __name__ == "__main__":
    main()
