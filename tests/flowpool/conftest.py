"""What the tests of the command line share."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.flowpool.cli import PLANTED, Shell


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    """A terminal; afterwards the planted secret must be in nothing it showed and in no file but secrets.json."""
    shell = Shell(home=tmp_path / "home")
    yield shell
    assert not [text for text in shell.shown if PLANTED in text]
    files = [path for path in tmp_path.rglob("*") if path.is_file() and path.name != "secrets.json"]
    assert not [path for path in files if PLANTED.encode() in path.read_bytes()]
