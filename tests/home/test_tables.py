"""The tables are values."""

from dataclasses import FrozenInstanceError

import pytest

from home.tables import Limits, Replay, Settings
from routing.rules import Rules, Waiting


def test_rules_carry_what_was_set() -> None:
    """Settings.rules holds the same tables, and the replay wish."""
    settings = Settings(wait=Waiting(max=1), replay=Replay(ambiguous=True))

    assert settings.rules == Rules(wait=Waiting(max=1), ambiguous=True)


def test_settings_do_not_change() -> None:
    """No table can be changed in place."""
    with pytest.raises(FrozenInstanceError):
        Limits().connect_s = 1  # type: ignore[misc]
