"""`flowpool simulate`: how the strategies would do, in pretend time."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, fields

import click

from flowpool import workloads
from routing.rules import Routing
from routing.scoring import STRATEGIES
from routing.simulation.workload import Workload
from routing.simulator import Outcome, play

HELP = f"""Play workloads against the strategies.

No account is asked, and no setting read. Without --strategy or --all the default strategy is played. A turn for which a running proxy would wait counts as refused.

KIND is one of: {", ".join(workloads.KINDS)}.

\b
FILE is JSON; times in seconds from the start, capacities in units:
  accounts     [{{name, size, window_5h, week, week_resets_at,
                 models: {{family: share of the week}}}}]
  turns        [{{at, conversation, model, context, fresh, output, ttl}}]
  outside      [{{at, account, units}}]; may be left out
  cost         {{read, fresh, write, output}}; may be left out
  unit_tokens  how many tokens of cost 1 make a unit
"""
MOST_SEEDS = 1000

type Outcomes = dict[str, Outcome]
"""By strategy."""


@click.command(help=HELP)
@click.option("--workload", "wanted", metavar="FILE|KIND", multiple=True, help="What is played; may be repeated.")
@click.option("--strategy", metavar="NAME", type=click.Choice(tuple(STRATEGIES)), help="The one to play.")
@click.option("--all", "plays_all", is_flag=True, help="Play every strategy.")
@click.option(
    "--seeds",
    metavar="N",
    type=click.IntRange(1, MOST_SEEDS),
    help="Make up so many workloads of each KIND; without --workload, of all.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the sums of all as JSON.")
def simulate(wanted: tuple[str, ...], strategy: str | None, plays_all: bool, seeds: int | None, as_json: bool) -> None:
    """Play workloads against the strategies."""
    if strategy is not None and plays_all:
        raise click.UsageError("--strategy and --all exclude each other")
    if not wanted and seeds is None:
        raise click.UsageError("say what to play: --workload FILE, or --seeds N for what is made up")
    names = tuple(STRATEGIES) if plays_all else (strategy or Routing().strategy,)
    played = [(title, _played(group, names)) for title, group in _groups(wanted, seeds or 1)]
    sums = {name: total(outcomes[name] for _, outcomes in played) for name in names}
    if as_json:
        click.echo(json.dumps({name: asdict(outcome) for name, outcome in sums.items()} | {"bound": None}))
    else:
        _show(played if len(played) == 1 else [*played, ("all", sums)])


def total(outcomes: Iterable[Outcome]) -> Outcome:
    """Add outcomes up, each of their numbers by itself."""
    listed = list(outcomes)
    return Outcome(**{field.name: sum(getattr(one, field.name) for one in listed) for field in fields(Outcome)})


def _groups(wanted: tuple[str, ...], seeds: int) -> list[tuple[str, Iterable[Workload]]]:
    """Find what is to be played, with titles; files are read at once, the rest is made as it is needed."""
    from flowpool.workload_file import read  # noqa: PLC0415  # msgspec, which --help needs not

    kinds = workloads.KINDS
    return [(name, _made(name, seeds) if name in kinds else (read(name),)) for name in wanted or kinds]


def _made(kind: str, seeds: int) -> Iterator[Workload]:
    from flowpool.workload_file import convert  # noqa: PLC0415

    for seed in range(1, seeds + 1):
        yield convert(workloads.make(kind, seed))


def _played(group: Iterable[Workload], names: tuple[str, ...]) -> Outcomes:
    """Play each workload under each strategy, and add up."""
    played = [{name: play(workload, name) for name in names} for workload in group]
    return {name: total(outcomes[name] for outcomes in played) for name in names}


def _show(played: Iterable[tuple[str, Outcomes]]) -> None:
    from flowpool.views.screen import show  # noqa: PLC0415  # rich costs 50 ms
    from flowpool.views.simulate import view  # noqa: PLC0415

    for title, outcomes in played:
        show(view(title, outcomes))
