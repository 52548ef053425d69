"""How hypothesis runs here: the same examples every time under CI, fewer at the desk."""

import os

from hypothesis import settings

settings.register_profile("ci", derandomize=True, max_examples=500, deadline=None)
settings.register_profile("dev", max_examples=50, deadline=None)
settings.load_profile("ci" if os.environ.get("CI") else "dev")
