"""What killed programs left is found without a change, and taken away; what a running one has in hand is left alone."""

import json
import os
import shutil
import stat
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from credentials import files
from flowpool import leftovers
from flowpool.launch import connecting, link, touched, wishes
from flowpool.launch.wishes import Reach
from home import running
from home.checks import Address
from home.paths import Home
from home.running import Running

LISTEN = Address(host="127.0.0.1", port=3456)
HEX = "0123456789ab"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """A home with nothing in it, and no settings of Claude Code's."""
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "client"))
    monkeypatch.setenv("FLOWPOOL_HOME", str(tmp_path / "home"))
    return Home(config_folder=tmp_path / "home", state_folder=tmp_path / "home").make()


@pytest.fixture(scope="module")
def dead() -> int:
    """The id of a process that is gone."""
    child = subprocess.Popen(["true"])
    child.wait()
    return child.pid


def whats(home: Home) -> list[str]:
    """What is left over, and nothing of it changed by looking."""
    before = tree(home.state_folder)
    found = [one.what for one in leftovers.find(home)]
    assert tree(home.state_folder) == before
    return found


def tree(folder: Path) -> dict[str, int]:
    """Every name, and when it was written."""
    return {str(path): path.lstat().st_mtime_ns for path in folder.rglob("*")}


def take_away(home: Home) -> list[str]:
    """Take all of it away; nothing is left then."""
    done = [one.take_away() for one in leftovers.find(home)]
    assert whats(home) == []
    return done


def test_a_home_in_order_has_none(home: Home) -> None:
    """Its own files, locks and links are no leftovers."""
    running.write(home.running, Running(pid=os.getpid(), listen={"claude": LISTEN}, started=datetime.now(UTC)))
    with files.lock(home.accounts), files.lock(home.state_folder / "login"):
        pass
    home.link.parent.mkdir()
    home.link.write_text(link.text(home, os.environ))
    (home.state_folder / "mine").symlink_to(home.running)
    (home.state_folder / f".mine.{os.getpid()}.tmp").touch()
    (home.state_folder / ".other.tmp").touch()

    assert whats(home) == []


def test_the_record_of_a_proxy_that_is_gone(home: Home, dead: int) -> None:
    """Also one that makes no sense, or is a link to nowhere."""
    running.write(home.running, Running(pid=dead, listen={"claude": LISTEN}, started=datetime.now(UTC)))
    assert whats(home) == [f"{home.running} tells of a proxy, pid {dead}, that is gone"]
    assert take_away(home) == [f"removed {home.running}"]
    home.running.write_text("{")
    assert whats(home) == [f"{home.running} tells of no proxy that makes sense"]
    take_away(home)

    assert not home.running.exists()


def test_a_proxy_that_started_meanwhile_stays(home: Home, dead: int) -> None:
    """It is looked at again before it is forgotten."""
    running.write(home.running, Running(pid=dead, listen={"claude": LISTEN}, started=datetime.now(UTC)))
    (one,) = leftovers.find(home)
    running.write(home.running, Running(pid=os.getpid(), listen={"claude": LISTEN}, started=datetime.now(UTC)))
    one.take_away()

    assert running.read(home.running)


def test_the_folder_of_an_interrupted_login(home: Home) -> None:
    """With all that is in it; while a login runs it is that one's."""
    folder = home.state_folder / ".flowpool-login-x1"
    folder.mkdir()
    (folder / ".credentials.json").write_text("{}")
    with files.lock(home.state_folder / "login"):
        assert whats(home) == []
    assert whats(home) == [f"{folder} is left of a login that was interrupted"]
    take_away(home)

    assert not folder.exists()


@pytest.mark.parametrize("name", ["secrets.json", "logs/start.log", "../client/settings.json", "bin/claude"])
def test_temporary_files_of_killed_programs(home: Home, dead: int, name: str) -> None:
    """Ours, and beside Claude Code's settings; those of a program that lives are in use."""
    place = home.state_folder / name
    place.parent.mkdir(exist_ok=True)
    of_dead, of_living = (place.with_name(f".{place.name}.{pid}.{HEX}.tmp") for pid in (dead, os.getpid()))
    for path in (of_dead, of_living):
        path.touch()
    (found,) = whats(home)
    assert found.endswith(f"{of_dead.name} is left of a program that was killed while it wrote")
    take_away(home)

    assert not of_dead.exists()
    assert of_living.exists()


def test_other_programs_files_beside_the_settings_are_not_ours(home: Home, dead: int, tmp_path: Path) -> None:
    """Only what is named for the settings."""
    (tmp_path / "client").mkdir()
    (tmp_path / "client" / f".history.{dead}.{HEX}.tmp").touch()

    assert whats(home) == []


def test_the_links_own_temporary_file(home: Home, dead: int) -> None:
    """It has a shorter name."""
    home.link.parent.mkdir()
    (home.link.parent / f".claude.{dead}.tmp").touch()
    (home.link.parent / f".claude.{os.getpid()}.tmp").touch()

    assert len(take_away(home)) == 1


def test_a_link_that_points_nowhere(home: Home, tmp_path: Path) -> None:
    """In the place of our own; another is the person's, whose dotfiles or disk may not be there just now."""
    theirs = [home.config, home.secrets]
    home.link.parent.mkdir()
    for path in (home.link, *theirs):
        path.symlink_to(tmp_path / "gone")

    assert whats(home) == [f"{home.link} is a link that points nowhere"]
    take_away(home)
    assert [os.path.lexists(path) for path in (home.link, *theirs)] == [False, True, True]


def test_a_claude_of_ours_whose_python_is_gone(home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It would keep Claude Code from starting."""
    python = tmp_path / "a folder" / "python3"
    python.parent.mkdir()
    python.touch()
    monkeypatch.setattr("sys.executable", str(python))
    home.link.parent.mkdir()
    home.link.write_text(link.text(home, os.environ))
    assert whats(home) == []
    shutil.rmtree(python.parent)
    assert whats(home) == [f"{home.link} starts {python}, which is gone"]

    assert take_away(home) == [f"removed {home.link}"]


def begun(home: Home, file: Path) -> None:
    """A change that was begun and not ended."""
    reach = Reach(base_url=f"http://{LISTEN}", addresses=(LISTEN,))
    connecting.lay(home, "claude", file, wishes.wishes(reach))
    path = touched.path(home)
    path.write_text(path.read_text().replace('"laid"', '"laying"'))


def test_a_change_that_was_begun(home: Home, tmp_path: Path) -> None:
    """It is undone; one that is whole is none, and one that a program is at just now neither."""
    file = tmp_path / "client" / "settings.json"
    file.parent.mkdir()
    file.write_text("{}")
    file.chmod(0o640)
    begun(home, file)
    with files.lock(touched.path(home)):
        assert whats(home) == []
    assert whats(home) == [f"a change of {file} was begun and not ended"]
    assert take_away(home) == [f"{file}: as before, without ANTHROPIC_BASE_URL"]

    assert (file.read_text(), stat.S_IMODE(file.stat().st_mode)) == ("{}", 0o640)


def test_a_record_that_makes_no_sense_hides_nothing(home: Home, dead: int) -> None:
    """The rest is found."""
    touched.path(home).write_text(json.dumps({"version": 1}))
    (home.state_folder / f".x.{dead}.{HEX}.tmp").touch()

    assert len(whats(home)) == 1
