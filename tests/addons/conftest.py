"""How hypothesis runs here: the same examples every time under CI, fewer at the desk; fewer than elsewhere, as each plays whole flows."""

import os

from hypothesis import settings

settings.register_profile("ci", derandomize=True, max_examples=40, deadline=None)
settings.register_profile("dev", max_examples=25, deadline=None)
settings.load_profile("ci" if os.environ.get("CI") else "dev")
