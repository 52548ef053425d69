"""What is known of ended logins is read from the state, and the state stays as it is."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from credentials.credential import Credential
from credentials.renewal import Renewal, fingerprint
from credentials.secret import Secret
from flowpool.findings.refused import Refused, refused
from home.state.renewals import Renewals
from routing.words import AccountId

LOGIN = Credential(kind="oauth", access=Secret("sk-ant-oat01-x"), refresh=Secret("sk-ant-ort01-x"))
NAME = fingerprint(Secret("sk-ant-ort01-x"))
AT = datetime(2026, 1, 5, 12, tzinfo=UTC)


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """A state in which one login has ended and another was renewed."""
    path = tmp_path / "state.sqlite3"
    renewals = Renewals(path)
    renewals.note("a1", Renewal(fingerprint=NAME, outcome="refused", at=AT, because="400: gone"), spent="refused")
    renewals.note("a2", Renewal(fingerprint="b", outcome="kept", at=AT))
    renewals.close()
    return path


def test_an_ended_login_is_known(state: Path) -> None:
    """By its refresh token: a new login of the account is none of it. Nothing is written, not even beside the file."""

    def files() -> dict[str, tuple[bytes, int]]:
        return {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in state.parent.iterdir()}

    before = files(), state.parent.stat().st_mtime_ns
    found = refused(state, is_open=False)

    assert found == {AccountId("a1"): Refused(NAME, "400: gone")}
    assert found[AccountId("a1")].is_of(LOGIN)
    assert not found[AccountId("a1")].is_of(Credential(kind="oauth", access=LOGIN.access, refresh=Secret("another")))
    assert (files(), state.parent.stat().st_mtime_ns) == before


def test_what_an_open_file_holds_beside_it_counts(state: Path) -> None:
    """A proxy keeps the newest in a file of its own until it ends."""
    renewals = Renewals(state)
    renewals.note("a2", Renewal(fingerprint="b", outcome="refused", at=AT, because="400: gone"), spent="refused")

    assert set(refused(state, is_open=True)) == {"a1", "a2"}
    renewals.close()


@pytest.mark.parametrize("data", [None, b"", b"nonsense"], ids=["none", "empty", "nonsense"])
def test_where_nothing_can_be_read_nothing_is_known(tmp_path: Path, data: bytes | None) -> None:
    """Nor is any file made."""
    path = tmp_path / "state.sqlite3"
    if data is not None:
        path.write_bytes(data)

    assert refused(path, is_open=False) == refused(path, is_open=True) == {}
    assert len(list(tmp_path.iterdir())) == (data is not None)
