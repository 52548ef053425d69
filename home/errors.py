"""What can be wrong in the user's folder."""

import os
import shlex
from dataclasses import dataclass
from pathlib import Path


class HomeError(Exception):
    """Something in the user's folder cannot be used; the message says what and where.

    exit_code: what a program ends with on it: 1 a failure, 2 wrong settings, or no place for them.
    """

    exit_code = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One thing that is wrong in a file that people edit.

    key: dotted, empty when the file as a whole is meant. line: from 1; None when it cannot be told.
    """

    key: str
    line: int | None
    message: str

    def at(self, path: Path) -> str:
        """Say it in one line."""
        place = f"{path}:{self.line}" if self.line else f"{path}"
        return f"{place}: {self.key}: {self.message}" if self.key else f"{place}: {self.message}"


class SettingsError(HomeError):
    """config.toml is wrong; the message has one line for each fault, all at once."""

    exit_code = 2

    def __init__(self, path: Path, faults: tuple[Fault, ...]) -> None:
        super().__init__("\n".join(fault.at(path) for fault in faults))
        self.faults = faults


class AccountsError(HomeError):
    """accounts.toml cannot be used; it is left in place."""

    exit_code = 2

    def __init__(self, path: Path, fault: Fault) -> None:
        super().__init__(fault.at(path))
        self.fault = fault


class FolderError(HomeError):
    """A folder of flowpool's cannot be made."""

    exit_code = 2

    def __init__(self, folder: Path, error: OSError) -> None:
        there = next(path for path in (folder, *folder.parents) if os.path.lexists(path))
        why = error.strerror or type(error).__name__
        super().__init__(
            f"{folder}: this folder cannot be made: {why}; set FLOWPOOL_HOME to another, or run: ls -ld '{there}'"
        )


class RelativeHomeError(HomeError):
    """FLOWPOOL_HOME names another folder wherever a program is started."""

    exit_code = 2

    def __init__(self, given: str) -> None:
        super().__init__(
            f"FLOWPOOL_HOME is {given}, which is another folder wherever you stand; "
            f"give the whole path of the one that you mean; run: export FLOWPOOL_HOME={shlex.quote(os.path.abspath(given))}"  # noqa: PTH100  # nothing is looked up
        )


class ControlKeyError(HomeError):
    """control.key does not hold a key."""

    def __init__(self, path: Path) -> None:
        super().__init__(f"{path} does not hold a key; run: rm '{path}'; flowpool stop; flowpool start")
