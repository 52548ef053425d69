"""The table of `requests`."""

from collections.abc import Callable, Iterable
from datetime import datetime

from rich import box
from rich.console import JustifyMethod, RenderableType
from rich.table import Table
from rich.text import Text

from flowpool.rows import Row, counts, trail
from flowpool.views.status import clock

type Local = Callable[[datetime], datetime]

HEADINGS = ("at", "account", "model", "status", "met", "first byte", "tokens", "ended", "id")
WIDTHS = (14, 10, 22, 6, 24, 10, 14, 8, 6)
SHORT = 6  # letters of an id that are shown: `why` takes the beginning of one
WELL = ("complete", "passed")
THOUSAND, MILLION = 1000, 1_000_000


def view(rows: Iterable[Row], now: datetime, *, arrow: str, local: Local = datetime.astimezone) -> RenderableType:
    """Draw one row for each request, the latest last."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for heading in HEADINGS:
        justify: JustifyMethod = "right" if heading in ("first byte", "tokens") else "left"
        table.add_column(heading, overflow="fold", justify=justify, no_wrap=heading == "id")
    for row in rows:
        style = "" if row.ended in WELL else "yellow"
        table.add_row(*(Text(cell, style=style) for cell in cells(row, now, arrow=arrow, local=local)))
    return table


def cells(row: Row, now: datetime, *, arrow: str, local: Local = datetime.astimezone) -> tuple[str, ...]:
    """Return what is shown of a request, in the order of HEADINGS."""
    return (
        f"{clock(row.at, now, local)}:{local(row.at):%S}",
        row.account or "-",
        _what(row),
        "-" if row.status is None else str(row.status),
        trail(row, arrow) or "-",
        seconds(row.first_byte),
        "-" if row.taken is None or row.given is None else f"{amount(row.taken)} + {amount(row.given)}",
        row.ended,
        row.id[:SHORT],
    )


def columns(row: Iterable[str]) -> str:
    """Return cells as a line of fixed columns, for rows that come one by one."""
    return "  ".join(cell.ljust(width) for cell, width in zip(row, WIDTHS, strict=True)).rstrip()


def _what(row: Row) -> str:
    """Say what was asked for: a turn of a model, the count of its tokens, or another path."""
    if not row.model:
        return row.path or "-"
    return f"{row.model} (count)" if counts(row) else row.model


def seconds(span: float | None) -> str:
    """Write a span of time; a dash for one that is not known."""
    if span is None:
        return "-"
    return f"{span * 1000:.0f} ms" if span < 1 else f"{span:.1f} s"


def amount(tokens: int) -> str:
    """Write a number of tokens in few letters."""
    if tokens < THOUSAND:
        return str(tokens)
    if tokens < MILLION:
        return f"{tokens / THOUSAND:.1f}k"
    return f"{tokens / MILLION:.1f}M"
