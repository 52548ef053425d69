"""What the tests of launches share."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.flowpool.cli import Shell
from tests.flowpool.launch.pooled import Pooled, answering, pooled


@pytest.fixture
def it(shell: Shell, tmp_path: Path) -> Iterator[Pooled]:
    """A pool whose proxy answers."""
    made = pooled(shell, tmp_path)
    with answering(made):
        yield made
