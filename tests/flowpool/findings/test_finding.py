"""A finding says what is wrong and what mends it, apart."""

from pathlib import Path

import pytest

from credentials.errors import Exposed, NotStored
from flowpool.findings.finding import Level, editing, fail, ok, skip, told, warn
from home.errors import Fault, SettingsError

PATH = Path("/home/ann lee/config.toml")


def test_each_level_has_its_maker() -> None:
    """What is not as it should be carries the command that mends it."""
    found = [ok("a", "b"), skip("a", "b"), warn("a", "b", "c"), fail("a", "b", "c", account="work")]

    assert [one.level for one in found] == [Level.OK, Level.SKIP, Level.WARN, Level.FAIL]
    assert [one.mend for one in found] == ["", "", "c", "c"]
    assert found[-1].account == "work"


FAULTS = tuple(Fault(key=key, line=1, message="must be true or false") for key in ("a.b", "a.c", "a.d"))
ERRORS = [  # an error, what is told of it
    (NotStored("a1"), ("no secret is stored for account a1", "flowpool add NAME --replace")),
    (Exposed(PATH), (f"{PATH} can be read or changed by other users", f"chmod 600 '{PATH}'")),
    (SettingsError(PATH, FAULTS), (f"{PATH}:1: a.b: must be true or false (and 2 more)", "mend it")),
    (ValueError(), ("ValueError", "mend it")),
]


@pytest.mark.parametrize(("error", "says"), ERRORS, ids=[type(error).__name__ for error, _ in ERRORS])
def test_an_error_is_parted(error: Exception, says: tuple[str, str]) -> None:
    """Its first line, and the command that it names itself, else the one that is given."""
    assert told(error, "mend it") == says


def test_an_editor_is_started_with_the_path_in_quotes() -> None:
    """A path may hold blanks."""
    assert editing(PATH).endswith(f"'{PATH}'")
