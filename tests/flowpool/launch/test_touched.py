"""What was changed is kept for us alone, given back as it was, and never guessed."""

import json
import stat
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from credentials.errors import Exposed, Unreadable
from flowpool.launch import touched
from flowpool.launch.overlay import Change
from flowpool.launch.touched import Phase, Touched
from home.paths import Home

CHANGES = st.builds(
    Change,
    path=st.lists(st.text(max_size=4), max_size=3).map(tuple),
    was=st.one_of(st.none(), st.text(max_size=5)),
    ours=st.lists(st.text(max_size=5), max_size=2).map(tuple),
)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A home in a folder of the test."""
    return Home(config_folder=tmp_path, state_folder=tmp_path)


def a_file(path: Path, phase: Phase = Phase.LAID) -> Touched:
    """One that was changed."""
    return Touched(program="claude", file=path, phase=phase, changes=(Change(path=(), was=None),))


@given(st.lists(CHANGES, max_size=3).map(tuple), st.sampled_from(Phase))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_what_is_kept_is_given_back(home: Home, changes: tuple[Change, ...], phase: Phase) -> None:
    """All of it."""
    one = Touched(program="codex", file=Path("/x/\udce4"), phase=phase, changes=changes, folders=(Path("/x"),))
    touched.keep(home, one)

    assert touched.load(home) == (one,)


def test_only_we_can_read_it(home: Home) -> None:
    """What stood there before may be a secret."""
    touched.keep(home, a_file(Path("/a")))
    path = touched.path(home)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.chmod(0o644)

    with pytest.raises(Exposed):
        touched.load(home)


def test_each_file_is_known_once(home: Home, tmp_path: Path) -> None:
    """By whatever name; another program's place in it is another's."""
    (tmp_path / "real").touch()
    (tmp_path / "link").symlink_to("real")
    touched.keep(home, a_file(tmp_path / "real"))
    touched.keep(home, a_file(tmp_path / "link", Phase.LAYING))
    found = touched.find(home, "claude", tmp_path / "real")

    assert len(touched.load(home)) == 1
    assert found
    assert (found.file, found.is_begun) == (tmp_path / "link", True)
    assert touched.find(home, "codex", tmp_path / "real") is None


def test_the_last_one_takes_the_record_with_it(home: Home) -> None:
    """Nothing of it is left."""
    one, two = a_file(Path("/a")), a_file(Path("/b"))
    touched.keep(home, one)
    touched.keep(home, two)
    touched.forget(home, one)
    assert touched.load(home) == (two,)
    touched.forget(home, two)

    assert not touched.path(home).exists()
    assert touched.load(home) == ()
    touched.forget(home, two)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "{}",
        '{"version": 1, "files": 7}',
        '{"version": 1, "files": [{}]}',
        '{"version": 1, "files": [{"program": "claude", "file": "/a", "phase": "no", "folders": [], "changes": []}]}',
        '{"version": 1, "files": [{"program": "claude", "file": "/a", "phase": "laid", "folders": [], "changes": [7]}]}',
        '{"version": 2}',
    ],
)
def test_what_makes_no_sense_is_never_overwritten(home: Home, text: str) -> None:
    """Nor is what a newer flowpool wrote."""
    touched.path(home).write_text(text)
    touched.path(home).chmod(0o600)
    with pytest.raises(Unreadable):
        touched.keep(home, a_file(Path("/a")))

    assert touched.path(home).read_text() == text


def test_it_has_a_version(home: Home) -> None:
    """So that a later flowpool can tell."""
    touched.keep(home, a_file(Path("/a")))

    assert json.loads(touched.path(home).read_text())["version"] == 1
