"""How the tests run: the same examples every time under CI, fewer at the desk; no keyring of the user's, signals as a terminal has them."""

import os
import signal

from hypothesis import settings

os.environ.setdefault("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
if hasattr(signal, "SIGHUP"):
    signal.signal(
        signal.SIGHUP, signal.SIG_DFL
    )  # whoever runs the tests by nohup has it ignored, and so had what they start
settings.register_profile("ci", derandomize=True, max_examples=200, deadline=None)
settings.register_profile("dev", max_examples=20, deadline=None)
settings.load_profile("ci" if os.environ.get("CI") else "dev")
