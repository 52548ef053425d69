"""What needs no pool is known by its first word."""

import pytest

from flowpool.launch.management import COMMANDS, is_management


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_a_management_command_is_one(command: str) -> None:
    """Whatever follows it."""
    assert is_management([command])
    assert is_management([command, "-p", "hi"])


@pytest.mark.parametrize("arguments", [[], ["-p", "doctor"], ["--model", "x", "mcp"], ["doctors"], ["fix the plugin"]])
def test_only_the_first_word_counts(arguments: list[str]) -> None:
    """A prompt may begin with any."""
    assert not is_management(arguments)
