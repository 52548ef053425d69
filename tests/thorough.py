"""How much a test does that could do any amount of the same: little among all others, all of it under `make soak`."""

import os
from typing import Final

THOROUGH: Final = "FLOWPOOL_THOROUGH" in os.environ


def amount(quick: int, thorough: int) -> int:
    """The first, or under `make soak` the second."""
    return thorough if THOROUGH else quick
