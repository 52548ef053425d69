"""Purging deletes secrets, then flowpool's own files, and nothing that is somebody else's."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from credentials.credential import parse
from credentials.errors import KeyringLocked, Unreadable
from credentials.file import FileStore
from credentials.memory import MemoryStore
from flowpool import purge
from home import accounts as book
from home.paths import Home
from routing.words import Account, AccountId, Kind

WORK = Account(id=AccountId("id-work"), name="work", provider="anthropic", kind=Kind.SETUP_TOKEN)
OURS = (
    *("config.toml", "accounts.toml", "accounts.toml.lock", "secrets.json", "secrets.json.lock", "keyring.lock"),
    *("login.lock", "control.key", "client.key", "running.json", "connected.json.lock", "connected.json"),
    *(
        "state.sqlite3",
        "state.sqlite3-wal",
        "state.sqlite3-shm",
        "state.sqlite3.corrupt",
        "state.sqlite3.corrupt.1-wal",
    ),
    *("launch-0123456789abcdef.json", "authorities.pem"),
    *("client-ca-0123abcd.pem", "logs/flowpool.log", "logs/flowpool.log.1", "logs/start.log", "logs/start.log.lock"),
    *(
        "logs/service.log",
        "mitmproxy/mitmproxy-ca.pem",
        "mitmproxy/mitmproxy-ca-cert.cer",
        "mitmproxy/mitmproxy-dhparam.pem",
    ),
    *(".secrets.json.1.0123456789ab.tmp", ".flowpool-login-x/.credentials.json"),
)


@pytest.fixture(params=["one folder", "two folders"])
def home(request: pytest.FixtureRequest, tmp_path: Path) -> Home:
    """A home with all that flowpool ever writes."""
    state = tmp_path / "state"
    config = state if request.param == "one folder" else tmp_path / "config"
    home = Home(config_folder=config, state_folder=state).make()
    for name in OURS:
        path = (config if name.startswith(("config.toml", "accounts.toml")) else state) / name
        path.parent.mkdir(exist_ok=True)
        path.touch(0o600)
    home.link.parent.mkdir()
    home.config.write_text('credentials.backend = "file"\n')
    home.secrets.unlink()
    home.accounts.unlink()
    return home


def test_all_of_ours_goes(home: Home, tmp_path: Path) -> None:
    """Folders included."""
    done, left = purge.folders(home)

    assert left == []
    assert done == [f"deleted {one}" for one in dict.fromkeys((home.state_folder, home.config_folder))]
    assert list(tmp_path.iterdir()) == []
    assert purge.folders(home) == ([], [])


def mine(folder: Path) -> None:
    (folder / "notes.txt").touch()


def nested(folder: Path) -> None:
    """Also what has the name of ours, but is another thing."""
    (folder / "backup" / "logs").mkdir(parents=True)
    (folder / "backup" / "secrets.json").touch()


def in_logs(folder: Path) -> None:
    (folder / "logs" / "mine.log").touch()


def a_folder(folder: Path) -> None:
    (folder / "login.lock").unlink()
    (folder / "login.lock").mkdir()
    (folder / "login.lock" / "x").touch()


@pytest.mark.parametrize(
    ("add", "left"), [(mine, "notes.txt"), (nested, "backup"), (in_logs, "logs"), (a_folder, "login.lock")]
)
def test_what_is_not_ours_stays_and_is_named(home: Home, add: Callable[[Path], None], left: str) -> None:
    """And its folder with it."""
    add(home.state_folder)
    kept = {path for path in home.state_folder.rglob("*") if path.name in (left, "x", "mine.log", "secrets.json")}
    done, found = purge.folders(home)

    assert found == [home.state_folder / left]
    assert f"deleted {home.state_folder}" not in done
    assert {path for path in kept if path.exists()} >= {home.state_folder / left}
    assert sorted(path.name for path in home.state_folder.iterdir()) == [left]


def test_a_folder_that_was_there_before_stays(tmp_path: Path) -> None:
    """FLOWPOOL_HOME may be anybody's folder: an empty `logs` that has nothing of ours goes with nothing of ours."""
    home = Home(config_folder=tmp_path, state_folder=tmp_path)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "claude").symlink_to("elsewhere")
    (tmp_path / "config.toml").touch()

    assert purge.folders(home) == ([], [tmp_path / "bin"])
    assert os.path.lexists(tmp_path / "bin" / "claude")


def test_a_link_goes_and_what_it_leads_to_stays(home: Home, tmp_path: Path) -> None:
    """As people have who keep config.toml among their dotfiles."""
    real = tmp_path / "dotfiles.toml"
    home.config.replace(real)
    home.config.symlink_to(real)
    purge.folders(home)

    assert real.exists()
    assert not home.config_folder.exists()


def keep_one(home: Home) -> FileStore:
    """An account with a secret in the file."""
    store = FileStore(home.secrets)
    store.put(WORK.id, parse("setup-token", "sk-ant-oat01-x"))
    book.edit(home.accounts, lambda _: (WORK,))
    return store


def test_secrets_are_deleted_where_they_are_kept(home: Home) -> None:
    """And that is said, with whose they were."""
    store = keep_one(home)

    assert purge.secrets(home) == f"deleted the secrets of work, which were kept {store.describe()}"
    assert store.ids() == ()


def test_settings_that_cannot_be_read_are_no_hindrance(home: Home) -> None:
    """Then both places are looked at."""
    store = keep_one(home)
    home.config.write_text("= nonsense")
    purge.secrets(home)

    assert store.ids() == ()


def test_without_accounts_there_is_no_secret(home: Home) -> None:
    """No keyring is asked."""
    assert purge.secrets(home) == "there were no accounts"


def test_a_secret_that_cannot_be_deleted_is_a_fault(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever calls must not delete the list of accounts then."""
    keep_one(home)

    class Locked(MemoryStore):
        def delete(self, account_id: str) -> None:  # noqa: ARG002  # as the contract has it
            raise KeyringLocked

    monkeypatch.setattr(purge, "open_store", lambda *_: Locked())
    with pytest.raises(KeyringLocked):
        purge.secrets(home)

    monkeypatch.undo()
    home.secrets.write_text("{")
    with pytest.raises(Unreadable):
        purge.secrets(home)
