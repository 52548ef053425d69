"""The table of `simulate`."""

from collections.abc import Mapping

from rich import box
from rich.console import RenderableType
from rich.table import Table

from routing.simulator import Outcome

HEADINGS = ("strategy", "served", "refused", "attempts", "units", "lost", "rebuilt", "moved warm", "moves")
THOUSAND, MILLION = 1000, 1_000_000


def view(title: str, outcomes: Mapping[str, Outcome]) -> RenderableType:
    """Draw one row for each strategy; the largest number of units is the best."""
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, padding=0, pad_edge=False)
    for heading in HEADINGS:
        is_first = heading == HEADINGS[0]
        table.add_column(heading, no_wrap=is_first, justify="left" if is_first else "right")
    for name, outcome in outcomes.items():
        table.add_row(*cells(name, outcome))
    return table


def cells(name: str, outcome: Outcome) -> tuple[str, ...]:
    """Return what is shown of a strategy, in the order of HEADINGS."""
    return (
        name,
        str(outcome.served_turns),
        str(outcome.refused_turns),
        str(outcome.attempts_refused),
        _units(outcome.served_units),
        _units(outcome.lost_units),
        _amount(outcome.rebuilt_tokens),
        _amount(outcome.moved_warm_tokens),
        str(outcome.moves),
    )


def _amount(tokens: int) -> str:
    if tokens < THOUSAND:
        return str(tokens)
    return f"{tokens / THOUSAND:.1f}k" if tokens < MILLION else f"{tokens / MILLION:.1f}M"


def _units(units: float) -> str:
    return f"{units:.1f}" if units < THOUSAND else f"{units:.0f}"
