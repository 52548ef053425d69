"""flowpool/launch/terminal.py: the terminal, given back as it was."""

import sys
from pathlib import Path

import pytest

from flowpool.launch import terminal
from tests.terminal import Terminal

ROOT = Path(__file__).parents[3]
SOURCE = """
import sys, termios, tty
from flowpool.launch import terminal
before = termios.tcgetattr(0)
with terminal.as_it_was():
    tty.setraw(0)
    assert termios.tcgetattr(0) != before
print("as it was:", termios.tcgetattr(0) == before)
terminal.reset()
"""


def test_modes_come_back(tmp_path: Path) -> None:
    """Also when who changed them cannot change them back; marks that a screen sets are taken away."""
    with Terminal([sys.executable, "-c", SOURCE], {"PYTHONPATH": str(ROOT)}, tmp_path) as shown:
        text = shown.end(0)

    assert "as it was: True" in text
    assert text.endswith(terminal.RESET)


def test_what_is_no_terminal_is_left_alone(capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing is written into a file."""
    with terminal.as_it_was():
        terminal.reset()

    assert capsys.readouterr().out == ""
