"""The table of accounts."""

import io

from rich.console import Console

from flowpool.views.accounts import HEADINGS, view


def test_every_cell_is_shown_as_it_is() -> None:
    """Headings and cells are there, and nothing in them is taken for markup."""
    screen = io.StringIO()
    Console(file=screen, width=80).print(view((("work", "oauth", "anthropic", "-", "enabled", "[red]a1"),)))

    assert all(word in screen.getvalue() for word in (*HEADINGS, "work", "oauth", "[red]a1"))
