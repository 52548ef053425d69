"""What a command reports in one line."""


class Failure(Exception):  # noqa: N818  # reads as the fact it states
    """A command could not do what it was asked to; exit 1."""
