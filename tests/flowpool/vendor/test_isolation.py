"""A login's folder is ours alone, one at a time, and gone afterwards."""

import shutil
import sys
from pathlib import Path

import pytest

from flowpool.errors import Failure
from flowpool.vendor import isolation
from home import keychain
from home.paths import Home


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A home with nothing in it."""
    return Home(config_folder=tmp_path, state_folder=tmp_path)


def test_it_is_gone_whatever_happens(home: Home) -> None:
    """With all that is in it, also when what happened inside it failed."""
    made: list[Path] = []

    def use() -> None:
        with isolation.folder(home) as folder:
            made.append(folder)
            (folder / "deep").mkdir()
            (folder / "deep" / "login").write_text("x")
            assert folder.stat().st_mode & 0o777 == 0o700
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        use()

    (folder,) = made
    assert folder.parent == home.state_folder
    assert not folder.exists()


def test_one_that_is_gone_already_is_no_trouble(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    """Whatever ran in it."""
    with isolation.folder(home) as folder:
        folder.rmdir()

    assert capsys.readouterr().err == ""


def test_one_at_a_time(home: Home) -> None:
    """The second is refused and touches nothing of the first; afterwards there is room again."""
    with isolation.folder(home) as folder:
        with pytest.raises(Failure, match="another `flowpool login` is running"), isolation.folder(home):
            pass
        assert folder.exists()
    with isolation.folder(home) as again:
        assert again != folder


def test_what_was_left_over_goes(home: Home) -> None:
    """With the next login, and nothing else of the home with it."""
    with isolation.folder(home) as made:
        left = made.with_name(f"{made.name}-left")
    left.mkdir()
    (left / "login").write_text("x")
    theirs = home.state_folder / "login-service"  # a person may name a folder of their own as FLOWPOOL_HOME
    theirs.mkdir()
    with isolation.folder(home):
        assert not left.exists()

    assert theirs.exists()


def test_the_keychain_forgets_it_too(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """On macOS the login is there and not in the folder."""
    forgotten: list[str] = []
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(keychain, "forget", forgotten.append)
    with isolation.folder(home) as folder:
        pass

    assert forgotten == [keychain.service(folder)]


def test_what_cannot_be_removed_is_said(
    home: Home, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """For it may hold a login."""

    def refuse(path: Path) -> None:
        raise PermissionError(1, "Not permitted", str(path))

    monkeypatch.setattr(shutil, "rmtree", refuse)
    with isolation.folder(home) as folder:
        pass

    said = capsys.readouterr().err
    assert said.startswith("flowpool: the login's folder is left over (")
    assert said.endswith(f"; run: rm -r {folder}\n")
