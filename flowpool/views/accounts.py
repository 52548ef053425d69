"""The table of `accounts`."""

from rich import box
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

HEADINGS = ("account", "kind", "provider", "rank", "state", "id", "set")


def view(rows: tuple[tuple[str, ...], ...]) -> RenderableType:
    """Draw one row for each account, its cells in the order of HEADINGS; the last column where any has it."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in HEADINGS[: max(map(len, rows), default=0)]:
        table.add_column(heading, overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    return table
