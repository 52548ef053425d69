"""Files are where the design says."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from home.errors import FolderError, RelativeHomeError
from home.paths import VARIABLE, Home

ROOT = Path(__file__).parents[2]


def test_one_variable_moves_everything(tmp_path: Path) -> None:
    """With FLOWPOOL_HOME every file is right under it, by the names that other tools rely on."""
    home = Home.find({"FLOWPOOL_HOME": str(tmp_path)})
    files = (home.config, home.accounts, home.state, home.secrets, home.control_key, home.running)

    names = ("config.toml", "accounts.toml", "state.sqlite3", "secrets.json", "control.key", "running.json")
    assert tuple(tmp_path / name for name in names) == files


def test_folders_are_made_for_us_alone(tmp_path: Path) -> None:
    """Missing folders are made with mode 0700; one that was there keeps its mode."""
    tmp_path.chmod(0o755)
    Home.find({"FLOWPOOL_HOME": str(tmp_path / "a")}).make().make()

    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o700
    assert tmp_path.stat().st_mode & 0o777 == 0o755


def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    """A file in the folder's place, or in that of one above it, is one line with what to look at."""
    (tmp_path / "a").touch()
    for folder in (tmp_path / "a", tmp_path / "a" / "b", tmp_path / "a" / "b" / "c"):
        with pytest.raises(FolderError) as met:
            Home.find({"FLOWPOOL_HOME": str(folder)}).make()
        assert str(met.value).startswith(f"{folder}: this folder cannot be made: ")
        assert str(met.value).endswith(f"; set FLOWPOOL_HOME to another, or run: ls -ld '{tmp_path / 'a'}'")


@pytest.mark.parametrize("given", ["pool", "./my pool", ".", "../pool"])
def test_a_relative_home_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: str) -> None:
    """In another folder it would be another pool, without a word; what was meant here can be copied."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(RelativeHomeError) as met:
        Home.find({"FLOWPOOL_HOME": given})

    meant = shlex.split(str(met.value).partition("; run: export FLOWPOOL_HOME=")[2])
    assert meant == [os.path.normpath(tmp_path / given)]
    assert Home.find({"FLOWPOOL_HOME": meant[0]}).config_folder == Path(meant[0])
    assert list(tmp_path.iterdir()) == []


def test_a_home_below_a_persons_own_is_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a shell has not made whole is."""
    monkeypatch.setenv("HOME", "/home/ann")

    assert Home.find({"FLOWPOOL_HOME": "~/pool"}).config == Path("/home/ann/pool/config.toml")


@pytest.mark.skipif(sys.platform != "linux", reason="XDG folders")
def test_without_it_the_platform_decides(tmp_path: Path) -> None:
    """What may be kept among dotfiles is in the config folder, secrets and state are not; nothing is made."""
    code = "import os; from home.paths import Home; h = Home.find(os.environ); print(h.accounts, h.secrets)"
    environ = {
        "HOME": str(tmp_path),
        "XDG_CONFIG_HOME": f"{tmp_path}/c",
        "XDG_STATE_HOME": f"{tmp_path}/s",
        "FLOWPOOL_HOME": "",
    }
    shown = subprocess.run(
        [sys.executable, "-c", code], env=environ, cwd=ROOT, check=True, capture_output=True, text=True
    )

    assert shown.stdout.split() == [f"{tmp_path}/c/flowpool/accounts.toml", f"{tmp_path}/s/flowpool/secrets.json"]
    assert list(tmp_path.iterdir()) == []


def test_a_home_of_nobody_is_said() -> None:
    """A user that there is not has no folder."""
    with pytest.raises(FolderError, match="no such user"):
        Home.find({VARIABLE: "~nobody-of-this-name/pool"})
