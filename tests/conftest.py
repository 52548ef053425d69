"""How the tests run: the same examples every time under CI, fewer at the desk; no keyring of the user's, signals as a terminal has them."""

import os
import signal

import pytest
from hypothesis import settings

os.environ.setdefault("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
if hasattr(signal, "SIGHUP"):
    signal.signal(
        signal.SIGHUP, signal.SIG_DFL
    )  # whoever runs the tests by nohup has it ignored, and so had what they start
settings.register_profile("ci", derandomize=True, max_examples=200, deadline=None)
settings.register_profile("dev", max_examples=30, deadline=None)
settings.load_profile("ci" if os.environ.get("CI") else "dev")

LONGEST = "test_month.py"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the longest, so that no process ends alone with it."""
    items.sort(key=lambda item: item.path.name != LONGEST)
