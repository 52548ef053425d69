"""The schema has one version."""

from pathlib import Path

from home.state.database import prepare
from home.state.version import VERSION
from tests.home.state.made import raw


def test_a_fresh_file_has_the_version(tmp_path: Path) -> None:
    """What a later flowpool asks first."""
    prepare(tmp_path / "s")

    with raw(tmp_path / "s") as connection:
        assert connection.execute("SELECT * FROM meta").fetchall() == [("schema", str(VERSION))]
