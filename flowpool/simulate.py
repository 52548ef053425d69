"""`flowpool simulate`: how the strategies would do, in pretend time."""

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import asdict
from math import isnan
from typing import TYPE_CHECKING

import click

from flowpool import workloads
from flowpool.errors import Failure
from flowpool.unwinding import unwinding
from home.paths import Home
from routing.rules import Routing
from routing.scoring import STRATEGIES
from routing.simulation.workload import Workload

if TYPE_CHECKING:  # --help needs none of them
    from flowpool.comparison import Result
    from flowpool.fewer import Fewer
    from flowpool.plays import Made

HELP = f"""Play workloads against the strategies.

In pretend time; without --strategy or --all, against the default one.

No account is asked, and no setting read. Served is shown in percents of the most that any router could have served, known beforehand.

KIND is one of: {", ".join(workloads.KINDS)}. history is what your request log holds.

\b
FILE is JSON; times in seconds, capacities in units; ? may be left out:
  accounts  [{{name, window_5h, week, week_resets_at; size?,
              models? {{family: share of the week}}}}]
  turns     [{{at, conversation, model, context, fresh, output, ttl}}]
  outside?  [{{at, account, units}}]
  cost?     {{read, fresh, write, output}}
  unit_tokens: how many tokens of cost 1 make a unit
"""
HISTORY = "history"
MOST_SEEDS, MOST_JOBS, MOST_ACCOUNTS, MOST_DAYS = 1000, 256, 1000, 90
DAY = 86_400  # seconds; the longest wait
WITHOUT_BOUND = "the bound needs scipy, so served is shown in percents of what was asked; run: pip install scipy"

type Group = tuple[str, "list[Made | Workload]"]
"""A title, and what is played under it, seed by seed."""


@click.command(help=HELP)
@click.option(
    "--workload", "wanted", metavar="FILE|KIND|history", multiple=True, help="What is played; may be repeated."
)
@click.option("--strategy", metavar="NAME", type=click.Choice(tuple(STRATEGIES)), help="The one to play.")
@click.option("--all", "plays_all", is_flag=True, help="Play every strategy.")
@click.option("--seeds", metavar="N", type=click.IntRange(1, MOST_SEEDS), help="Make up so many of each KIND.")
@click.option(
    "--wait",
    metavar="SECONDS",
    type=click.FloatRange(0, DAY),
    default=0.0,
    help="How long a turn may wait for a recovery.",
)
@click.option(
    "--accounts",
    metavar="N",
    type=click.IntRange(-1, MOST_ACCOUNTS),
    help="Only the first N; -1: what one fewer costs.",
)
@click.option(
    "--days", metavar="N", type=click.IntRange(1, MOST_DAYS), help="How far back history goes; 14 if left out."
)
@click.option("--jobs", metavar="N", type=click.IntRange(1, MOST_JOBS), help="How many plays run at a time.")
@click.option("--markdown", is_flag=True, help="Print the tables as Markdown.")
@click.option("--json", "as_json", is_flag=True, help="Print the sums of all as JSON.")
@click.pass_obj
def simulate(
    home: Home | None,
    *,
    wanted: tuple[str, ...],
    strategy: str | None,
    plays_all: bool,
    seeds: int | None,
    wait: float,
    accounts: int | None,
    days: int | None,
    jobs: int | None,
    markdown: bool,
    as_json: bool,
) -> None:
    """Play workloads against the strategies."""
    if strategy is not None and plays_all:
        raise click.UsageError("--strategy and --all exclude each other")
    if markdown and as_json:
        raise click.UsageError("--markdown and --json exclude each other")
    if accounts == 0:
        raise click.UsageError("--accounts 0 leaves nobody to serve; say how many, or -1")
    if isnan(wait):  # it is beyond every range, and passes each
        raise click.UsageError("--wait nan is no number of seconds")
    if not wanted and seeds is None:
        raise click.UsageError("say what to play: --workload FILE, or --seeds N for what is made up")
    if days is not None and HISTORY not in wanted:
        raise click.UsageError("--days goes with --workload history")
    if seeds is not None and wanted and not workloads.KINDS.keys() & set(wanted):
        raise click.UsageError("--seeds goes with a KIND; what a file or history holds is played once")
    names = tuple(STRATEGIES) if plays_all else (strategy or Routing().strategy,)
    jobs = jobs or os.cpu_count() or 1
    with unwinding():
        groups = _groups(home, wanted, seeds or 1, days)
        if accounts == -1:
            _fewer(groups, names, wait, jobs, markdown=markdown, as_json=as_json)
        else:
            _compare(groups, names, wait, accounts, jobs, markdown=markdown, as_json=as_json)


def _groups(home: Home | None, wanted: tuple[str, ...], seeds: int, days: int | None) -> list[Group]:
    """Find what is to be played; files are read at once, the rest is made where it is played."""
    from flowpool.plays import Made  # noqa: PLC0415  # msgspec and process pools, which --help needs not
    from flowpool.workload_file import read  # noqa: PLC0415

    groups: list[Group] = []
    for name in wanted or workloads.KINDS:
        if name in workloads.KINDS:
            groups.append((name, [Made(name, seed) for seed in range(1, seeds + 1)]))
        elif name == HISTORY:
            groups.append((name, [_history(home, days)]))
        else:
            groups.append((name, [read(name, kinds=(*workloads.KINDS, HISTORY), tell=_tell)]))
    return groups


def _history(home: Home | None, days: int | None) -> Workload:
    from flowpool.history import DAYS, history  # noqa: PLC0415

    assert home is not None  # noqa: S101  # the group of commands gives it
    told = history(home, days or DAYS)
    for line in told.notes:
        _tell(line)
    return told.workload


def _tell(line: str) -> None:
    click.echo(f"flowpool: {line}", err=True)


def _compare(
    groups: Sequence[Group],
    names: Sequence[str],
    wait: float,
    accounts: int | None,
    jobs: int,
    *,
    markdown: bool,
    as_json: bool,
) -> None:
    """Show each group as soon as it is played, then all of them."""
    from flowpool.comparison import bound_of_all, confidence, totals  # noqa: PLC0415

    results: list[Result] = []
    for result in _results(groups, names, wait, accounts, jobs):
        results.append(result)
        if not as_json:
            _show([result], names, result.title, waits=wait > 0, markdown=markdown)
    if as_json:
        sums = {name: asdict(totals(results, name)) for name in names}
        sure = confidence(results, names, Routing().strategy)
        click.echo(json.dumps({**sums, "bound": bound_of_all(results), "confidence": sure}))
    elif len(results) > 1:
        _show(results, names, "all", waits=wait > 0, markdown=markdown)
    if not all(result.is_bounded for result in results):
        _tell(WITHOUT_BOUND)


def _results(
    groups: Sequence[Group], names: Sequence[str], wait: float, accounts: int | None, jobs: int
) -> "Iterator[Result]":
    """Play all of it, and give what comes of each group in its turn."""
    from flowpool.comparison import Result  # noqa: PLC0415
    from flowpool.plays import Play, find_bound, find_outcome, run  # noqa: PLC0415

    kept = [None if accounts is None else _first(title, sources, accounts) for title, sources in groups]
    plays = [
        Play(source=source, strategy=name, wait=wait, accounts=places)
        for (_, sources), places in zip(groups, kept, strict=True)
        for source in sources
        for name in (None, *names)
    ]
    with closing(run(plays, jobs)) as found:
        for title, sources in groups:
            rows = [(find_bound(found), [find_outcome(found) for _ in names]) for _ in sources]
            bounds, seeds = zip(*rows, strict=True)
            yield Result(title=title, outcomes=dict(zip(names, zip(*seeds, strict=True), strict=True)), bounds=bounds)


def _first(title: str, sources: "Sequence[Made | Workload]", accounts: int) -> tuple[int, ...]:
    """Keep the first so many accounts."""
    from flowpool.plays import accounts_of  # noqa: PLC0415

    there = min(len(accounts_of(source)) for source in sources)
    if accounts > there:
        raise Failure(f"{title} has {there} accounts, and not {accounts}; run it with: --accounts {there}")
    return tuple(range(accounts))


def _fewer(
    groups: Sequence[Group], names: Sequence[str], wait: float, jobs: int, *, markdown: bool, as_json: bool
) -> None:
    """Show what each account is worth, group by group."""
    from flowpool.comparison import total  # noqa: PLC0415
    from flowpool.fewer import compare, document  # noqa: PLC0415

    found: list[Fewer] = []
    for fewer in compare(groups, names, wait, jobs):
        found.append(fewer)
        if not as_json:
            from flowpool.views import simulate as view  # noqa: PLC0415

            _print(
                view.title_of(fewer.title, is_bounded=False), view.WITHOUT, view.fewer_rows(fewer), markdown=markdown
            )
    if as_json:
        sums = {name: asdict(total(one for fewer in found for one in fewer.full[name])) for name in names}
        click.echo(json.dumps({**sums, "bound": None, "without": {one.title: document(one) for one in found}}))


def _show(results: "Sequence[Result]", names: Sequence[str], title: str, *, waits: bool, markdown: bool) -> None:
    from flowpool.views import simulate as view  # noqa: PLC0415

    title = view.title_of(title, is_bounded=all(result.is_bounded for result in results))
    headings, rows = view.compared(results, names, Routing().strategy, waits=waits)
    _print(title, headings, rows, markdown=markdown)


def _print(title: str, headings: Sequence[str], rows: Sequence[Sequence[str]], *, markdown: bool) -> None:
    from flowpool.views import simulate as view  # noqa: PLC0415  # rich costs 50 ms
    from flowpool.views.screen import show  # noqa: PLC0415

    if markdown:
        click.echo(view.markdown(title, headings, rows))
    else:
        show(view.view(title, headings, rows))
