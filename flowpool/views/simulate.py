"""The tables of `simulate`."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from flowpool.comparison import Result, differences, shares, shares_of_all, total, totals
from flowpool.confidence import Interval, interval
from flowpool.views.progress import duration

if TYPE_CHECKING:
    from flowpool.fewer import Fewer

HUNDRED, THOUSAND, MILLION = 100, 1000, 1_000_000
SURE = 3  # seeds, from which on an interval says more than that it is wide
AGAINST = "against default"
WAITED = "waited"
WITHOUT = ("strategy", "without", "served", "difference", "served units", "refused turns", "asked again")
_NAMES = ("strategy", "without")
_BREAKABLE = ("served", "difference", AGAINST)

type Rows = Sequence[Sequence[str]]


def title_of(name: str, *, is_bounded: bool) -> str:
    """Name a comparison; is_bounded: whether served is told in percents of the bound."""
    return f"{name} (served: % of {'the bound' if is_bounded else 'what was asked'})"


def view(title: str, columns: Sequence[str], rows: Rows) -> RenderableType:
    """Draw a table; headings stand a word a line, waits take two, and so do intervals where it is narrow."""
    table = Table(box=box.SIMPLE_HEAD, padding=0, pad_edge=False, show_edge=False)
    for heading in columns:
        is_name = heading in _NAMES
        table.add_column(
            heading.replace(" ", "\n"), no_wrap=heading not in _BREAKABLE, justify="left" if is_name else "right"
        )
    for row in rows:
        table.add_row(*(cell.replace(" (", "\n(") for cell in row))
    return Group(Text(title, style="table.title"), table, "")


def markdown(title: str, columns: Sequence[str], rows: Rows) -> str:
    """Write a table as Markdown, under its title."""
    rule = ("---", *("--:" for _ in columns[1:]))
    lines = (f"| {' | '.join(row)} |" for row in (columns, rule, *rows))
    return "\n".join((f"**{title}**", "", *lines, ""))


def compared(
    results: Sequence[Result], strategies: Sequence[str], default: str, *, waits: bool
) -> tuple[Sequence[str], Rows]:
    """Return headings, and a row for each strategy over one kind or several: sums, but for what was served.

    Beside it stands the difference to the default one, where that was played too and on more than one workload.
    waits: whether turns may wait; without it nobody did.
    """
    plays = sum(len(result.bounds) for result in results)
    against = default if default in strategies and len(strategies) > 1 and plays > 1 else None
    rows = [_row(name, results, against, waits=waits) for name in strategies]
    return tuple(rows[0]), [tuple(row.values()) for row in rows]


def _row(strategy: str, results: Sequence[Result], against: str | None, *, waits: bool) -> dict[str, str]:
    outcome, served = totals(results, strategy), _served(results, strategy)
    row = {"strategy": strategy, "served": percents(interval(served), len(served))}
    if against is not None:
        difference = differences(served, _served(results, against))
        row[AGAINST] = "" if against == strategy else percents(difference, len(served), sign="+")
    row["refused turns"] = str(outcome.refused_turns)
    row["asked again"] = str(outcome.attempts_refused)
    if waits:
        row[WAITED] = (
            f"{outcome.waited_turns} ({duration(outcome.waited_s).replace(' ', '')})" if outcome.waited_turns else "0"
        )
    row["lost units"] = f"{outcome.lost_units:.0f}"
    row["rebuilt"] = _amount(outcome.rebuilt_tokens)
    row["moved warm"] = _amount(outcome.moved_warm_tokens)
    row["moves"] = str(outcome.moves)
    return row


def _served(results: Sequence[Result], strategy: str) -> list[float]:
    return shares(results[0], strategy) if len(results) == 1 else shares_of_all(results, strategy)


def fewer_rows(fewer: "Fewer") -> list[tuple[str, ...]]:
    """Return a row for each account that is missing, after one with all; strategy by strategy."""
    rows: list[tuple[str, ...]] = []
    for strategy, full in fewer.full.items():
        missing = [("none", full, "")]
        for account, found in fewer.without.items():
            missing.append(
                (account, found[strategy], percents(fewer.difference(strategy, account), len(full), sign="+"))
            )
        for account, found_ones, difference in missing:
            outcome, served = total(found_ones), percents(interval(fewer.served(found_ones)), len(full))
            units, refused = _units(outcome.served_units), str(outcome.refused_turns)
            rows.append((strategy, account, served, difference, units, refused, str(outcome.attempts_refused)))
    return rows


def percents(found: Interval, seeds: int, *, sign: str = "") -> str:
    """Write 93.5 ±0.8; of fewer seeds than SURE the mean alone, 93.5."""
    mean = f"{found.mean:{sign}.1f}"
    return mean if found.plus_minus is None or seeds < SURE else f"{mean} ±{found.plus_minus:.1f}"


def _amount(tokens: int) -> str:
    """Write 999, 24.7k, 120k or 3.4M: five letters at most below ten thousand millions."""
    if tokens < THOUSAND:
        return str(tokens)
    amount, letter = (tokens / THOUSAND, "k") if tokens < MILLION else (tokens / MILLION, "M")
    return f"{amount:.{amount < HUNDRED:d}f}{letter}"


def _units(units: float) -> str:
    return f"{units:.1f}" if units < THOUSAND else f"{units:.0f}"
