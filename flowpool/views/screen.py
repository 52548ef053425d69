"""The terminal that views are shown on."""

from rich.console import Console, RenderableType


def show(picture: RenderableType) -> None:
    """Print to stdout; rich draws lines in ASCII where the terminal cannot do better."""
    Console(highlight=False, emoji=False, markup=False).print(picture)
