"""What a command reports in one line."""


class Failure(Exception):  # noqa: N818  # reads as the fact it states
    """A command could not do what it was asked to.

    exit_code: what the program ends with on it, as for home.errors.HomeError.
    """

    exit_code = 1


class WrongFileError(Failure):
    """A file that was named cannot be used."""

    exit_code = 2
