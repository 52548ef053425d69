"""The table of accounts."""

import io

from rich.console import Console

from flowpool.views.accounts import HEADINGS, view


def test_every_cell_is_shown_as_it_is() -> None:
    """Headings and cells are there, and nothing in them is taken for markup."""
    screen = io.StringIO()
    Console(file=screen, width=80).print(view((("work", "oauth", "anthropic", "-", "enabled", "[red]a1"),)))

    assert all(word in screen.getvalue() for word in (*HEADINGS[:-1], "work", "oauth", "[red]a1"))
    assert HEADINGS[-1] not in screen.getvalue()


def test_what_is_set_is_a_column_where_anything_is() -> None:
    """A row without it stays short."""
    screen = io.StringIO()
    row = ("work", "oauth", "anthropic", "-", "enabled", "a1")
    Console(file=screen, width=100).print(view((row, (*row, "cap 4"))))

    assert HEADINGS[-1] in screen.getvalue()
    assert screen.getvalue().count("cap 4") == 1
