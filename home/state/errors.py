"""Why the state cannot be used."""

from pathlib import Path

from home.errors import HomeError


class StateError(HomeError):
    """The state cannot be used and was left as it is; the message is one line."""

    exit_code = 2


class NewerState(StateError):  # noqa: N818  # reads as the fact it states
    """A newer flowpool wrote it."""

    def __init__(self, path: Path, found: int, ours: int) -> None:
        super().__init__(
            f"{path} was written by a newer flowpool: its schema is {found}, this one knows {ours};"
            f" update flowpool, or run: mv '{path}' '{path}.newer'"
        )
