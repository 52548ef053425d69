"""flowpool/launch/tail.py: the new lines of one session's transcript."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from flowpool.launch import tail
from flowpool.launch.tail import Tail, projects
from flowpool.launch.transcript import Ending
from tests.flowpool.launch.test_transcript import failed, record

MORNING = datetime(2026, 11, 30, 6, tzinfo=UTC)


def write(path: Path, *lines: bytes, end: bytes = b"\n", mode: str = "ab") -> None:
    """Write lines to the end of a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open(mode) as file:
        file.write(b"\n".join(lines) + end)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the session's transcript is going to be."""
    return tmp_path / "-a-project" / "an-id.jsonl"


def test_a_transcript_that_appears_later_is_read_from_its_beginning(tmp_path: Path, path: Path) -> None:
    """The folder of its project may be new, too."""
    follower = Tail(tmp_path, "an-id", MORNING)
    assert follower.look() is None
    write(path, failed())

    assert follower.look() is Ending.LIMIT
    assert follower.look() is Ending.LIMIT  # until something follows
    write(path, record("user", 1, "go on"))
    assert follower.look() is None


def test_what_was_there_before_is_passed_over(tmp_path: Path, path: Path) -> None:
    """An old limit ends nothing."""
    write(path, failed())
    follower = Tail(tmp_path, "an-id", MORNING)
    assert follower.look() is None
    write(path, failed("server_error", 1))

    assert follower.look() is Ending.SERVER


def test_half_a_line_is_kept(tmp_path: Path, path: Path) -> None:
    """A writer is seen at any moment."""
    line = failed()
    follower = Tail(tmp_path, "an-id", MORNING)
    write(path, line[:40], end=b"")
    assert follower.look() is None
    write(path, line[40:])

    assert follower.look() is Ending.LIMIT


def test_a_file_that_was_cut_is_read_from_its_beginning(tmp_path: Path, path: Path) -> None:
    """What it held before counts no more, and what it holds from before the launch does not either."""
    write(path, record("user", 0, "x" * 3000))
    follower = Tail(tmp_path, "an-id", MORNING)
    write(path, failed(timestamp="2026-11-29T12:00:00.000Z"), mode="wb")
    assert follower.look() is None
    write(path, failed())

    assert follower.look() is Ending.LIMIT


def test_other_sessions_and_subagents_are_other_files(tmp_path: Path) -> None:
    """Their ends are not this session's."""
    follower = Tail(tmp_path, "an-id", MORNING)
    write(tmp_path / "-a-project" / "another.jsonl", failed())
    write(tmp_path / "-a-project" / "an-id" / "subagents" / "agent-an-id.jsonl", failed())

    assert follower.look() is None


def test_a_session_in_two_folders_is_read_in_both(tmp_path: Path, path: Path) -> None:
    """It was moved; half a line in one does not spoil the other, and the later word counts."""
    follower = Tail(tmp_path, "an-id", MORNING)
    write(path, b'{"type":"user', end=b"")
    write(tmp_path / "-b" / "an-id.jsonl", failed(at=2))
    assert follower.look() is Ending.LIMIT
    write(path, b'","timestamp":"2026-11-30T12:00:03Z","message":{}}')

    assert follower.look() is None


def test_a_folder_where_the_file_should_be_tells_nothing(tmp_path: Path, path: Path) -> None:
    """And disturbs nobody."""
    path.mkdir(parents=True)
    assert Tail(tmp_path, "an-id", MORNING).look() is None


def test_large_files_are_read_in_pieces(tmp_path: Path, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All of them."""
    monkeypatch.setattr(tail, "PIECE", 64)
    follower = Tail(tmp_path, "an-id", MORNING)
    write(path, *[record("user", 0, "x" * 200)] * 20, failed(at=1))
    assert follower.look() is Ending.LIMIT


def test_where_transcripts_are() -> None:
    """In Claude Code's own folder, as the environment that it gets says."""
    assert projects({"CLAUDE_CONFIG_DIR": "/c"}) == Path("/c/projects")
    assert projects({"CLAUDE_CONFIG_DIR": ""}) == Path.home() / ".claude" / "projects"
    assert projects({}) == Path.home() / ".claude" / "projects"
