"""The tables of `simulate`."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich import box
from rich.console import RenderableType
from rich.table import Table

from flowpool.comparison import Result, shares, shares_of_all, total, totals
from flowpool.confidence import Interval, interval

if TYPE_CHECKING:
    from flowpool.fewer import Fewer

THOUSAND, MILLION = 1000, 1_000_000
MINUTE, HOUR = 60, 3600  # seconds
HEADINGS = (
    "strategy", "served", "refused turns", "attempts refused", "waited", "lost units", "rebuilt", "moved warm", "moves",
)  # fmt: skip
WITHOUT = ("strategy", "without", "served", "difference", "served units", "refused turns", "attempts refused")
_NAMES = ("strategy", "without")
_WHOLE = (*_NAMES, "served", "difference", "waited")


def title_of(name: str, *, is_bounded: bool) -> str:
    """Name a comparison; is_bounded: whether served is told in percents of the bound."""
    return f"{name} (served: % of {'the bound' if is_bounded else 'what was asked'})"


def view(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> RenderableType:
    """Draw a table; names, means with their intervals and waits are never broken over two lines."""
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, padding=0, pad_edge=False)
    for heading in columns:
        is_name = heading in _NAMES
        table.add_column(heading, no_wrap=heading in _WHOLE, justify="left" if is_name else "right")
    for row in rows:
        table.add_row(*row)
    return table


def markdown(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Write a table as Markdown, under its title."""
    rule = ("---", *("--:" for _ in columns[1:]))
    lines = (f"| {' | '.join(row)} |" for row in (columns, rule, *rows))
    return "\n".join((f"**{title}**", "", *lines, ""))


def cells(strategy: str, results: Sequence[Result]) -> tuple[str, ...]:
    """Return what is shown of a strategy over one kind or several: sums, but for what was served."""
    outcome = totals(results, strategy)
    served = shares(results[0], strategy) if len(results) == 1 else shares_of_all(results, strategy)
    return (
        strategy,
        percents(interval(served)),
        str(outcome.refused_turns),
        str(outcome.attempts_refused),
        f"{outcome.waited_turns} ({_duration(outcome.waited_s)})" if outcome.waited_turns else "0",
        _units(outcome.lost_units),
        _amount(outcome.rebuilt_tokens),
        _amount(outcome.moved_warm_tokens),
        str(outcome.moves),
    )


def fewer_rows(fewer: "Fewer") -> list[tuple[str, ...]]:
    """Return a row for each account that is missing, after one with all; strategy by strategy."""
    rows: list[tuple[str, ...]] = []
    for strategy, full in fewer.full.items():
        missing = [("none", full, "")]
        for account, found in fewer.without.items():
            missing.append((account, found[strategy], percents(fewer.difference(strategy, account), sign="+")))
        for account, found_ones, difference in missing:
            outcome, served = total(found_ones), percents(interval(fewer.served(found_ones)))
            units, refused = _units(outcome.served_units), str(outcome.refused_turns)
            rows.append((strategy, account, served, difference, units, refused, str(outcome.attempts_refused)))
    return rows


def percents(found: Interval, *, sign: str = "") -> str:
    """Write 93.5 ±0.8; of one seed alone, 93.5."""
    mean = f"{found.mean:{sign}.1f}"
    return mean if found.plus_minus is None else f"{mean} ±{found.plus_minus:.1f}"


def _duration(seconds: float) -> str:
    if seconds < MINUTE:
        return f"{seconds:.0f} s"
    return f"{seconds / MINUTE:.0f} min" if seconds < HOUR else f"{seconds / HOUR:.1f} h"


def _amount(tokens: int) -> str:
    if tokens < THOUSAND:
        return str(tokens)
    return f"{tokens / THOUSAND:.1f}k" if tokens < MILLION else f"{tokens / MILLION:.1f}M"


def _units(units: float) -> str:
    return f"{units:.1f}" if units < THOUSAND else f"{units:.0f}"
