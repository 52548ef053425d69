"""Faults say where they are."""

from pathlib import Path

import pytest

from home.errors import AccountsError, ControlKeyError, Fault, FolderError, RelativeHomeError, SettingsError

PATH = Path("config.toml")


@pytest.mark.parametrize(
    ("fault", "line"),
    [
        (Fault(key="a.b", line=3, message="bad"), "config.toml:3: a.b: bad"),
        (Fault(key="", line=3, message="bad"), "config.toml:3: bad"),
        (Fault(key="a.b", line=None, message="bad"), "config.toml: a.b: bad"),
        (Fault(key="", line=None, message="bad"), "config.toml: bad"),
    ],
)
def test_a_fault_is_one_line(fault: Fault, line: str) -> None:
    """A fault names file, line and key as far as they are known."""
    assert line == fault.at(PATH)


def test_settings_errors_say_all_at_once() -> None:
    """Each fault has its line in the message."""
    faults = (Fault(key="a", line=1, message="x"), Fault(key="b", line=2, message="y"))

    assert str(SettingsError(PATH, faults)) == "config.toml:1: a: x\nconfig.toml:2: b: y"


def test_wrong_files_of_the_person_exit_with_2() -> None:
    """Wrong settings and accounts, or no place for them, end a program with 2, a broken key with 1."""
    fault = Fault(key="", line=None, message="x")

    assert (SettingsError(PATH, (fault,)).exit_code, AccountsError(PATH, fault).exit_code) == (2, 2)
    assert FolderError(PATH, OSError()).exit_code == RelativeHomeError("pool").exit_code == 2
    assert ControlKeyError(PATH).exit_code == 1
