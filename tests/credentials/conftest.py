"""What the tests of credentials share."""

import pytest


def pytest_configure(config: pytest.Config) -> None:
    """Name the marker where it is used."""
    config.addinivalue_line("markers", "secretservice: needs a real SecretService: dbus-run-session and gnome-keyring")
