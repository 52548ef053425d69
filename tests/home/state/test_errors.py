"""A state that cannot be used is said in one line."""

from pathlib import Path

from home.errors import HomeError
from home.state.errors import NewerState, StateError


def test_a_newer_state_is_refused_with_what_to_do() -> None:
    """One line with the file, both schemas and the command; programs end with 2."""
    error = NewerState(Path("/s"), 3, 1)

    assert "/s was written by a newer flowpool: its schema is 3, this one knows 1" in str(error)
    assert "run: mv '/s'" in str(error)
    assert isinstance(error, StateError | HomeError)
    assert (error.exit_code, "\n" in str(error)) == (2, False)
