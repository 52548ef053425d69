"""How hypothesis runs here: the same examples every time under CI, fewer at the desk; and no keyring of the user's is touched."""

import os

from hypothesis import settings

os.environ.setdefault("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
settings.register_profile("ci", derandomize=True, max_examples=500, deadline=None)
settings.register_profile("dev", max_examples=50, deadline=None)
settings.load_profile("ci" if os.environ.get("CI") else "dev")
