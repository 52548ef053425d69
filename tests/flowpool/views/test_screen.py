"""What views are shown on."""

import pytest
from rich.text import Text

from flowpool.views.screen import show


def test_a_view_goes_to_stdout_unchanged(capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing is coloured or interpreted where stdout is no terminal."""
    show(Text("[red]5h :smile: 100%"))

    assert capsys.readouterr().out == "[red]5h :smile: 100%\n"
