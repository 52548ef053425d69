"""The version is the installed one."""

from importlib import metadata

import pytest

from home.version import version


def test_what_is_installed_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """The metadata's version is given as it is."""
    monkeypatch.setattr(metadata, "version", lambda name: f"{name} 1.2.3")

    assert version() == "flowpool 1.2.3"


def test_what_was_never_installed_is_0(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without metadata the version is 0, not a fault."""

    def missing(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", missing)

    assert version() == "0"
