"""Each system has its manager."""

from pathlib import Path

import pytest

from flowpool.launch import managers
from home.paths import Home

HOME = Home(config_folder=Path("/c"), state_folder=Path("/s"))


@pytest.mark.parametrize(("platform", "name"), [("linux", "systemd"), ("darwin", "launchd"), ("win32", None)])
def test_by_its_platform(platform: str, name: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows has none for one person's own programs."""
    monkeypatch.setattr("sys.platform", platform)
    make = managers.own()

    assert (make(HOME).name if make else None) == name
