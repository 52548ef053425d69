"""A new secret ends what its account was held for because of the old one, whether a proxy runs or not."""

from pathlib import Path

import pytest

from flowpool.intake.telling import tell
from flowpool.proxy import Told
from home.paths import Home
from home.state import reader
from home.state.state import State
from routing.words import Account, Kind
from tests.flowpool.proxy import announce, listening, reply
from tests.home.state.made import LONG, picture
from tests.routing.made import ANN, hold

ACCOUNT = Account(id=ANN, name="ann", provider="anthropic", kind=Kind.OAUTH)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A home whose last run held an account for its limit and for its login."""
    home = Home(config_folder=tmp_path, state_folder=tmp_path)
    state = State(home.state)
    state.put(picture(ANN, holds=(hold(13, by=None), hold(17, by=None))))
    state.close(LONG)
    return home


def rows(home: Home) -> list[int]:
    """The verdict rows for which it is held."""
    return [one.row for one in reader.remembered(home.state).holds[ANN]]


def test_without_a_proxy_the_state_is_told(home: Home) -> None:
    """A limit is no fault of a secret, and a new account has no old one."""
    assert tell(home, ()) is Told.NOBODY
    assert rows(home) == [13, 17]
    assert tell(home, (ACCOUNT,)) is Told.NOBODY
    assert rows(home) == [13]


def test_a_running_proxy_does_it_itself(home: Home) -> None:
    """The file is its own."""
    with listening(reply(b'{"reloaded": true}'), []) as address:
        announce(home.state_folder, address)
        assert tell(home, (ACCOUNT,)) is Told.TAKEN

    assert rows(home) == [13, 17]


def test_a_state_that_cannot_be_written_is_said(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    """The secret is replaced all the same."""
    home.state.unlink()
    home.state.mkdir()
    assert tell(home, (ACCOUNT,)) is Told.NOBODY

    assert capsys.readouterr().err.startswith("flowpool: ann may stay held for its old secret: ")


def test_where_nothing_ran_nothing_is_made(tmp_path: Path) -> None:
    """No state, no file."""
    assert tell(Home(config_folder=tmp_path, state_folder=tmp_path), (ACCOUNT,)) is Told.NOBODY
    assert list(tmp_path.iterdir()) == []
