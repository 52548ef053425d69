"""The writer's loop, driven without its thread; what it promises to the proxy is in test_state.py."""

from pathlib import Path

import pytest

from home.state import reader, writer
from home.state.backlog import Backlog
from home.state.database import prepare
from home.state.writer import Writer, identity, read
from routing.remembered import Remembered
from tests.home.state.made import LINE, picture, raw
from tests.routing.made import ANN, NOON


def made(path: Path, backlog: Backlog) -> Writer:
    """A writer whose clock stands at noon."""
    return Writer(path, backlog, lambda: NOON, 100)


def test_it_writes_what_is_left_and_ends(tmp_path: Path) -> None:
    """A closed backlog is emptied first."""
    path, backlog = tmp_path / "s", Backlog()
    backlog.put(picture(), [])
    backlog.enter(LINE)
    backlog.close()
    made(path, backlog).run()

    with prepare(path).connect() as connection:
        assert read(connection) == picture()
    assert reader.requests(path) == [LINE]


def test_it_tidies_when_it_is_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whenever nothing is to be written and an hour has gone."""
    path, backlog = tmp_path / "s", Backlog()
    monkeypatch.setattr(writer, "FIRST_TIDY", -1.0)
    monkeypatch.setattr(writer, "BEHIND", 0.0)
    tidied: list[None] = []

    class Tidy(Writer):
        def tidy(self) -> None:
            tidied.append(super().tidy())
            backlog.close()

    Tidy(path, backlog, lambda: NOON, 100).run()

    assert len(tidied) == 1


def test_when_it_may_not_try_again_it_gives_up(tmp_path: Path) -> None:
    """Once closed, a disk that refuses is asked once more and no longer."""
    (tmp_path / "folder").write_text("in the way")
    backlog = Backlog()
    backlog.put(picture(), [])
    backlog.close()
    made(tmp_path / "folder" / "s", backlog).run()

    assert backlog.flush(0)


def test_a_batch_that_can_never_be_written_is_given_up(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """What the database refuses for itself is said and not tried for ever."""
    path, backlog = tmp_path / "s", Backlog()
    prepare(path)
    with raw(path) as connection:
        connection.execute("CREATE TRIGGER no BEFORE INSERT ON requests BEGIN SELECT RAISE(ABORT, 'never'); END")
    backlog.enter(LINE)
    backlog.close()
    made(path, backlog).run()

    assert reader.requests(path) == []
    assert "cannot be written: never" in caplog.text


def test_a_newer_picture_replaces_the_one_that_waits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a try that failed the newest is written, not the one before."""
    path, backlog = tmp_path / "s", Backlog()
    prepare(path)
    with raw(path) as connection:
        connection.execute("CREATE TRIGGER full BEFORE INSERT ON health BEGIN SELECT no_such_function(); END")

    def mend(_: Backlog, seconds: float) -> None:
        assert seconds == writer.PAUSE
        with raw(path) as connection:
            connection.execute("DROP TRIGGER full")
        backlog.put(picture(ANN, used=0.9), [])

    monkeypatch.setattr(Backlog, "pause", mend)
    backlog.put(picture(ANN, used=0.1), [])
    monkeypatch.setattr(writer, "BEHIND", 0.0)
    tries = iter([False, True, True, True])
    monkeypatch.setattr(Backlog, "is_closed", property(lambda _: next(tries)))
    made(path, backlog).run()

    with prepare(path).connect() as found:
        assert read(found) == picture(ANN, used=0.9)


def test_a_file_is_known_by_more_than_its_name(tmp_path: Path) -> None:
    """Another file of the same name is another one; none at all is None."""
    path = tmp_path / "s"
    assert identity(path) is None
    path.touch()
    first = identity(path)
    other = tmp_path / "t"
    other.touch()
    other.replace(path)

    assert identity(path) not in (None, first)


def test_nothing_is_written_for_a_picture_that_is_as_it_was(tmp_path: Path) -> None:
    """The same picture twice leaves the file alone."""
    path, backlog = tmp_path / "s", Backlog()
    same = Remembered()
    backlog.put(same, [])
    backlog.close()
    made(path, backlog).run()

    assert reader.remembered(path) == same
