"""Claude Code's files are read where it keeps them, and junk in them is no login."""

from pathlib import Path

import pytest

from flowpool.findings import clientfiles
from home import clientlogin, keychain
from home.clientlogin import Place
from routing.words import Identity
from tests.upstream import login as login_file


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Files in a folder of the test, none there."""
    return clientlogin.of_folder(tmp_path)


def test_a_login_and_whose_it_is_are_read(place: Place, tmp_path: Path) -> None:
    """As the client writes them."""
    place.file.write_text(login_file("sk-ant-oat01-PLANTED"))
    (tmp_path / ".claude.json").write_text('{"oauthAccount": {"accountUuid": "o-1", "organizationUuid": "g-1"}}')
    found = clientfiles.login(place)

    assert found is not None
    assert found[0].access.reveal() == "sk-ant-oat01-PLANTED"
    assert found[1] == Identity(owner="o-1", organization="g-1")


def test_no_keychain_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It would ask a person, and doctor only looks."""

    def ask(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(keychain, "read", ask)
    assert clientfiles.login(clientlogin.of_folder(tmp_path, clientlogin.DARWIN)) is None


JUNK = [b"", b"[]", b"7", b"{", b"\xff", b'{"oauthAccount": [1]}', b'{"oauthAccount": {"accountUuid": null}}']


@pytest.mark.parametrize("data", JUNK, ids=range(len(JUNK)))
def test_junk_is_no_login_and_nobodys(place: Place, tmp_path: Path, data: bytes) -> None:
    """Nothing is raised, whatever the files hold; so it is without any."""
    assert clientfiles.login(place) is None
    (tmp_path / ".claude.json").write_bytes(data)
    place.file.write_text(login_file("sk-ant-oat01-PLANTED"))
    found = clientfiles.login(place)
    assert found is not None
    assert found[1] == Identity()
    place.file.write_bytes(data)

    assert clientfiles.login(place) is None


def test_a_missing_file_is_empty_and_a_broken_one_is_none(place: Place) -> None:
    """They are told apart."""
    path = clientfiles.settings(place)
    assert clientfiles.read(path) == {}
    path.write_text("{")
    assert clientfiles.read(path) is None
    path.unlink()
    path.mkdir()
    assert clientfiles.read(path) is None
